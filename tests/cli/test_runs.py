"""Verbs on runs: what they print and write, resuming, what asking a server costs.

The figures are tested where they are computed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query, Retrieval
from evidencebench_core.retrievers.baselines import Lead
from tests.cli.conftest import Command
from tests.factories import written
from tests.llm.server import reply

RUN = ("run", "--dataset", "tiny", "--retriever")
MODEL = (*RUN, "llm", "--task", "er@10", "--set", "model=gpt-4o-mini")
TASKS = ["er@optimal", "er@10", "result-er@optimal", "result-er@5"]


def test_run_prints_the_id_then_the_scores(command: Command, tiny: Path) -> None:
    printed = command(*RUN, "oracle")
    first, header, *rows = printed.out.splitlines()
    (listed,) = command.json("list", "runs")
    assert first == f"run {listed['run']}: oracle over tiny"
    assert header.startswith("task ")
    assert [row.split()[0].lower() for row in rows[:4]] == TASKS
    assert (rows[2].split()[1], rows[2].split()[-3:]) == ("100.0", ["5", "1", "0"])
    again = command(*RUN, "oracle", "--json")
    assert [run["run"] for run in again.document["runs"]] == [listed["run"]]
    assert "6 of 6 instances already answered" in again.err


def test_variants_add_up(command: Command, tiny: Path) -> None:
    words = ("--task", "er@10", "--variant", "spelling:n=1", "--variant", "spelling:n=2")
    document = command.json(*RUN, "bm25", *words)
    assert [run["variant"] for run in document["runs"]] == ["spelling:n=1,seed=0", "spelling:n=2,seed=0"]
    assert [score["run"] for score in document["scores"]] == [run["run"] for run in document["runs"]]
    asked = command.json(
        "analyse", "variants", command.run("bm25"), "--task", "er@10", "--question", "spelling"
    )
    names = [row["wording"] for row in asked["tables"]["wordings"]]
    assert [name.partition(",")[0] for name in names] == [f"spelling:n={n}" for n in (1, 2, 3, 10, 20, 50)]


def test_a_failure_is_1_and_is_retried(command: Command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Lead.retrieve

    def fails_once(self: Lead, query: Query) -> Retrieval:
        if query.hypothesis.endswith("cohort 3."):
            raise RetrieverError("lead on\x1b tiny_3", "is out of order", "Wait.")
        return answer(self, query)

    monkeypatch.setattr(Lead, "retrieve", fails_once)
    printed = command(*RUN, "lead", "--task", "er@10", "--json")
    assert (printed.code, printed.document["runs"][0]["n_failed"]) == (1, 1)
    assert printed.document["scores"][0]["missing"] == ["tiny_3"]
    assert "Lead on[U+001B] tiny_3 is out of order." in printed.err.splitlines()[-1]
    monkeypatch.setattr(Lead, "retrieve", answer)
    assert command.json(*RUN, "lead", "--task", "er@10")["runs"][0]["n_failed"] == 0


def test_a_file_is_scored_and_an_exported_run_imported(command: Command, tiny: Path, tmp_path: Path) -> None:
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}
    path = written({"tiny_0": [5, 0], "tiny_1": []}, tmp_path / "predictions.json")
    words = ("score-file", "--dataset", "tiny", "--predictions", path, "--task", "er@optimal")
    (document,) = command.json(*words)
    assert document["per_instance"] == {"tiny_0": 1.0, "tiny_1": 0.0}
    assert (document["n_scored"], document["n_missing"], document["n_empty"]) == (2, 4, 1)
    (with_zeros,) = command.json(*words, "--missing", "zero")
    assert with_zeros["aspect_recall"] == pytest.approx(1 / 6)
    lead = command.run("lead")
    command("export", lead, "--format", "trec", "--task", "er@99", "--out", path)
    words = ("import-run", "--dataset", "tiny", "--predictions", path, "--name", "mine")
    (document,) = command.json(*words)
    mine, original = (command.json("score", run) for run in (document["run"], lead))
    assert [score["per_instance"] for score in mine] == [score["per_instance"] for score in original]
    assert "delete that run" in command.failure(*words)


@pytest.mark.parametrize("form", ["trec", "qrels", "csv", "json", "predictions"])
def test_every_format_is_the_same_in_a_file(command: Command, tiny: Path, tmp_path: Path, form: str) -> None:
    run, out = command.run("lead", "--task", "er@3", "--limit", "5"), tmp_path / "out"
    words = ("export", run, "--format", form, "--task", "er@3")
    printed, filed = command(*words), command(*words, "--out", out)
    assert (printed.code, filed.code, filed.out) == (0, 0, "")
    assert out.read_text(encoding="utf-8") == printed.out != ""
    assert f"Written to {out}" in filed.err
    assert "1 instance without an answer, left out of the mean: tiny_5" in printed.err


def test_a_dataset_is_exported_as_it_came(command: Command, tiny: Path) -> None:
    printed = command("export-dataset", "tiny")
    assert (json.loads(printed.out), "6 instances" in printed.err) == (json.loads(tiny.read_bytes()), True)


def test_a_cap_is_exact_and_the_next_start_does_the_rest(command: Command, tiny: Path, asks: Any) -> None:
    with asks(lambda sent: reply("5: the size\nDECISION: [5]")) as server:
        assert command.json(*MODEL, "--estimate")["estimate"]["calls"] == 6
        assert len(server.requests) == 0
        capped = command(*MODEL, "--max-calls", "2", "--concurrency", "8")
        assert capped.code == 3
        assert capped.err.splitlines()[-1].startswith("evidencebench: ")
        assert len(server.requests) == 2
        done = command(*MODEL, "--json")
        assert done.document["spending"]["calls"] == 4
        assert done.document["runs"][0]["outcomes"]["er@10"]["selection"] == 6
        assert "sk-secret" not in done.out + done.err
        assert command.json(*MODEL, "--estimate")["estimate"]["calls"] == 0
        assert command(*MODEL, "--fresh").code == 0
        assert len(server.requests) == 12
