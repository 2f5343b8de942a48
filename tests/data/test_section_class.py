"""Headings as authors write them; the real ones are from the train set."""

from __future__ import annotations

from typing import Any

import pytest

from evidencebench_core.data.section_class import SECTION_CLASSES, class_of_heading, section_classes

REAL = {
    "Results": "results",
    "RESULTS": "results",
    "3. Results and Discussion": "results",
    "DISCUSSION": "discussion",
    "D ISCUSSION": "discussion",
    "MetHOds": "methods",
    "Materiel and methods": "methods",
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
    assert section_classes([], []) == ()


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
