"""The verbs `reliability` and `answers`, in JSON and in CSV files."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, rows_of
from tests.llm.server import reply
from tests.reliability.scripted_models import step
from tests.test_manual import model_answer


def test_reliability(command: Command, asks: Any, tmp_path: Path) -> None:
    command.json("reliability", "ingest", "--sample", "--name", "items")
    assert "already, as items" in command("reliability", "ingest", "--sample", "--name", "others").out
    words = ("reliability", "run", "items", "--task", "baseline", "--task", "freeform")
    with asks(step) as server:
        assert "--judge M" in command.failure(*words, "--model", "M")
        estimate = command.json(*words, "--model", "M", "--judge", "J", "--estimate")
        assert estimate["estimate"]["calls"] == 72  # and its judge's
        assert not server.requests
        for model in ("word-overlap", "always-yes"):
            document = command.json(*words, "--model", model, "--judge", "word-overlap")
            assert [run["test"] for run in document["runs"]] == ["Baseline", "Freeform answers"]
            assert document["spending"]["calls"] + document["spending"]["cached"] == 72
        announced = command(*words, "--model", "M", "--judge", "J", "--estimate").err
        assert "To ask M: about 48 calls" in announced
        assert "To ask J: about 24 calls" in announced
        again = command(*words, "--model", "always-yes", "--judge", "word-overlap")
        assert "all 72 answers are in the store" in again.err
        everything = command("reliability", "run", "items", "--model", "always-yes", "--limit", "4")
        assert "freeform is left out" in everything.err
    tests = command.json("reliability", "score", "items")["tables"]["tests"]
    values = {test["model"]: test["value"] for test in tests if test["task"] == "baseline"}
    assert values["always-yes"] == pytest.approx(1 / 3)
    (of_run,) = command.json("reliability", "score", tests[0]["run"])["tables"]["score"]
    assert tests[0] == of_run | {"p_holm": None}
    command("reliability", "score", tests[0]["run"], "--out", tmp_path / "run.csv")
    assert len(rows_of(tmp_path / "run.answers.csv")) == 24
    assert "It was right on 12 of 24" in command("reliability", "score", "items").out
    assert "few-shot" in command.failure("reliability", "run", "items", "--task", "fewshot", "--model", "m")


def test_answers(command: Command, tiny: Path, asks: Any) -> None:
    command.json("answers", "ingest", "--sample", "--name", "systems")
    assert "already, as systems" in command("answers", "ingest", "--sample").out
    with asks(model_answer):
        (asked,) = command.json("answers", "ask", "--dataset", "tiny", "--model", "M")["runs"]
        assert (asked["answered"], asked["failed"]) == (6, 0)
        command.json("answers", "judge", asked["run"], "--model", "J")
        words = ("--task", "citations", "--task", "relevance", "--model", "J")
        assert len(command.json("answers", "judge", "systems", *words)["runs"]) == 2
    of_run = command.json("answers", "score", asked["run"], "--judge", "J")["tables"]["systems"]
    by_system = {row["system"]: row for row in of_run}
    assert by_system["M"]["support_rate"] == 1.0
    assert by_system["abstract"]["cited_recall"] is not None
    people = command.json("answers", "score", "systems", "--metric", "accuracy")["tables"]["systems"]
    assert list(people[0])[:2] == ["system", "accuracy"]
    assert [row["accuracy"] for row in people] == sorted((row["accuracy"] for row in people), reverse=True)
    by_judge = command.json("answers", "score", "systems", "--judge", "J")["tables"]
    assert {row["precision"] for row in by_judge["systems"]} == {1.0}
    assert {row["measure"] for row in by_judge["agreement with people"]} == {"accuracy", "kappa", "macro F1"}
    assert "order of systems" in command("answers", "score", "systems", "--judge", "J").out
    assert "Sets of answers: systems." in command.failure("answers", "score", "sistems")
    for name in ("systems", asked["run"]):
        assert "other has not judged" in command.failure("answers", "score", name, "--judge", "other")


def test_what_cannot_be_read_is_counted_and_fails(command: Command, tiny: Path, asks: Any) -> None:
    command("answers", "ingest", "--sample", "--name", "systems")
    command("reliability", "ingest", "--sample", "--name", "items")
    with asks(lambda sent: reply("I cannot say.")):
        words = ("--dataset", "tiny", "--model", "M")
        free = command("reliability", "run", "items", "--model", "M", "--judge", "J", "--task", "freeform")
        asked = command("answers", "ask", *words)
        judged = command("answers", "judge", "systems", "--task", "citations", "--model", "M")
        ran = command("run", "--dataset", "tiny", "--retriever", "llm", "--set", "model=m", "--task", "er@10")
    assert [asked.code, judged.code, ran.code] == [1, 1, 1]
    assert "no answers to judge" in free.err
    assert "6 refusal" in asked.err
    assert "39 of 39 labels" in judged.err
    assert "6 refused" in ran.out
