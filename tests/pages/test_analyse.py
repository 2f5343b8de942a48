"""Analyse: the three questions, a miss and a note on it, what is missing of a wording."""

import json

import pytest

from evidencebench_core.analyses.missed import outcomes, queue_of
from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import Store, open_store
from evidencebench_core.runs import RunStore
from tests.pages.app import OpenPage, finished_runs

TASK = "result-er@optimal"


@pytest.fixture
def lead(runs: dict[str, str]) -> str:
    """Id of a run of lead over the sample papers."""
    return runs["lead"]


@pytest.mark.parametrize("part", ["missed", "position", "wording"])
def test_every_part_begins_with_its_finding_and_without_a_run_the_gold_speaks(
    open_page: OpenPage, sample_store: Store, part: str
) -> None:
    assert len(open_page("analyse", part=part).get("plotly_chart")) == (2 if part == "position" else 0)
    finished_runs(sample_store, "lead", tasks=["er@10"])
    app = open_page("analyse", part=part, task="er@10")
    assert app.markdown[0].value.startswith("## ")
    assert any("over 6 papers they say little" in text.value for text in app.markdown[:2])
    assert "lead" in app.markdown[0].value or part == "wording"


def test_a_miss_is_noted_and_the_next_follows(open_page: OpenPage, lead: str) -> None:
    store = open_store()
    misses = queue_of(outcomes(store, lead, TASK))
    cause, first, second = misses["cause"].iloc[0], *misses[["instance", "aspect"]].head(2).to_dict("records")
    app = open_page("analyse", task=TASK, runs=lead, where=f"cause:{cause}")
    n = int((misses["cause"] == cause).sum())
    assert any(text.value.startswith(f"**{n:,} missed") for text in app.markdown)
    assert "where" not in app.press("Clear filters").address
    app.run(**first)
    headings = [text.value for text in app.markdown if text.value.startswith("###")]
    assert headings.index("### What covers it") < headings.index("### Why")  # the facts, then the form
    app.named("text_input", "Author").set_value("ml")
    app.named("text_area", "Note").set_value("Why?")
    app.press("Save and next")
    assert (app.address["instance"], app.address["aspect"]) == (second["instance"], second["aspect"])
    (note,) = NoteStore(store).notes(lead, TASK)
    assert (note.author, note.text, note.aspect_id, note.cause) == ("ml", "Why?", first["aspect"], cause)
    assert "instance" not in app.press("All misses").address


@pytest.mark.parametrize("mark", ["{lead}:1", "{lead}:above", "{lead}:77", "nonsense"])
def test_a_mark_lists_its_instances(open_page: OpenPage, lead: str, mark: str) -> None:
    app = open_page("analyse", part="position", task="er@10", runs=lead, mark=mark.format(lead=lead))
    is_listed = any("A click opens one in the reader" in text.value for text in app.caption)
    assert is_listed == (mark in ("{lead}:1", "{lead}:above"))


def test_wordings_are_kept_and_the_missing_ones_asked_and_compared(open_page: OpenPage, lead: str) -> None:
    store = open_store()
    app = open_page("analyse", part="wording", task="er@10", runs=lead, question="spelling")
    assert len(app.get("plotly_chart")) == 0
    app.press("Ask what is missing")
    app.named("button", "Ask what is missing").click()  # a browser keeps the dialog, AppTest draws all anew
    app.ask("Start")
    assert len(RunStore(store).runs("sample_data", variants=True)) == 3 + 5
    assert len(app.get("plotly_chart")) == 1
    assert not [label for label in app.labels() if label.startswith("Ask")]
    content = json.dumps({"sample_cohort": {"paraphrases": {"mine": "Other words."}}}).encode()
    app.file_uploader[0].upload("mine.json", content, "application/json")
    app.run().press("Keep these wordings")
    assert "Download the added wordings" in open_page("analyse", part="wording").labels("download_button")
