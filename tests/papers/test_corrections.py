"""Corrections of what was recognised."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Box, Doubt, Paper
from evidencebench_core.papers.corrections import BY_HAND, with_abstract, with_title, without_sentences

SENTENCES = ("Background", "One.", "Methods", "Two.", "Three.")
TYPES = ("section_name", "normal_paragraph", "section_name", "normal_paragraph", "normal_paragraph")
NOTES = ("No title was recognised.", "No abstract was recognised.", "The last page is empty.")
BARE = Paper("p", "", SENTENCES, TYPES, "pdf", MappingProxyType({"tables": 2}), NOTES)
OLD = replace(
    BARE, title="Old", sentences=("Old", *SENTENCES), sentence_types=("section_name", *TYPES), notes=NOTES[2:]
)


def test_places_stay_with_their_sentences_and_a_doubt_about_the_abstract_goes() -> None:
    boxes = tuple((Box(1, 50.0, 60.0 + 12 * n, 300.0, 70.0 + 12 * n),) for n in range(6))
    doubts = tuple(Doubt("", None, kind, "Look.") for kind in ("abstract", "columns"))
    printed = replace(OLD, boxes=boxes, doubts=doubts)
    assert with_title(printed, "New").boxes == boxes
    assert with_title(printed, "").boxes == boxes[1:]
    assert with_title(with_title(printed, ""), "New").boxes == ((), *boxes[1:])
    assert without_sentences(printed, 1, 2).boxes == (boxes[0], *boxes[3:])
    assert with_abstract(printed, 1, 2).doubts == doubts[1:]


def test_a_title_is_put_first_and_its_note_goes() -> None:
    corrected = with_title(BARE, "  A \u202etitle ")
    assert corrected.title == "A title"
    assert corrected.sentences == ("A title", *SENTENCES)
    assert corrected.sentence_types == ("section_name", *TYPES)
    assert corrected.notes == NOTES[1:]


def test_another_title_takes_the_place_of_the_one_before() -> None:
    assert with_title(OLD, "New").sentences == ("New", *SENTENCES)
    untitled = with_title(OLD, " ")
    assert (untitled.title, untitled.sentences) == ("", SENTENCES)
    elsewhere = replace(BARE, title="Elsewhere")  # is no sentence, and takes none away
    assert with_title(elsewhere, "New").sentences == ("New", *SENTENCES)


def test_the_abstract_is_what_it_is_said_to_be() -> None:
    corrected = with_abstract(OLD, 0, 2)  # the title is none of it, the heading becomes its label
    assert corrected.sentence_types == ("section_name", "abstract", "abstract", *TYPES[2:])
    again = with_abstract(corrected, 4, 4)  # and what was it before is no more
    assert again.sentence_types.count("abstract") == 1
    assert with_abstract(BARE, 1, 1).notes == (NOTES[0], NOTES[2])


def test_what_is_taken_out_is_counted() -> None:
    corrected = without_sentences(without_sentences(OLD, 1, 2), 1, 1)
    assert corrected.sentences == ("Old", "Two.", "Three.")
    assert dict(corrected.left_out) == {"tables": 2, BY_HAND: 3}
    assert without_sentences(OLD, 0, 0).title == ""
    with pytest.raises(PaperError, match="no text left"):
        without_sentences(BARE, 1, 4)


@pytest.mark.parametrize(("first", "last"), [(3, 2), (-1, 0), (0, 5), (9, 9)])
def test_sentences_that_are_not_there(first: int, last: int) -> None:
    for correction in (with_abstract, without_sentences):
        with pytest.raises(PaperError, match="are not in the paper"):
            correction(BARE, first, last)
