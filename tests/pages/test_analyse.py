"""Analyse: the three questions, from misses to the paper, what is missing of a wording."""

import json

import pytest

from evidencebench_core.analyses.causes import cause_title
from evidencebench_core.analyses.missed import outcomes, queue_of
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.analyses.verdicts import draw
from evidencebench_core.data import Store, open_store
from evidencebench_core.perturb import added_wordings
from evidencebench_core.runs import RunStore
from tests.pages.app import OpenPage, finished_runs, table_rows

TASK = "result-er@optimal"


@pytest.fixture
def lead(runs: dict[str, str]) -> str:
    """Id of a run of lead over the sample papers."""
    return runs["lead"]


@pytest.mark.parametrize("part", ["missed", "position", "wording"])
def test_a_part_has_a_finding_or_asks_for_a_run(open_page: OpenPage, sample_store: Store, part: str) -> None:
    assert "No run has answers" in open_page("analyse", part=part).words
    finished_runs(sample_store, "lead", tasks=["er@10"])
    app = open_page("analyse", part=part, task="er@10")
    assert app.markdown[0].value.startswith("## ")
    assert any("over 6 papers they say little" in text.value for text in app.markdown[:2])
    assert "lead" in app.markdown[0].value or part == "wording"


def test_misses_are_filtered_and_worked_through_in_the_paper(open_page: OpenPage, lead: str) -> None:
    misses = queue_of(outcomes(open_store(), lead, TASK))
    filtered = misses[misses["cause"] == misses["cause"].iloc[-1]]
    link = {"task": TASK, "runs": lead, "where": f"cause:{filtered['cause'].iloc[0]}"}
    app = open_page("analyse", **link)
    assert any(text.value.startswith(f"**{len(filtered):,} missed") for text in app.markdown)
    assert "where" not in app.press("Clear filters").address
    rows = table_rows(app.run(**link), "Instances with missed").items()
    assert all(f"instance={name}&" in row["href"] and "sentence=" in row["href"] for name, row in rows)
    app.press("Work through them")
    first = filtered.iloc[0]
    assert (app.address["instance"], app.address["aspect"]) == (first["instance"], first["label"])
    assert f"Why lead missed {first['label']}" in app.words
    assert app.address["among"]
    app = open_page("analyse", **link).press("Read ")
    assert set(table_rows(app, "Instances of")) == set(filtered["instance"])
    assert (app.address["task"], app.address["runs"]) == (TASK, lead)


def test_a_draw_is_read_apart_from_rules_and_others_and_added_up(open_page: OpenPage, lead: str) -> None:
    items = draw(open_store(), [lead], TASK, n=3).frame
    first, second = (items.iloc[place] for place in (0, 1))
    place = {"run_id": lead, "task": TASK, "instance_id": first["instance"], "aspect_id": first["aspect"]}
    NoteStore(open_store()).add(Note(author="Ben", text="Ben's words", cause="a cause of Ben's", **place))
    link = {"part": "verdicts", "task": TASK, "runs": lead, "n": "3"}
    app = open_page("browse", **open_page("analyse", **link).press("Work through them").address)
    assert (app.address["instance"], app.address["aspect"]) == (first["instance"], first["label"])
    assert cause_title(first["cause"]) not in app.words
    assert "Ben's words" not in app.words
    assert app.named("selectbox", "Cause").value is None
    app.named("selectbox", "Cause").set_value("gold")
    app.named("text_input", "Author", 1).set_value("Ada")
    app.press("Save and next")
    assert (app.address["instance"], app.address["aspect"]) == (second["instance"], second["label"])
    app = open_page("analyse", **link)
    assert table_rows(app, "How far readers agree")["0"]["cells"][-1] == 1
    assert "has read 1 of 3; most often" in app.words
    app = open_page("browse", task=TASK, runs=lead, instance=first["instance"], aspect=first["label"])
    assert cause_title(first["cause"]) in app.words


@pytest.mark.parametrize("mark", ["{lead}:1", "{lead}:above", "{lead}:77", "nonsense"])
def test_a_mark_lists_its_instances(open_page: OpenPage, lead: str, mark: str) -> None:
    app = open_page("analyse", part="position", task="er@10", runs=lead, mark=mark.format(lead=lead))
    is_listed = any(text.value.startswith("### lead") for text in app.markdown)
    assert is_listed == (mark in ("{lead}:1", "{lead}:above"))


def test_wordings_are_kept_and_the_missing_ones_asked_and_compared(open_page: OpenPage, lead: str) -> None:
    store = open_store()
    app = open_page("analyse", part="wording", task="er@10", runs=lead, question="spelling")
    assert len(app.get("plotly_chart")) == 0
    app.press("Ask the missing wordings")
    # A browser keeps the dialog open; AppTest draws the page again.
    app.named("button", "Ask the missing wordings").click()
    app.ask("Start")
    assert len(RunStore(store).runs("sample_data", variants=True)) == 3 + 5
    assert len(app.get("plotly_chart")) == 1
    assert not [label for label in app.labels() if label.startswith("Ask")]
    content = json.dumps({"sample_cohort": {"paraphrases": {"mine": "Other words."}}}).encode()
    app.file_uploader[0].upload("mine.json", content, "application/json")
    app.run().press("Keep these wordings")
    assert [wording.text for wording in added_wordings(store, "sample_data")] == ["Other words."]
