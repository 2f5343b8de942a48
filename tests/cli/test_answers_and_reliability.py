"""The verbs `reliability` and `answers`: asked, judged, scored, in JSON and in a CSV file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, rows_of
from tests.llm.server import Scripted, answering, reply, scripted
from tests.reliability.scripted_models import step


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server of scripted models, which the verbs ask."""

    @contextmanager
    def serve(say: Any) -> Iterator[Scripted]:
        with scripted(answering(say), listed=("word-overlap", "always-yes", "m")) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "k")
            yield server

    return serve


def test_reliability(command: Command, asks: Any, tmp_path: Path) -> None:
    command.json("reliability", "ingest", "--sample", "--name", "items")
    with asks(step) as server:
        words = ("reliability", "run", "items", "--task", "baseline", "--task", "freeform")
        estimate = command.json(*words, "--model", "m", "--estimate")
        assert estimate["estimate"]["calls"] == 48
        assert not server.requests
        for model in ("word-overlap", "always-yes"):
            document = command.json(*words, "--model", model, "--judge", "word-overlap")
            assert [run["task"] for run in document["runs"]] == ["baseline", "freeform"]
            assert document["spending"]["calls"] > 48
    tests = command.json("reliability", "score", "items")["tables"]["tests"]
    values = {test["model"]: test["value"] for test in tests if test["task"] == "baseline"}
    assert values["always-yes"] == pytest.approx(1 / 3)
    (of_run,) = command.json("reliability", "score", tests[0]["run"])["tables"]["score"]
    assert of_run == tests[0] | {"p_holm": None}
    command("reliability", "score", tests[0]["run"], "--out", tmp_path / "run.csv")
    assert len(rows_of(tmp_path / "run.answers.csv")) == 24
    command("reliability", "score", "items", "--out", tmp_path / "card.csv")
    assert {row["model"] for row in rows_of(tmp_path / "card.csv")} == {"word-overlap", "always-yes"}
    assert "It was right on 12 of 24" in command("reliability", "score", "items").out
    assert "few-shot" in command.failure("reliability", "run", "items", "--task", "fewshot", "--model", "m")


def test_answers(command: Command, tiny: Path, asks: Any) -> None:
    command.json("answers", "ingest", "--sample", "--name", "systems")

    def say(sent: dict[str, Any]) -> Any:
        text = sent["messages"][-1]["content"]
        if "<document>" in text:
            return reply("LABEL: supports")
        return reply("LABEL: required" if "<sentence>" in text else "ANSWER: Tea lowers it [0].")

    with asks(say):
        (asked,) = command.json("answers", "ask", "--dataset", "tiny", "--model", "m")["runs"]
        assert (asked["answered"], asked["failed"]) == (6, 0)
        command.json("answers", "judge", asked["run"], "--model", "m")
        judged = command.json(
            "answers", "judge", "systems", "--task", "citations", "--task", "relevance", "--model", "m"
        )
        assert len(judged["runs"]) == 2
    figures = command.json("answers", "score", asked["run"])["tables"]["figures"]
    assert {row["figure"]: row["value"] for row in figures}["support_rate"] == 1.0
    people = command.json("answers", "score", "systems")["tables"]["systems"]
    by_judge = command.json("answers", "score", "systems", "--judge", "m")["tables"]
    assert {row["metric"] for row in people} >= {"accuracy", "coverage", "support rate"}
    assert {row["value"] for row in by_judge["systems"] if row["metric"] == "precision"} == {1.0}
    assert {row["measure"] for row in by_judge["agreement with people"]} == {"accuracy", "kappa", "macro F1"}
    assert "agreement with people" in command("answers", "score", "systems", "--judge", "m").out
    assert "other" in command.failure("answers", "score", "systems", "--judge", "other")


def test_what_cannot_be_read_is_counted_and_fails(command: Command, tiny: Path, asks: Any) -> None:
    command("answers", "ingest", "--sample", "--name", "systems")
    with asks(lambda sent: reply("I cannot say.")):
        words = ("--dataset", "tiny", "--model", "m")
        asked = command("answers", "ask", *words)
        judged = command("answers", "judge", "systems", "--task", "citations", "--model", "m")
        ran = command("run", "--dataset", "tiny", "--retriever", "llm", "--set", "model=m", "--task", "er@10")
    assert [asked.code, judged.code, ran.code] == [1, 1, 1]
    assert "6 refusal" in asked.err
    assert "39 of 39 labels" in judged.err
    assert "6 refused" in ran.out
