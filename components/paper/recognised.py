"""The parts that were recognised in a paper, and ways to correct them before it is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import streamlit as st

from components.app.session import flash
from components.app.state import PageState
from components.paper import cached
from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export import left_out_text
from evidencebench_core.papers import Paper, PaperKind
from evidencebench_core.papers.corrections import with_abstract, with_title, without_sentences
from evidencebench_core.words import quantity

_KINDS: Final[Mapping[PaperKind, str]] = MappingProxyType(
    {
        "jats": "JATS XML",
        "bioc-xml": "BioC XML",
        "bioc-json": "BioC JSON",
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


def draw_recognised(state: PageState, opened: OpenPaper) -> None:
    """Buttons that show the sections, and that correct."""
    with st.popover("What was recognised"):
        _sections(opened)
    if opened.origin == "memory":
        with st.popover("Correct"):
            _corrections(state, opened)


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


def _corrections(state: PageState, opened: OpenPaper) -> None:
    paper, last = opened.paper, len(opened.paper.sentences) - 1

    def correct(make: Callable[[], Paper]) -> None:
        try:
            paper = make()
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        cached.open_papers().put(replace(opened, paper=paper))
        state.put(sentence=None)
        flash("Corrected.")
        st.rerun()

    title = st.text_input("Title", value=paper.title, max_chars=1000, key=f"correct-title.{opened.digest}")
    if st.button("Set the title", key="correct-title"):
        correct(lambda: with_title(paper, title))
    st.caption("Sentences by their number in the margin, both included.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = st.number_input("From", 0, last, 0, key=f"correct-from.{opened.digest}", width=110)
        until = st.number_input("to", 0, last, min(9, last), key=f"correct-to.{opened.digest}", width=110)
    with st.container(horizontal=True):
        if st.button("They are the abstract", key="correct-abstract"):
            correct(lambda: with_abstract(paper, first, until))
        if st.button(
            "Take them out", key="correct-out", help="Text that is not of the paper, such as a page header."
        ):
            correct(lambda: without_sentences(paper, first, until))
