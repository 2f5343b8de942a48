"""Headings as authors write them; the real ones are from the train set."""

import hashlib
import json
from typing import Any

import pytest

from evidencebench_core.data.sections import (
    CAPTION,
    SECTION_CLASSES,
    class_of_heading,
    is_aside,
    part_of_heading,
    section_classes,
    section_titles,
)

REAL = {
    "Results": "results",
    "RESULTS": "results",
    "3. Results and Discussion": "results",
    "DISCUSSION": "discussion",
    "D ISCUSSION": "discussion",
    "MetHOds": "methods",
    "Materiel and methods": "methods",
    "II. MATERIALS AND METHODS": "methods",
    "A Introduction": "introduction",
    "2. Materials and Methods": "methods",
    "Study population and methods": "methods",
    "SUBJECTS AND METHODS": "methods",
    "EXPERIMENTAL PROCEDURES": "methods",
    "1. Introduction": "introduction",
    "Background": "introduction",
    "COnClusiOns": "conclusion",
    "4. Conclusions": "conclusion",
    "SUMMARY": "conclusion",
    "aCknOwledgMents": "other",
    "deClaratiOn OF interests": "other",
    "Disclosure of Potential Conflicts of Interest": "other",
    "Authors' Contributions": "other",
    "What this paper adds": "other",
    "Availability of data and materials": "other",
}
SUBHEADINGS = (
    "HPV typing",
    "Statistical analysis",
    "Patients",
    "2.1. Experimental Material and Sample Preparation",
    "Dose-response experiments",
    "Background exposure to radon in homes and at work",
    "\ue00a\ue001\ue00f",
    "",
)


@pytest.mark.parametrize(("heading", "expected"), REAL.items())
def test_a_main_heading_has_a_class(heading: str, expected: str) -> None:
    assert class_of_heading(heading) == expected


@pytest.mark.parametrize("heading", SUBHEADINGS)
def test_any_other_heading_has_none(heading: str) -> None:
    assert class_of_heading(heading) is None


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("R E F E R E N C E S", "references"),
        ("7. Literature cited", "references"),
        ("References and notes", "references"),
        ("References to earlier work were checked", "body"),
        ("Competing interests", "back matter"),
        ("Conflict of interest statement", "back matter"),
        ("Authors’ contributions", "back matter"),
        ("Acknowledgements and funding", "back matter"),
        ("■ Supporting Information", "back matter"),
        ("Availability of data and materials", "back matter"),
        ("Funding of hospitals in rural areas", "body"),
        ("Appendix A", "body"),
        ("ABSTRACT", "abstract"),
        ("2. Methods", "body"),
        ("x" * 10_000, "body"),
    ],
)
def test_the_part_that_a_heading_opens(heading: str, part: str) -> None:
    assert part_of_heading(heading) == part


def test_captions_and_paragraphs_beside_the_text() -> None:
    assert CAPTION.match("Fig. 2a Survival")
    assert CAPTION.match("TABLE IV")
    assert not CAPTION.match("Tables were drawn")
    assert is_aside("Key-words: a, b")
    assert not is_aside("Classification of tumours was done")


def classes_of(*lines: str) -> list[str]:
    kinds = {"#": "section_name", ">": "abstract"}
    types = [kinds.get(line[0], "normal_paragraph") for line in lines]
    return list(section_classes([line.lstrip("#> ") for line in lines], types))  # type: ignore[arg-type]


def test_sections_run_to_the_next_main_heading() -> None:
    found = classes_of(
        "# A title", "> It works.", "Much is known.", "# Methods", "# Cells", "We grew cells.", "# RESULTS",
        "They grew.", "# Discussion", "Good.", "# Acknowledgments", "Thanks.",
    )  # fmt: skip
    assert found == [
        "other", "abstract", "introduction", "methods", "methods", "methods", "results", "results",
        "discussion", "discussion", "other", "other",
    ]  # fmt: skip


def test_headings_in_a_structured_abstract_are_abstract_and_open_nothing() -> None:
    found = classes_of(
        "# Title", "> Aim.", "# Methods", "> We asked.", "# Abstract", "Known.", "# Results", "Yes."
    )
    assert found == [
        "other", "abstract", "abstract", "abstract", "abstract", "introduction", "results", "results",
    ]  # fmt: skip


def test_a_background_below_the_discussion_opens_nothing() -> None:
    assert classes_of("# Results", "Yes.", "# COMMENTS", "# Background", "Known.")[2:] == ["discussion"] * 3


def test_without_a_readable_main_heading_text_is_other() -> None:
    assert classes_of("> Short.", "# \ue001\ue002", "Text.") == ["abstract", "other", "other"]


def test_an_empty_paper_has_no_classes() -> None:
    assert section_classes([], []) == section_titles([], []) == ()


@pytest.mark.realdata
def test_most_of_train_is_in_a_named_part(train_raw: dict[str, dict[str, Any]]) -> None:
    counts = dict.fromkeys(SECTION_CLASSES, 0)
    for raw in train_raw.values():
        for name in section_classes(raw["paper_as_candidate_pool"], raw["sentence_types_in_candidate_pool"]):
            counts[name] += 1
    # Counted once and looked through: title blocks, acknowledgments, and five papers whose headings are in
    # private-use characters, Polish, or of no known kind.
    assert counts["other"] / sum(counts.values()) < 0.08
    assert min(counts.values()) > 200


@pytest.mark.realdata
def test_the_classes_of_train_are_what_the_figures_were_made_with(
    train_raw: dict[str, dict[str, Any]],
) -> None:
    """Retrievers and analyses stand on them; recorded before the vocabularies of the readers became one with it."""
    classes = [
        section_classes(raw["paper_as_candidate_pool"], raw["sentence_types_in_candidate_pool"])
        for raw in train_raw.values()
    ]
    digest = hashlib.sha256(json.dumps(classes).encode()).hexdigest()
    assert digest == "f349db67137875e9df3af63436039b35f10c5f0f13af680ce047145fa6e57d1e"


def test_every_kind_of_place() -> None:
    # Text before any heading stands nowhere; abstract sentences belong together wherever they stand
    # and leave the heading above them in force.
    paper = [
        ("Before.", "normal_paragraph", ""),
        ("Short.", "abstract", "Abstract"),
        ("Methods", "section_name", "Methods"),
        ("We did.", "normal_paragraph", "Methods"),
        ("Stray.", "abstract", "Abstract"),
        ("And did.", "normal_paragraph", "Methods"),
        ("Empty", "section_name", "Empty"),
        ("Results", "section_name", "Results"),
        ("We found.", "normal_paragraph", "Results"),
    ]
    sentences, types, titles = zip(*paper, strict=True)
    assert section_titles(sentences, types) == titles
