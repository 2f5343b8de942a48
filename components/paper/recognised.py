"""The parts that were recognised in a paper, and what is doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import streamlit as st

from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from evidencebench_core.export import left_out_text
from evidencebench_core.papers import Paper, PaperKind
from evidencebench_core.words import quantity

_KINDS: Final[Mapping[PaperKind, str]] = MappingProxyType(
    {
        "jats": "JATS XML",
        "pdf": "PDF",
        "docx": "Word document",
        "text": "text",
        "markdown": "Markdown",
    }
)
_LISTED: Final = 60  # sections


def facts_line(opened: OpenPaper) -> str:
    """Sentences, headings, abstract and what was left out, as Markdown."""
    types = Counter(opened.paper.sentence_types)
    n_sentences = len(opened.paper.sentences)
    n_headings, n_abstract = types["section_name"], types["abstract"]
    parts = [
        quantity(n_sentences, "sentence"),
        f"{quantity(n_headings, 'heading')} among them",
        f"{n_abstract:,} in the abstract" if n_abstract else "no abstract",
    ]
    if left_out := left_out_text(opened.paper.left_out):
        parts.append(f"left out: {literal(left_out)}")
    read = f"read from {_KINDS[opened.paper.kind]}"
    if opened.origin != "sample":
        parts.append(read if opened.seconds is None else f"{read} in {opened.seconds:.1f} s")
    return " · ".join(parts)


def draw_doubts(paper: Paper) -> None:
    """The importer's notes, and where the recovered text may be wrong, by section."""
    for note in paper.notes:
        st.caption(literal(note, 400))
    if not paper.doubts:
        return
    with st.expander(f"Text to check against the PDF: {quantity(len(paper.doubts), 'place')}"):
        st.markdown(
            "\n".join(
                f"- **{literal(doubt.place, 120)}**: {literal(doubt.text, 300)}" for doubt in paper.doubts
            )
        )


def draw_recognised(opened: OpenPaper) -> None:
    with st.popover("What was recognised"):
        _sections(opened)


def _sections(opened: OpenPaper) -> None:
    """Headings with the number of sentences under each."""
    paper = opened.paper
    st.markdown(f"**Title:** {literal(paper.title, 300) or 'none recognised'}")
    st.caption(facts_line(opened))
    types = zip(paper.sections, paper.sentence_types, strict=True)
    counts = Counter(section for section, kind in types if kind != "section_name")
    lines = [
        f"- {literal(section, 90) or 'before the first heading'}: {n:,}"
        for section, n in list(counts.items())[:_LISTED]
    ]
    st.markdown("Sentences under each heading:\n\n" + "\n".join(lines))
    if len(counts) > _LISTED:
        st.caption(f"The first {_LISTED} of {len(counts):,} headings.")
