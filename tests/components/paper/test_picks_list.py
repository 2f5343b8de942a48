"""The list of picks: what it says of each, why it was picked, and the clicks that it believes."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType

import pytest

from components.paper.picks import explanations, picks_of
from components.widgets.component import sentence_in
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Retrieval

PAPER = Paper(
    "p",
    "Title",
    (
        "Title",
        "Background",
        "One is the first here.",
        "Methods",
        "Two is the second here.",
        "Three is the third here.",
    ),
    ("section_name", "abstract", "abstract", "section_name", "normal_paragraph", "normal_paragraph"),
    "jats",
    MappingProxyType({}),
    (),
)


def retrieval(*selection: int) -> Retrieval:
    return Retrieval(selection, tuple(1.0 for _ in selection), selection)


def test_every_pick_stands_in_its_section_and_among_its_neighbours() -> None:
    picks = picks_of(
        PAPER, retrieval(4, 2, 0, 3), {2: "it says so"}, {"B": retrieval(4), "C": retrieval(4, 2)}
    )
    assert [tuple(pick.values()) for pick in picks] == [
        # 3 is a heading, so nothing stands before it
        (4, 1, "Methods", PAPER.sentences[4], "", PAPER.sentences[5], "", "B, C"),
        # 1 is a label and 3 the heading of another section
        (2, 2, "Abstract", PAPER.sentences[2], "", "", "it says so", "C"),
        (0, 3, "Title", "Title", "", "", "", ""),
        (3, 4, "Heading", "Methods", "", "", "", ""),
    ]


def test_a_sentence_picked_twice_is_listed_once() -> None:
    assert [pick["index"] for pick in picks_of(PAPER, retrieval(5, 5), {}, {})] == [5]


def test_a_long_neighbour_is_cut() -> None:
    long = Paper(
        "p",
        "",
        ("It goes on and on " * 40, "Here it ends."),
        ("abstract",) * 2,
        "text",
        MappingProxyType({}),
        (),
    )
    (pick,) = picks_of(long, retrieval(1), {}, {})
    assert len(pick["before"]) <= 400
    assert pick["before"].endswith("…")


def explained(*selection: int, **details: str) -> Retrieval:
    return replace(retrieval(*selection), details=MappingProxyType(details))


def test_reasons_come_from_a_ranker_from_a_model_or_under_why() -> None:
    numbers = {"score": 1.0, "place": 1, "gain": 0.1, "repeated": 0.0, "features": []}
    said, silent = {"groups": {"place": 1.0}}, {"groups": {}}
    ranker = json.dumps({"2": {**numbers, **said}, "3": {**numbers, **silent}})
    assert explanations(explained(2, 3, explanation=ranker)) == {2: "Stands where evidence often stands."}
    # a model's reasons stand in the order of its picks
    assert explanations(explained(5, 2, reasoning=json.dumps(["because", ""]))) == {5: "because"}
    assert explanations(explained(1, 2, why=json.dumps({"2": "a result", "x": "no index"}))) == {
        2: "a result"
    }


@pytest.mark.parametrize("text", ["", "no JSON", "[3]", "null"])
def test_other_details_are_none(text: str) -> None:
    assert explanations(explained(1, 2, why=text, explanation=text)) == {}


@pytest.mark.parametrize(
    ("payload", "index"),
    [
        ({"sentence": 4}, 4),
        ({"sentence": 7}, None),
        ({"sentence": "4"}, None),
        ({"sentence": True}, None),
        ({}, None),
        (None, None),
        ([4], None),
    ],
)
def test_only_a_listed_sentence_is_heard(payload: object, index: int | None) -> None:
    assert sentence_in(payload, {1, 4}) == index
