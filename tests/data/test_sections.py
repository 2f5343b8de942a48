"""The section of every sentence, from headings as authors write them."""

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.sections import class_of_heading, section_classes, section_titles
from evidencebench_core.papers.headings import CAPTION, is_aside, part_of_heading

HEADINGS = tomllib.loads(Path(__file__).with_name("headings.toml").read_text("utf-8"))


@pytest.mark.parametrize("function", [class_of_heading, part_of_heading])
def test_headings(function: Callable[[str], str | None]) -> None:
    for expected, headings in HEADINGS[function.__name__].items():
        for heading in headings:
            assert (function(heading) or "none") == expected, heading
    assert function("x" * 10_000) in (None, "body")


def test_captions_and_paragraphs_beside_the_text() -> None:
    texts = ("Fig. 2a Survival", "TABLE IV", "Tables were drawn")
    assert [bool(CAPTION.match(text)) for text in texts] == [True, True, False]
    assert is_aside("Key-words: a, b")
    assert not is_aside("Classification of tumours was done")


def kinds_of(lines: Sequence[str]) -> list[Any]:
    kinds = {"#": "section_name", ">": "abstract"}
    return [kinds.get(line[0], "normal_paragraph") for line in lines]


def classes_of(*lines: str) -> list[str]:
    return list(section_classes([line.lstrip("#> ") for line in lines], kinds_of(lines)))


def test_sections_run_to_the_next_main_heading() -> None:
    lines = (
        "# A title|> It works.|Much is known.|# Methods|# Cells|We grew cells.|# RESULTS|They grew.|# Discussion|Good."
        "|# Acknowledgments|Thanks."
    )
    classes = "other abstract introduction methods methods methods results results discussion discussion other other"
    assert classes_of(*lines.split("|")) == classes.split()


def test_headings_in_a_structured_abstract_are_abstract_and_open_nothing() -> None:
    lines = ("# Title", "> Aim.", "# Methods", "> We asked.", "# Abstract", "Known.", "# Results", "Yes.")
    assert classes_of(*lines) == ["other", *["abstract"] * 4, "introduction", "results", "results"]
    # A background below the discussion opens nothing; without a readable main heading text is other.
    assert classes_of("# Results", "Yes.", "# COMMENTS", "# Background", "Known.")[2:] == ["discussion"] * 3
    # A summary on top is the abstract, one below the methods the conclusion.
    twice = classes_of("# Summary", "Short.", "# Methods", "So.", "# Summary")
    assert twice[::2] == ["abstract", "methods", "conclusion"]
    assert classes_of("> Short.", "# \ue001\ue002", "Text.") == ["abstract", "other", "other"]
    assert section_classes([], []) == section_titles([], []) == ()


def test_every_kind_of_place() -> None:
    # Text before any heading stands nowhere; abstract sentences belong together wherever they stand
    # and leave the heading above them in force.
    lines = [
        "- Before",
        "> Short",
        "# Methods",
        "- We did",
        "> Stray",
        "- And did",
        "# Empty",
        "# Results",
        "- So",
    ]
    titles = section_titles([line[2:] for line in lines], kinds_of(lines))
    assert "|".join(titles) == "|Abstract|Methods|Methods|Abstract|Methods|Empty|Results|Results"
