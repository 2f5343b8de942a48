"""What the reader is told, and what it may tell."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.widgets.paper_view import PaperEvent, System, event_from, heading_level, view_data, view_of
from components.widgets.paper_view.data import paper_key
from evidencebench_core.data import parse_instance
from evidencebench_core.errors import SelectionError
from tests.browser.reader_views import hostile_view, short_view, stress_view


def test_data_of_a_small_paper() -> None:
    data = view_data(replace(short_view(), selected=7, aspect=2), height=500)
    assert data["height"] == 500
    assert data["texts"][7] == "Women on night shifts had lower levels (p = 0.01)."
    assert data["types"] == "tahpphpppppp"
    # picks 3, 6, 4; A1 {3, 8}, A2 {4, 9} covered; A3 {10}, A4 {7} missed
    assert data["marks"] == "...bb.pmggm."
    assert data["systems"] == [
        {"name": "bm25", "picks": [3, 6, 4]},
        {"name": "dense", "picks": [7, 10]},
    ]
    assert (data["active"], data["selected"], data["aspect"]) == (0, 7, 2)
    assert data["aspects"][2] == {
        "label": "A3",
        "text": "No difference in men",
        "result": True,
        "focus": True,
        "covered": False,
        "sentences": [10],
    }


@pytest.mark.parametrize(
    ("changes", "marks"),
    [
        ({"active": None}, "...gg..gggg."),  # gold, and nothing missed
        ({"aspects": (), "active": 1}, ".......p..p."),
        # dense picks 7 and 10, which cover both result aspects; 3, 4, 8, 9 cover others only
        ({"focus": "results", "active": 1}, ".......b..b."),
    ],
)
def test_marks(changes: dict[str, Any], marks: str) -> None:
    data = view_data(replace(short_view(), **changes))
    assert data["marks"] == marks
    if "focus" in changes:
        assert [aspect["focus"] for aspect in data["aspects"]] == [False, False, True, True]
    if changes["active"] is None:
        assert [aspect["covered"] for aspect in data["aspects"]] == [None] * 4


@pytest.mark.parametrize("value", [-1, 12, None])
def test_positions_the_paper_does_not_have_are_none(value: int | None) -> None:
    data = view_data(replace(short_view(), selected=value, aspect=value, active=value))
    assert (data["selected"], data["aspect"], data["active"]) == (None, None, None)


@pytest.mark.parametrize(
    ("systems", "problem"),
    [
        ([System("bm25", (0, -1))], "picked sentence -1 of a paper with 12"),
        ([System("bm25", (0, 12))], "picked sentence 12 of a paper with 12"),
        ([System("bm25", ())] * 4, "at most 3"),
    ],
)
def test_what_cannot_be_drawn_is_refused(systems: list[System], problem: str) -> None:
    with pytest.raises(SelectionError, match=problem):
        view_data(replace(short_view(), systems=tuple(systems)))


def test_the_paper_key_changes_with_the_text_and_not_with_the_marks() -> None:
    view = short_view()
    other = replace(view, sentences=(*view.sentences[:-1], "Changed."))
    assert paper_key(replace(view, systems=(), selected=3)) == paper_key(view)
    assert len({paper_key(view), paper_key(other), paper_key(replace(view, paper="other"))}) == 3


@pytest.mark.parametrize("view", [short_view(), stress_view(), hostile_view()], ids=lambda view: view.paper)
def test_data_is_json_one_letter_a_sentence(view: Any) -> None:
    data = view_data(view)
    assert json.loads(json.dumps(data)) == data
    assert len(data["texts"]) == len(data["types"]) == len(data["marks"]) == len(view.sentences)


@pytest.mark.parametrize("text", ["RESULTS", "Materials and methods", "2. Methods", "Discussion"])
def test_headings_of_sections(text: str) -> None:
    assert heading_level(text) == 2


@pytest.mark.parametrize("text", ["Statistical analysis", "2.1 Study population", ""])
def test_headings_below_them(text: str) -> None:
    assert heading_level(text) == 3


def test_title_block_is_told_apart() -> None:
    sentences = ("A title", "The journal", "INTRODUCTION", "Words.", "Aims")
    types = (*("section_name",) * 3, "normal_paragraph", "section_name")
    view = replace(short_view(), sentences=sentences, sentence_types=types, aspects=(), systems=())
    assert view_data(view)["types"] == "tfhps"


@pytest.mark.realdata
def test_a_stored_optimal_selection_misses_nothing(train_raw: dict[str, dict[str, Any]]) -> None:
    name = "evidencebench_train_id_33"
    instance = parse_instance(name, train_raw[name])
    picks = instance.stored["er@optimal"].sentence_indices
    data = view_data(view_of(instance, systems=[System("stored", picks)]))
    assert "m" not in data["marks"]
    assert data["marks"].count("b") == len(picks) == 4
    assert all(aspect["covered"] for aspect in data["aspects"])


MESSAGE = {"kind": "sentence", "sentence": 7, "aspect": None, "system": 0, "paper": paper_key(short_view())}


def test_event() -> None:
    assert event_from(MESSAGE, short_view()) == PaperEvent("sentence", 7, None, 0)
    told = MESSAGE | {"kind": "aspect", "aspect": 3}
    assert event_from(told, short_view()) == PaperEvent("aspect", 7, 3, 0)


@pytest.mark.parametrize(
    "payload",
    [
        *(None, "sentence", {}),
        *(MESSAGE | {"kind": kind} for kind in ("delete", ["sentence"])),
        *(MESSAGE | {"sentence": sentence} for sentence in (12, -1, True, "7")),
        *(MESSAGE | {"aspect": 4}, MESSAGE | {"system": 2}, MESSAGE | {"paper": "another paper"}),
    ],
)
def test_no_event(payload: object) -> None:
    assert event_from(payload, short_view()) is None


def reader_script() -> None:
    from components.widgets.paper_view import paper_view
    from tests.browser.reader_views import hostile_view

    paper_view(hostile_view(), key="reader")


def test_draws_in_an_app() -> None:
    app = AppTest.from_function(reader_script).run(timeout=30)
    assert not app.exception
