"""Spec rule 15, by hand."""

from __future__ import annotations

from evidencebench_core.data.sections import section_titles


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


def test_empty() -> None:
    assert section_titles((), ()) == ()
