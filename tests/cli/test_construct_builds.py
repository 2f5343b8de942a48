"""``construct run`` and ``status``: from a file to the funnel, on again, and by files of a batch."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.construction.scripted_model import answer, good, paper_text
from tests.llm.server import answering, completion, scripted

WORDS = {"blood": (3, 7, 19), "weight": (22,), "sleep": (5,)}


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Two builds and two lines that are none."""
    rows = []
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(paper_text(name, WORDS))
        text = ["Before it.", f"Tea is good, says {name} [1]."]
        rows.append({"id": name, "paper": f"{name}.txt", "paragraph": text, "citing": 1})
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join([*map(json.dumps, rows), "{}", '{"id": "c", "paper": "c.txt"}']))
    return path


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with scripted(answering(good), listed=("m",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server.url


def test_a_file_becomes_builds(command, lines: Path, url: str) -> None:
    words = ("construct", "run", lines, "--name", "lab", "--model", "m")
    first = command(*words, "--limit", 1)
    assert first.code == 0, first.err
    assert "boundary             1 builds           1 calls" in first.err
    assert (
        "At most 330 calls if nothing is dropped" in first.err
    )  # 7 + 9.5 * 34, by the means of the benchmark
    assert "lab: 1 build" in first.out
    again = command.json(*words)
    assert (again["added"], [one["place"] for one in again["bad"]]) == (1, ["row 3", "row 4"])
    assert again["stages"][-1] == {
        "stage": "coverage",
        "in": 2,
        "kept": 2,
        "dropped": {},
        "due": 0,
        "failed": 0,
    }
    assert "row 3: id" in command(*words).err
    assert "Nothing is left to ask" in command("construct", "run", "--name", "lab").err
    assert command.json("construct", "status", "lab")["stages"] == again["stages"]
    assert "lab" in command.failure("construct", "status", "lob")
    found = command.json("construct", "quality", "lab")
    assert (found["gold"]["n_instances"], found["models"]["looks"]["m"]["all"]["kappa"]) == (2, 1)
    sheet = lines.parent / "sheet.csv"
    assert command.json("construct", "quality", "lab", "--sheet", "marks", "--out", sheet)["builds"] == 2
    assert command.json("construct", "quality", "lab", "--read", sheet)["n_changed"] == 0
    dropped = command("construct", "run", "--name", "lab", "--least-aspects", "4").out
    assert "too few aspects 2" in dropped
    wrong = command("construct", "run", lines, "--name", "lab", "--coverage", "0.675")
    assert wrong.code == 2
    assert "--pad" in command.failure(*words, "--pad")
    other = (
        "construct",
        "run",
        "--from",
        "evidence-inference",
        lines.parent,
        "--name",
        "ei",
        "--only",
        "pool",
    )
    assert "--only" in command.failure(*other)


def test_what_is_deleted_is_gone_and_found_again_in_the_answers(command, lines: Path, url: str) -> None:
    words = ("construct", "run", lines, "--name", "lab", "--model", "m")
    first = command.json(*words)
    said = command(*words, "--only", "leak", "--fresh").err
    (run,) = re.findall(r"^run (\w+):", said, re.MULTILINE)
    assert command("delete", "run", run, "--yes").code == 0
    assert command.json("construct", "status", "lab")["stages"][6]["due"] == 2
    command(*words)
    assert "Renamed lab to tea." in command("construct", "rename", "lab", "tea").out
    assert command.json("construct", "status", "tea")["stages"] == first["stages"]
    assert "is not in" in command.failure("construct", "rename", "lab", "other")
    command("construct", "rename", "tea", "lab")
    assert "2 builds and 8 model runs" in command("construct", "delete", "lab").out
    assert command("construct", "delete", "lab", "--yes").code == 0
    assert "is not in" in command.failure("construct", "status", "lab")
    again = command(*words)
    assert "It took 0 calls" in again.err
    assert command.json("construct", "status", "lab")["stages"] == first["stages"]


def test_a_cap_ends_with_the_remedy_and_a_higher_one_pays_the_rest(command, lines: Path, url: str) -> None:
    """Edge case 89: 2 builds of 7 + 15 calls; the same results are asked for once."""
    words = ("construct", "run", lines, "--name", "lab", "--model", "m")
    first = command(*words, "--max-calls", 20)
    assert first.code == 1
    assert "the cap of 20 calls is reached" in first.err
    assert "Raise the cap and start again" in first.err
    assert command.json("construct", "status", "lab")["stages"][-2]["due"] == 2
    rest = command(*words, "--max-calls", 23)
    assert rest.code == 0, rest.err
    assert "It took 23 calls" in rest.err


def test_files_of_a_batch_come_to_the_same(command, lines: Path, url: str, tmp_path: Path) -> None:
    words = ("construct", "run", lines, "--name", "lab", "--model", "m")
    results: list[Path] = []
    about: list[dict[str, Any]] = []
    for number in range(9):  # the next requests follow from the answers: eight stages ask
        document = command.json(
            *words, "--batch-out", tmp_path / "out", *(("--batch-in", *results) if results else ())
        )
        results = []
        for path in map(Path, document["files"]):
            results.append(tmp_path / f"{number}-{path.name}")
            requests = [json.loads(line) for line in path.read_text().splitlines()]
            rows = [json.loads(line) for line in path.with_suffix(".manifest").read_text().splitlines()]
            assert [row.pop("custom_id") for row in rows] == [one["custom_id"] for one in requests]
            about += rows
            results[-1].write_text("\n".join(json.dumps(result(one)) for one in reversed(requests)))
    assert not results
    assert document["stages"][-1]["kept"] == 2
    assert about[0] == {"build": "a", "stage": "boundary", "step": about[0]["step"]}
    look = {"build": "b", "stage": "alignment", "aspect": 2, "window": [20, 24], "step": "sentences 20 to 23"}
    assert about[-1] == look
    assert len(about) == 2 * (7 + 15) - 1  # of equal aspects alone once is enough


def test_of_files_the_first_answer_counts_and_what_is_not_used_is_said(
    command, lines: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules 68, 69 and edge case 95: 3 of 34 are missing, others are foreign, failed or there twice."""
    words = ("construct", "run", lines, "--name", "lab", "--model", "m", "--limit", 1)
    command(*words, "--until", "results")
    (asked,) = command.json(*words, "--batch-out", tmp_path / "out")["files"]
    requests = [json.loads(line) for line in Path(asked).read_text().splitlines()]
    answers = [result(one) for one in requests[3:]]
    assert len(requests) == 15
    failed = [
        {"custom_id": one["custom_id"], "response": {"status_code": 500, "body": {}}} for one in requests[3:5]
    ]
    other = [one | {"response": {"status_code": 200, "body": completion("DECISION: []")}} for one in answers]
    foreign = [one | {"custom_id": f"{number:064x}"} for number, one in enumerate(answers[:4])]
    first, errors, second = (tmp_path / name for name in ("first.jsonl", "errors.jsonl", "second.jsonl"))
    errors.write_text("\n".join(map(json.dumps, failed)))
    first.write_text("\n".join(map(json.dumps, [*answers, *foreign])))
    second.write_text("\n".join(map(json.dumps, other)))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # a request's name knows no address
    read = command(*words, "--batch-out", tmp_path / "next", "--batch-in", errors, first, second)
    assert "first.jsonl: 4 answers to nothing that was asked, 0 there twice" in read.err
    assert "second.jsonl: 0 answers to nothing that was asked, 12 there twice" in read.err
    (left,) = (tmp_path / "next").glob("*.jsonl")
    assert [json.loads(line)["custom_id"] for line in left.read_text().splitlines()] == [
        one["custom_id"] for one in requests[:3]
    ]
    last = tmp_path / "last.jsonl"
    last.write_text("\n".join(json.dumps(result(one)) for one in requests[:3]))
    document = command.json(*words, "--batch-in", last, first)
    assert document["stages"][-1]["kept"] == 1
    again = command(*words, "--batch-in", last)
    assert again.code == 0, again.err
    old = tmp_path / "old.jsonl"  # of another version of a prompt, so of other requests
    old.write_text("\n".join(map(json.dumps, foreign)))
    assert "belongs to another run" in command(*words, "--fresh", "--batch-in", old).err


def test_results_that_are_cut_off_packed_or_given_twice(
    command, lines: Path, url: str, tmp_path: Path
) -> None:
    """Rule 95: what is missing is written again, and nothing counts twice."""
    words = ("construct", "run", lines, "--name", "lab", "--model", "m")
    results: list[Path] = []
    n_asked = 0
    for _ in range(40):
        read = ("--batch-in", *results) if results else ()
        document = command.json(*words, "--batch-out", tmp_path / "out", *read)
        results = []
        for path in map(Path, document["files"]):
            rows = [json.dumps(result(json.loads(line))) for line in path.read_text().splitlines()]
            n_asked += len(rows)
            text = "\n".join(rows) if len(rows) == 1 else "\n".join(rows)[: -len(rows[-1]) // 2]
            for number in range(2):
                results.append(tmp_path / f"{number}-{path.name}.gz")
                results[-1].write_bytes(gzip.compress(text.encode()))
        if not results:
            break
    assert document["stages"][-1]["kept"] == 2
    assert n_asked > 8 + 30  # a stage asks once more for what was missing
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"custom_id": "a", "response": {}}\n' * 10)[:-12])
    read = command(*words, "--fresh", "--batch-out", tmp_path / "o", "--batch-in", cut)
    assert read.code == 1
    assert "belongs to another run" in read.err


def result(request: dict[str, Any]) -> dict[str, Any]:
    body = completion(answer(request["body"]))
    return {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
