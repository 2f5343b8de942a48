"""From blocks to a paper."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, clean_text, paper_of_blocks
from evidencebench_core.papers.limits import Limits
from evidencebench_core.papers.paper import Paper

BLOCKS = [
    Block("abstract", "Tea is hot. It was drunk."),
    Block("heading", "1. Methods et al. Etc."),
    Block("paragraph", "We saw Fig. 2. It\nwas good."),
    Block("paragraph", " \u200b "),
]


def paper() -> Paper:
    return paper_of_blocks(BLOCKS, "Tea", {"tables": 2, "figures": 0}, ["A note."], "jats", "pmc_1")


def test_blocks_become_sentences_under_the_title() -> None:
    assert paper().sentences == (
        "Tea", "Tea is hot.", "It was drunk.", "1. Methods et al. Etc.", "We saw Fig. 2.", "It was good.",
    )  # fmt: skip
    assert paper().sentence_types == (
        "section_name", "abstract", "abstract", "section_name", "normal_paragraph", "normal_paragraph",
    )  # fmt: skip
    assert paper().sections == ("Tea", "Abstract", "Abstract", *["1. Methods et al. Etc."] * 3)
    assert dict(paper().left_out) == {"tables": 2}
    assert paper().notes == ("A note.",)
    assert paper().paper_id == "pmc_1"


def test_a_first_heading_that_repeats_the_title_goes() -> None:
    read = paper_of_blocks([Block("heading", "TEA."), *BLOCKS], "Tea", {}, [], "text")
    assert read.sentences == paper().sentences


def test_what_is_missing_is_said_and_the_id_follows_from_the_text() -> None:
    read = paper_of_blocks([Block("paragraph", "One. Two.")], "", {}, [], "text")
    assert read.notes == ("No title was recognised.", "No abstract was recognised.")
    assert read.sentences == ("One.", "Two.")
    again = paper_of_blocks([Block("paragraph", "One.  Two.")], "", {}, [], "pdf")
    other = paper_of_blocks([Block("paragraph", "One. Three.")], "", {}, [], "text")
    assert read.paper_id == again.paper_id != other.paper_id


def test_without_text_there_is_no_paper() -> None:
    with pytest.raises(PaperError, match="has no text to look for evidence in"):
        paper_of_blocks([Block("heading", "Methods")], "Tea", {}, [], "text")


def test_too_many_sentences() -> None:
    with pytest.raises(PaperError, match="more than 3 sentences"):
        paper_of_blocks(
            [Block("paragraph", "One. Two. Three. Four.")], "", {}, [], "text", "", Limits(max_sentences=3)
        )
    with pytest.raises(PaperError, match="more than 10 characters"):
        paper_of_blocks([Block("paragraph", "x" * 11)], "", {}, [], "text", "", Limits(max_characters=10))


def test_what_cannot_be_seen_or_written_goes() -> None:
    # NUL, soft hyphen, BOM, zero width space and a mark that turns the direction of what follows; half of a pair
    assert clean_text("a\x00b\u00adc\ufeffd\u200be\u202ef \ud800\t g") == "abcdef \ufffd g"
    assert clean_text("שלום\u200f 5") == "שלום\u200f 5"  # the mark of right-to-left text is text
    assert clean_text("5\u2009mg\u00a0x\u2028y") == "5 mg x y"


@given(st.text())
def test_clean_text_can_always_be_written(text: str) -> None:
    cleaned = clean_text(text)
    assert cleaned == clean_text(cleaned)
    json.dumps(cleaned).encode()
    cleaned.encode("utf-8")


def test_a_paper_is_an_instance_without_gold() -> None:
    instance = paper().instance("  Tea helps. ")
    assert (instance.id, instance.paper_id, instance.hypothesis) == ("pmc_1", "pmc_1", "Tea helps.")
    assert instance.sentences == paper().sentences
    assert instance.sections == paper().sections
    assert instance.evidence.aspects == ()
    assert (instance.evidence.optimal, instance.evidence.results_optimal) == (0, None)
    assert instance.stored == {}
    assert paper().instance("x", "mine").id == "mine"
    with pytest.raises(PaperError, match="hypothesis: is empty"):
        paper().instance("  ")


def test_json_round_trip_and_what_is_none() -> None:
    assert Paper.from_dict(json.loads(json.dumps(paper().as_dict()))) == paper()
    for key, value in (
        ("sentences", ["one"]),
        ("kind", "scroll"),
        ("left_out", 3),
        ("sentence_types", ["x"] * 6),
    ):
        with pytest.raises(PaperError, match="Read it again"):
            Paper.from_dict({**paper().as_dict(), key: value})
    with pytest.raises(PaperError, match="Read it again"):
        Paper.from_dict({})
