"""The list of picks: what it says of each, and what it hears."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from components.paper.picks_list import Pick, pick_from, picks_of
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
    assert picks == (
        # 3 is a heading, so nothing stands before it
        Pick(4, 1, "Methods", PAPER.sentences[4], "", PAPER.sentences[5], "", "B, C"),
        # 1 is a label and 3 the heading of another section
        Pick(2, 2, "Abstract", PAPER.sentences[2], "", "", "it says so", "C"),
        Pick(0, 3, "Title", "Title"),
        Pick(3, 4, "Heading", "Methods"),
    )


def test_a_sentence_picked_twice_is_listed_once() -> None:
    assert [pick.index for pick in picks_of(PAPER, retrieval(5, 5), {}, {})] == [5]


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
    assert len(pick.before) <= 400
    assert pick.before.endswith("…")


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
    assert pick_from(payload, {1, 4}) == index


def test_nothing_of_a_text_becomes_markup() -> None:
    script = Path(__file__).parents[3] / "components" / "paper" / "picks_list" / "picks_list.js"
    assert "innerHTML" not in script.read_text(encoding="utf-8")
