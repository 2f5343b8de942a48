"""The verbs `reliability` and `answers`: the manual's commands as printed, in JSON, and in CSV files."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.reliability.read_items import SAMPLE, read_items
from tests.answers.medaesqa import main_file
from tests.cli.conftest import Command, rows_of
from tests.factories import tiny_dataset, written
from tests.llm.server import reply
from tests.reliability.scripted_models import step

DOCS = Path(__file__).resolve().parents[2] / "docs"


def say(sent: dict[str, Any]) -> Any:
    """Judges by the form that is asked for; reliability's questions are answered by rule."""
    text = sent["messages"][-1]["content"]
    if "VERDICT:" in text:
        return reply("ANSWER: Tea lowers it [0].")
    if "FACTS:" in text:
        return reply("FACTS:\nsupport: tea helps")
    if "<nuggets>" in text:
        return reply("1: support")
    if "LABEL:" in text:
        return reply("LABEL: supports" if "<document>" in text else "LABEL: required")
    if "NEW CONTEXT:" in text or "NEW QUESTION:" in text:
        mark = "NEW CONTEXT" if "NEW CONTEXT:" in text else "NEW QUESTION"
        return reply(f"{mark}: {re.split('<(?:context|question)>', text)[-1][:60]} again?")
    return step(sent)


def files(folder: Path) -> None:
    """What the manual's commands read, small: PubMedQA, MedAESQA with its documents, runs of BioGen."""
    pubmedqa = {}
    for item in read_items(SAMPLE)[1]:
        pubmedqa[item.id] = {
            "QUESTION": item.question, "CONTEXTS": item.context, "LONG_ANSWER": item.long_answer[0],
            "final_decision": item.answer,
        }  # fmt: skip
    written(pubmedqa, folder / "ori_pqal.json")
    written(main_file(), folder / "medaesqa_v1.json")
    written({str(n): {"title": "", "abstract": "So."} for n in range(1001, 1060)}, folder / "abstracts.json")
    sentence = {"text": "Tea helps.", "citations": [12]}
    item = {"metadata": {"run_id": "r", "topic_id": "1"}, "responses": [sentence]}
    written([item], folder / "run1.json")
    written([{**item, "metadata": {"run_id": "s", "topic_id": "1"}}], folder / "run2.json")
    written({"1": ["tea helps"]}, folder / "nuggets.json")
    written({"12": {"title": "Tea", "abstract": "It helps."}}, folder / "biogen_abstracts.json")


@pytest.mark.parametrize("page", ["reliability", "answers"])
def test_the_commands_of_the_manual_as_printed(
    command: Command, asks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    """In their order; RUN is the first run of what was asked last."""
    text = (DOCS / f"{page}.md").read_text("utf-8")
    lines = [
        line.partition("#")[0].strip() for line in text.splitlines() if line.startswith("evidencebench ")
    ]
    assert lines
    files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert command("ingest", written(tiny_dataset(), tmp_path / "train.json")).code == 0
    run = ""
    with asks(say):
        for line in lines:
            printed = command(*(run if word == "RUN" else word for word in shlex.split(line)[1:]))
            assert printed.code == 0, f"{line}: {printed.err}"
            assert printed.out.strip() or "--out" in line
            if " ask " in line or " run " in line:
                run = next(iter(re.findall(r"^run ([0-9a-f]{12}):", printed.err, re.MULTILINE)), run)


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
    with asks(say):
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
    for name in ("systems", asked["run"]):
        assert "other has judged nothing" in command.failure("answers", "score", name, "--judge", "other")


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
