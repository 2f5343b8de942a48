"""``export`` and ``export-dataset``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FORMATS = ("trec", "qrels", "csv", "json", "predictions")


@pytest.fixture
def one_task(command, tiny: Path) -> str:
    """A run with answers for er@3 on five of six instances."""
    return command.run("lead", "--task", "er@3", "--limit", "5")


@pytest.fixture
def two_tasks(command, tiny: Path) -> str:
    return command.run("lead", "--task", "er@3", "--task", "result-er@5")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_goes_to_stdout_and_to_the_same_file(
    command, one_task: str, tmp_path: Path, form: str
) -> None:
    words, out = ("export", one_task, "--format", form), tmp_path / f"out.{form}"
    printed, filed = command(*words), command(*words, "--out", out)
    assert (printed.code, filed.code, filed.out) == (0, 0, "")
    content = out.read_text(encoding="utf-8")
    assert content == printed.out != ""
    assert f"Written to {out}" in filed.err
    if form in ("trec", "csv", "json", "predictions"):
        assert "er@3: 1 instance left out, it was not asked: tiny_5." in printed.err


def test_trec_run_and_qrels(command, one_task: str) -> None:
    # lead picks 0, 1 and 2, and ranks all 12 sentences
    run = command("export", one_task, "--format", "trec")
    lines = [f"tiny_0 Q0 0 1 3 lead-{one_task}", f"tiny_0 Q0 1 2 2 lead-{one_task}"]
    assert run.out.splitlines()[:2] == lines
    assert len(run.out.splitlines()) == 15
    assert "Aspect Recall is StRecall@3" in run.err
    ranking = command("export", one_task, "--format", "trec", "--what", "ranking").out
    assert len(ranking.splitlines()) == 60
    qrels = command("export", one_task, "--format", "qrels").out
    assert qrels.splitlines()[:2] == ["tiny_0 1 0 1", "tiny_0 2 3 1"]


def test_json_and_predictions_have_the_scores_of_the_run(command, two_tasks: str, tmp_path: Path) -> None:
    out, mine, task = tmp_path / "out.json", tmp_path / "mine.json", ("--task", "result-er@5")
    report = command.json("export", two_tasks, "--format", "json", "--out", out)
    assert report["path"] == str(out)
    assert report["tasks"]["result-er@5"]["left_out"] == {"tiny_4": "it has no result aspects"}
    document = json.loads(out.read_text())
    scores = {score["task"]: score for score in command.json("score", two_tasks)}
    assert document["n_trained_on"] == 0
    assert {name: task["score"] | {"n_trained_on": 0} for name, task in document["tasks"].items()} == scores
    command("export", two_tasks, "--format", "predictions", *task, "--out", mine)
    # behind a file of predictions nobody knows of a model
    score = command.json("score-file", "--dataset", "tiny", "--predictions", mine, *task)
    assert score | {"n_trained_on": 0} == scores["result-er@5"]


def test_a_dataset_comes_back_as_it_was(command, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.json"
    document = command.json("export-dataset", "tiny", "--out", out)
    assert json.loads(out.read_bytes()) == json.loads(tiny.read_bytes())
    assert document["n_instances"] == 6
    assert command("export-dataset", "tiny").out.encode() == out.read_bytes()
