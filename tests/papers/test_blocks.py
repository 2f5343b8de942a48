"""From blocks to a paper."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, RawPaper, clean_text, float_of, paper_of_blocks
from tests.papers.rendering import of_type, outline

BLOCKS = [
    Block("abstract", "Tea is hot. It was drunk."),
    Block("heading", "1. Methods et al. Etc."),
    Block("paragraph", "We saw Fig. 2. It\nwas good."),
    Block("paragraph", " \u200b "),
]


PAPER = paper_of_blocks(RawPaper(BLOCKS, "Tea", {"tables": 2, "figures": 0}, ["A note."], "pmc_1"), "jats")


def test_blocks_become_sentences_under_the_title() -> None:
    assert outline(PAPER) == [
        "# Tea", "> Tea is hot.", "> It was drunk.", "# 1. Methods et al. Etc.", "We saw Fig. 2.", "It was good.",
    ]  # fmt: skip
    assert PAPER.sections == ("Tea", "Abstract", "Abstract", *["1. Methods et al. Etc."] * 3)
    assert (dict(PAPER.left_out), PAPER.notes, PAPER.paper_id) == ({"tables": 2}, ("A note.",), "pmc_1")
    # A first heading that repeats the title goes.
    again = paper_of_blocks(RawPaper([Block("heading", "TEA."), *BLOCKS], "Tea"), "text")
    assert again.sentences == PAPER.sentences


def test_what_is_missing_is_said_and_the_id_follows_from_the_text() -> None:
    read = paper_of_blocks(RawPaper([Block("paragraph", "One. Two.")]), "text")
    assert len(read.notes) == 2  # on the title and the abstract
    assert read.sentences == ("One.", "Two.")
    again = paper_of_blocks(RawPaper([Block("paragraph", "One.  Two.")]), "pdf")
    other = paper_of_blocks(RawPaper([Block("paragraph", "One. Three.")]), "text")
    assert read.paper_id == again.paper_id != other.paper_id


def test_no_text_or_too_much() -> None:
    for block in (Block("heading", "Methods"), Block("paragraph", "One word. " * 5001)):
        with pytest.raises(PaperError):
            paper_of_blocks(RawPaper([block], "Tea"), "text")


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


@pytest.mark.parametrize(
    ("label", "caption", "expected"),
    [
        ("Fig. 2.", "A cup.", ("Figure 2", "A cup.")),
        ("TABLE IV", "Table IV: Cups", ("Table IV", "Cups")),
        ("", "Supplementary Fig S1 | Cups", ("Supplementary Figure S1", "Cups")),
        ("Figure 1", "Table 2 drawn.", ("Figure 1", "Table 2 drawn.")),
        ("Key:", "A cup.", ("Key", "A cup.")),
    ],
)
def test_floats_are_named_as_sentences_cite_them(label: str, caption: str, expected: tuple[str, str]) -> None:
    made = float_of(label, caption)
    assert (made.label, made.caption) == expected


TEXT = Block("paragraph", "Text.")


@pytest.mark.parametrize(
    ("headings", "kept"),
    [
        # Lines of the references look like headings; a main heading ends them.
        (dict.fromkeys(["References", "Lancet 2009", "Methods"], 0), ["Methods"]),
        # Below the results back matter has headings of its own; above them any heading ends it.
        (dict.fromkeys(["Results", "Declarations", "Ethics approval"], 0), ["Results"]),
        (dict.fromkeys(["Abbreviations", "Study design and cohort"], 0), ["Study design and cohort"]),
        # Where levels are known, they say what stands in back matter.
        ({"Declarations": 2, "Methods of funding": 3, "Annex of questions": 2}, ["Annex of questions"]),
    ],
)
def test_what_a_heading_opens(headings: dict[str, int], kept: list[str]) -> None:
    body = [block for name, level in headings.items() for block in (Block("heading", name, level), TEXT)]
    paper = paper_of_blocks(RawPaper([Block("abstract", "Short."), *body], "Tea"), "text")
    assert of_type(paper, "section_name")[1:] == kept
    assert paper.sentences.count("Text.") == len(kept)


def test_a_paper_is_an_instance_without_gold() -> None:
    instance = PAPER.instance("  Tea helps. ")
    assert (instance.id, instance.paper_id, instance.hypothesis) == ("pmc_1", "pmc_1", "Tea helps.")
    assert (instance.sentences, instance.sections) == (PAPER.sentences, PAPER.sections)
    gold = instance.evidence
    assert (gold.aspects, gold.optimal, gold.results_optimal, instance.stored) == ((), 0, None, {})
    assert PAPER.instance("x", "mine").id == "mine"
    with pytest.raises(PaperError, match="Hypothesis is empty"):
        PAPER.instance("  ")
