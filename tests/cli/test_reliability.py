"""``evidencebench reliability``: from a file of questions to runs, judged and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import tiny_dataset, written
from tests.llm.server import Scripted, reply, scripted

RUN = ("reliability", "run", "teas", "--model", "m")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    with scripted(reply("Yes."), listed=("m",)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
        yield running


@pytest.fixture
def teas(command, tmp_path: Path) -> Path:
    rows = [
        {
            "id": f"q{n}",
            "question": f"Does tea {n} help?",
            "context": f"Tea {n} does.",
            "answer": ("yes", "no")[n % 2],
        }
        for n in range(6)
    ]
    path = tmp_path / "teas.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    assert command.json("reliability", "ingest", path)["n_items"] == 6
    return path


def test_tasks_and_items_are_listed(command, teas: Path) -> None:
    tasks = {task["name"]: task for task in command.json("reliability", "tasks")}
    assert len(tasks) == 12
    assert "keep_digits" in tasks["spelling"]["settings"]
    printed = command("reliability", "tasks").out
    assert "few-shot (T3): Few-shot bias" in printed
    assert "--request max_tokens=4096" in printed
    assert [one["name"] for one in command.json("reliability", "sets")] == ["teas"]
    assert str(teas) in command("reliability", "sets").out


def test_items_of_a_dataset_and_invented_ones(command, tmp_path: Path) -> None:
    path = written(tiny_dataset(), tmp_path / "tiny.json")
    command.json("ingest", path)
    assert command.json("reliability", "ingest", "--sample")["n_items"] == 24
    made = command("reliability", "ingest", "--dataset", "tiny")
    assert "tiny evidence: " in made.out
    assert "covers none of the study aspects" in made.err
    kinds = {one["name"]: one["kind"] for one in command.json("reliability", "sets")}
    assert kinds == {"sample": "questions", "tiny evidence": "evidence"}
    assert command("reliability", "ingest").code == 2


def test_a_run_goes_on_where_a_cap_ended_it(command, teas: Path, server: Scripted) -> None:
    stopped = command(*RUN, "--task", "baseline", "--task", "t11", "--max-calls", "8")
    assert stopped.code == 1
    assert "To ask m: about 18 calls for 18 questions" in stopped.err
    assert len(server.requests) == 8
    document = command.json(*RUN, "--task", "baseline", "--task", "unknown")
    assert [(run["task"], run["n_answered"]) for run in document["runs"]] == [
        ("baseline", 6),
        ("unknown", 12),
    ]
    assert document["spending"]["calls"] == 10
    assert len(server.requests) == 18
    listed = command("reliability", "runs", "--items", "teas").out
    assert [line.split()[2] for line in listed.splitlines()] == ["task", "baseline", "unknown"]


def test_all_tasks_seeds_and_settings(command, teas: Path, server: Scripted) -> None:
    printed = command(
        *RUN, "--task", "all", "--limit", "2", "--set", "orders=YN", "--request", "max_tokens=5"
    )
    assert printed.code == 0
    assert "paraphrase is left out: " in printed.err
    tasks = [line.split()[2] for line in printed.out.splitlines()[1:]]
    assert tasks == ["baseline", "knowledge", "few-shot", "spelling", "distraction", "conclusion", "unknown"]
    assert all(one.json["max_tokens"] == 5 for one in server.requests)
    seeds = command.json(*RUN, "--task", "distraction", "--task", "baseline", "--limit", "1", "--seeds", "2")
    assert [(run["task"], run["settings"].get("seed")) for run in seeds["runs"]] == [
        ("distraction", 0), ("distraction", 1), ("baseline", None),
    ]  # fmt: skip


def test_a_judge_and_what_depends_on_a_run(command, tmp_path: Path, server: Scripted) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(
        "id,question,context,answer,long_answer\na,Is it?,It is.,yes,It is.\nb,Was it?,No.,no,It was not.\n"
    )
    command.json("reliability", "ingest", path, "--name", "texts")
    (run,) = command.json("reliability", "run", "texts", "--task", "freeform", "--model", "m")["runs"]
    (judged,) = command.json("reliability", "judge", run["id"], "--model", "m")["runs"]
    assert judged["judged"] == run["id"]
    assert judged["n_answered"] >= 4
    assert f"judge of {run['id']}" in command("reliability", "runs").out
    assert command("reliability", "delete", "--run", run["id"]).code == 1
    assert "1 judge run" in command("reliability", "delete", "--run", run["id"], "--yes").out
    assert command.json("reliability", "runs") == []
    assert command("reliability", "delete", "--items", "texts", "--yes").code == 0
    assert command.json("reliability", "sets") == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--task", "nonsense"), "'nonsense' is not known"),
        (("--task", "baseline", "--set", "seed=1"), "seed"),
        (("--task", "all", "--set", "speed=1"), "speed"),
        (("--task", "spelling", "--set", "errors=1", "--as-published"), "in the paper's construction"),
        (("--task", "freeform"), "long"),
        (("--task", "baseline", "--request", "max_tokens=-1"), "max_tokens"),
        (("--task", "baseline", "--task", "unknown", "--batch-out", "x"), "Give one task at a time"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(
    command, teas: Path, server: Scripted, words: tuple[str, ...], problem: str
) -> None:
    assert problem in command.failure(*RUN, *words)
    assert server.requests == []
    assert command.json("reliability", "runs") == []


def test_scores_of_runs_and_models(command, teas: Path, server: Scripted, tmp_path: Path) -> None:
    first, second = command.json(*RUN, "--task", "baseline", "--task", "spelling", "--set", "errors=1")[
        "runs"
    ]
    (other,) = command.json(
        "reliability", "run", "teas", "--model", "n", "--task", "baseline", "--limit", "4"
    )["runs"]
    score = command.json("reliability", "score", first["id"])
    assert (score["task"], score["accuracy"], score["n_scored"]) == ("baseline", 0.5, 6)
    assert score["f1_weighted"] == pytest.approx(1 / 3)
    printed = command("reliability", "score", second["id"]).out
    assert "spelling of teas by m: weighted F1 0.3333" in printed
    assert f"against the baseline (run {first['id']})" in printed
    assert "always yes 0.3333" in printed
    pair = command.json("reliability", "compare", first["id"], other["id"])
    assert (pair["n"], pair["difference"]["value"], pair["flips"]["right"]["right"]) == (4, 0.0, 2)
    assert "run" in command("reliability", "compare", first["id"], other["id"]).out
    card = command.json("reliability", "card", "teas", "--model", "m")
    assert [task["task"] for task in card["tasks"]] == ["baseline", "spelling"]
    assert "spelling errors=1" in command("reliability", "card", "teas", "--model", "m").out
    page = tmp_path / "card.html"
    assert command("reliability", "card", "teas", "--model", "m", "--html", page).code == 0
    assert "<html" in page.read_text()
    assert "has no runs over" in command.failure("reliability", "card", "teas", "--model", "other")
    path = tmp_path / "out.csv"
    assert command("reliability", "export", first["id"], "--format", "csv", "--out", path).code == 0
    assert len(path.read_text().splitlines()) == 7
    document = json.loads(command("reliability", "export", second["id"], "--format", "json").out)
    assert (len(document["answers"]), document["answers"][0]["answer"]) == (6, "Yes.")
    assert "does not" in document["answers"][0]["fields"]["context"] or document["answers"][0]["changed"]
    assert "is not in" in command.failure("reliability", "score", "abcdef")
