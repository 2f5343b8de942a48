"""The list of picks: what it says of each, and why it was picked."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType

import pytest

from components.paper.picks import picks_of
from evidencebench_core.export import explanations, plain_explanations
from evidencebench_core.papers import Box, Paper
from evidencebench_core.retrievers import Retrieval

LONG = "It goes on and on " * 40
PAPER = Paper(
    "p",
    "Title",
    (
        "Title",
        "Background",
        "One is the first.",
        "Methods",
        "Two is the second.",
        "Three is the third.",
        LONG,
    ),
    ("section_name", "abstract", "abstract", "section_name", *["normal_paragraph"] * 3),
    "pdf",
    MappingProxyType({}),
    (),
    boxes=(
        (),
        (),
        (Box(1, 0, 0, 9, 9), Box(2, 0, 0, 9, 9)),
        (),
        (Box(2, 0, 0, 9, 9),),
        (),
        (),
    ),
)


def retrieval(*selection: int, **details: str) -> Retrieval:
    scores = tuple(1.0 for _ in selection)
    return replace(Retrieval(selection, scores, selection), details=MappingProxyType(details))


def test_every_pick_stands_once_in_its_section_and_among_its_neighbours() -> None:
    others = {"B": retrieval(4), "C": retrieval(4, 2)}
    picks = picks_of(PAPER, retrieval(4, 2, 0, 3, 4), {2: "it says so"}, others, {2: "▲ supports"})
    assert [tuple(pick.values()) for pick in picks] == [
        # 3 is a heading, so nothing stands before it
        (4, 1, "Methods", 2, PAPER.sentences[4], "", PAPER.sentences[5], "", "B, C", ""),
        # 1 is a label and 3 the heading of another section
        (2, 2, "Abstract", 1, PAPER.sentences[2], "", "", "it says so", "C", "▲ supports"),
        (0, 3, "Title", None, "Title", "", "", "", "", ""),
        (3, 4, "Heading", None, "Methods", "", "", "", "", ""),
    ]
    (pick,) = picks_of(PAPER, retrieval(5), {}, {})
    assert len(pick["after"]) <= 400  # a long neighbour is cut
    assert pick["after"].endswith("…")


def test_reasons_come_from_a_ranker_from_a_model_or_under_why() -> None:
    numbers = {"score": 1.0, "place": 1, "gain": 0.1, "repeated": 0.0, "features": []}
    ranker = json.dumps({"2": {**numbers, "groups": {"place": 1.0}}, "3": {**numbers, "groups": {}}})
    assert explanations(retrieval(2, 3, explanation=ranker)) == {2: "Stands where evidence often stands."}
    # a model's reasons stand in the order of its picks
    assert explanations(retrieval(5, 2, reasoning=json.dumps(["because", ""]))) == {5: "because"}
    why = json.dumps({"2": "a result", "x": "no index"})
    assert explanations(retrieval(1, 2, why=why)) == {2: "a result"}


@pytest.mark.parametrize("text", ["", "no JSON", "[3]", "null"])
def test_other_details_are_none(text: str) -> None:
    assert explanations(retrieval(1, 2, why=text, explanation=text)) == {}


def test_a_reader_who_is_no_researcher_gets_sentences_about_what_can_be_seen() -> None:
    ranked = {"score": 1.0, "place": 1, "gain": 0.1, "repeated": 0.0, "groups": {"place": 1.0}}
    features = [["bm25 rank", 0.0, 2.0], ["comparison", 1.0, 0.9]]
    explained = json.dumps({"4": {**ranked, "features": features}})
    given = retrieval(4, 5, 2, 3, 6, explanation=explained, reasoning=json.dumps(["", "It is next."]))
    assert plain_explanations(PAPER, "Is the THIRD or the second one first, or a third?", given) == {
        4: "It shares the word second with the statement, stands in the Methods and makes a comparison.",
        5: "The language model says: It is next. "
        "It shares the word third with the statement and stands in the Methods.",
        2: "It shares the words one and first with the statement and stands in the Abstract.",
        6: "It stands in the Methods.",
    }
    assert plain_explanations(PAPER, "", retrieval()) == {}
