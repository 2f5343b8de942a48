"""Headings as authors write them; the real ones are from the train set."""

import hashlib
import json
from typing import Any

import pytest

from evidencebench_core.data.sections import (
    CAPTION,
    class_of_heading,
    is_aside,
    part_of_heading,
    section_classes,
    section_titles,
)

HEADINGS = {
    "results": "Results|RESULTS|3. Results and Discussion",
    "discussion": "DISCUSSION|D ISCUSSION",
    "methods": "MetHOds|Materiel and methods|II. MATERIALS AND METHODS|2. Materials and Methods"
    "|Study population and methods|SUBJECTS AND METHODS|EXPERIMENTAL PROCEDURES",
    "introduction": "A Introduction|1. Introduction|Background",
    "conclusion": "COnClusiOns|4. Conclusions|SUMMARY",
    "other": "aCknOwledgMents|deClaratiOn OF interests|Disclosure of Potential Conflicts of Interest"
    "|Authors' Contributions|What this paper adds|Availability of data and materials",
    None: "HPV typing|Statistical analysis|Patients|2.1. Experimental Material and Sample Preparation"
    "|Dose-response experiments|Background exposure to radon in homes and at work|\ue00a\ue001\ue00f|",
}


@pytest.mark.parametrize(("expected", "headings"), HEADINGS.items())
def test_the_class_of_a_heading(expected: str | None, headings: str) -> None:
    found = {heading: class_of_heading(heading) for heading in headings.split("|")}
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("R E F E R E N C E S", "references"),
        ("References and notes", "references"),
        ("References to earlier work were checked", "body"),
        ("Conflict of interest statement", "back matter"),
        ("Authors’ contributions", "back matter"),
        ("■ Supporting Information", "back matter"),
        ("Funding of hospitals in rural areas", "body"),
        ("ABSTRACT", "abstract"),
        ("x" * 10_000, "body"),
    ],
)
def test_the_part_that_a_heading_opens(heading: str, part: str) -> None:
    assert part_of_heading(heading) == part


def test_captions_and_paragraphs_beside_the_text() -> None:
    texts = ("Fig. 2a Survival", "TABLE IV", "Tables were drawn")
    assert [bool(CAPTION.match(text)) for text in texts] == [True, True, False]
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
    lines = ("# Title", "> Aim.", "# Methods", "> We asked.", "# Abstract", "Known.", "# Results", "Yes.")
    assert classes_of(*lines) == ["other", *["abstract"] * 4, "introduction", "results", "results"]
    # A background below the discussion opens nothing; without a readable main heading text is other.
    assert classes_of("# Results", "Yes.", "# COMMENTS", "# Background", "Known.")[2:] == ["discussion"] * 3
    assert classes_of("> Short.", "# \ue001\ue002", "Text.") == ["abstract", "other", "other"]
    assert section_classes([], []) == section_titles([], []) == ()


@pytest.mark.realdata
def test_the_classes_of_train_on_which_retrievers_and_analyses_stand(
    train_raw: dict[str, dict[str, Any]],
) -> None:
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
