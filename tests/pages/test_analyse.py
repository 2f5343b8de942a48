"""Analyse: the three questions, a miss and a note on it, what is missing of a wording."""

from __future__ import annotations

import json

import pytest

from evidencebench_core.analyses.missed import outcomes, queue_of
from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from evidencebench_core.runs.notes import NoteStore
from tests.pages.app import OpenPage, finished_runs

TASK = "result-er@optimal"


@pytest.fixture
def lead(sample_store: Store) -> str:
    """Id of a run of lead over the sample papers."""
    return finished_runs(sample_store, "lead", tasks=["er@10", "er@optimal", TASK])["lead"]


@pytest.mark.usefixtures("sample_store")
@pytest.mark.parametrize(("part", "n_charts"), [("missed", 0), ("position", 2), ("wording", 0)])
def test_without_a_run_the_gold_speaks(open_page: OpenPage, part: str, n_charts: int) -> None:
    app = open_page("analyse", part=part)
    assert len(app.get("plotly_chart")) == n_charts


def test_without_data_it_leads_to_home(open_page: OpenPage, empty_store: Store) -> None:
    assert open_page("analyse").labels() == ["Load a dataset"]


@pytest.mark.parametrize("part", ["missed", "position", "wording"])
def test_every_part_begins_with_its_finding(open_page: OpenPage, lead: str, part: str) -> None:
    app = open_page("analyse", part=part, task="er@10")
    assert app.markdown[0].value.startswith("## ")
    assert any("6 papers are too few" in text.value for text in app.markdown[:2])
    assert "lead" in app.markdown[0].value or part == "wording"


def test_a_cause_filters_the_misses_and_an_unknown_run_is_said(
    open_page: OpenPage, sample_store: Store, lead: str
) -> None:
    misses = queue_of(outcomes(sample_store, lead, TASK))
    cause = misses["cause"].iloc[0]
    app = open_page("analyse", task=TASK, where=f"cause:{cause}")
    n = int((misses["cause"] == cause).sum())
    assert any(text.value.startswith(f"**{n:,} missed") for text in app.markdown)
    app.press("Clear filters")
    assert "where" not in app.address
    assert open_page("analyse", runs="<b>gone").warning


def test_a_miss_is_noted_and_the_next_follows(open_page: OpenPage, sample_store: Store, lead: str) -> None:
    misses = queue_of(outcomes(sample_store, lead, TASK))
    first, second = misses[["instance", "aspect"]].head(2).to_dict("records")
    app = open_page("analyse", task=TASK, **first)
    headings = [text.value for text in app.markdown if text.value.startswith("###")]
    assert headings.index("### What covers it") < headings.index("### Why")  # the facts, then the form
    app.named("text_input", "Author").set_value("ml")
    app.named("text_area", "Note").set_value("Why?")
    app.press("Save and next")
    assert (app.address["instance"], app.address["aspect"]) == (second["instance"], second["aspect"])
    (note,) = NoteStore(sample_store).notes(lead, TASK)
    assert (note.author, note.text, note.aspect_id) == ("ml", "Why?", first["aspect"])
    assert note.cause == misses["cause"].iloc[0]
    app.press("All misses")
    assert "instance" not in app.address


@pytest.mark.parametrize("mark", ["{lead}:1", "{lead}:above", "gone:1", "{lead}:77", "nonsense"])
def test_a_mark_lists_its_instances(open_page: OpenPage, lead: str, mark: str) -> None:
    app = open_page("analyse", part="position", task="er@10", mark=mark.format(lead=lead))
    is_listed = any("A click opens one in the reader" in text.value for text in app.caption)
    assert is_listed == (mark in ("{lead}:1", "{lead}:above"))


def test_missing_wordings_are_asked_and_then_compared(
    open_page: OpenPage, sample_store: Store, lead: str
) -> None:
    app = open_page("analyse", part="wording", task="er@10", question="spelling")
    assert len(app.get("plotly_chart")) == 0
    app.press("Ask lead what is missing").finish()
    assert len(RunStore(sample_store).runs("sample_data", variants=True)) == 6
    assert len(app.get("plotly_chart")) == 1
    assert not [label for label in app.labels() if label.startswith("Ask")]


def test_a_file_of_wordings_is_kept(open_page: OpenPage, sample_store: Store, lead: str) -> None:
    instance = sample_store.ids("sample_data")[0]
    app = open_page("analyse", part="wording", task="er@10")
    content = json.dumps({instance: {"paraphrases": {"mine": "Other words."}}}).encode()
    app.file_uploader[0].upload("mine.json", content, "application/json")
    app.run().press("Keep these wordings")
    app = open_page("analyse", part="wording", task="er@10")
    assert "Download the added wordings" in app.labels("download_button")
