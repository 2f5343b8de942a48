"""Two annotators of one paper: how far they agree, where they differ, and the way to a consensus."""

from __future__ import annotations

import json
from typing import Final

import streamlit as st

from components.annotate.consensus import draw_consensus
from components.annotate.figures import draw_figures
from components.annotate.marking import draw_title, page_bar
from components.app import resources
from components.app.state import PageState
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, PaperView, paper_view
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.agreement import AnnotatedTwice, agreement_report
from evidencebench_core.analyses.consensus import CONSENSUS, AspectPair, evidence_of, matched_aspects
from evidencebench_core.analyses.marked_papers import MarkedPaper, annotation_of, annotators_of
from evidencebench_core.data.model import Aspect
from evidencebench_core.papers.annotation import Annotation

__all__ = ["draw_comparing"]

_EVERY: Final = "all"


def draw_comparing(state: PageState, marked: MarkedPaper) -> None:
    """Everything about two annotators' work on one paper."""
    annotations = resources.paper_annotations()
    known = [
        one for one in annotators_of(annotations, marked) if annotation_of(annotations, marked, one).aspects
    ]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page_bar(state)
        if st.button("Back to marking", key="to-marking"):
            state.put(view=None, item=None)
            st.rerun()
        chosen = _two(state, known)
        copy_link(state.link("paper", "view"))
    draw_title(marked)
    if chosen is None:
        _teach(known)
        return
    a, b = (annotation_of(annotations, marked, one) for one in chosen)
    pairs = matched_aspects(a, b)
    draw_figures(_report(marked, a, b))
    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _reader(state, marked, a, b, pairs)
    with side:
        draw_consensus(state, marked, a, b)


def _two(state: PageState, known: list[str]) -> tuple[str, str] | None:
    """The two that the address names, with pickers; ``None`` with fewer than two annotators."""
    if len(known) < 2:
        return None
    people = [one for one in known if one != CONSENSUS] or known
    first = state["a"] if state["a"] in known else people[0]
    second = state["b"] if state["b"] in known and state["b"] != first else ""
    second = second or next(one for one in (*people, *known) if one != first)
    for label, name, value, other in (
        ("Annotator A", "a", first, second),
        ("Annotator B", "b", second, first),
    ):
        st.selectbox(
            label,
            [one for one in known if one != other],
            width=200,
            **state.widget(name, value, reset=("item", "scope")),
        )
    return first, second


def _teach(known: list[str]) -> None:
    who = f"Only {literal(known[0], 60)} has" if known else "Nobody has"
    st.info(
        f"{who} written aspects for this paper so far. A comparison needs two: go back to marking, and let a second "
        'person start under another name (the button "Marking as"). To be compared aspect by aspect, the second starts '
        "from the first one's aspects, without the marks."
    )


def _report(marked: MarkedPaper, a: Annotation, b: Annotation) -> Report:
    key = json.dumps([marked.name, a.annotator, a.as_dict(), b.annotator, b.as_dict()])
    return resources.report(
        "agreement",
        (marked.key, key),
        lambda: agreement_report([AnnotatedTwice(marked.name, marked.paper.sentences, a, b)]),
    )


def _reader(
    state: PageState, marked: MarkedPaper, a: Annotation, b: Annotation, pairs: tuple[AspectPair, ...]
) -> None:
    """The paper, its marks told apart by who made them: of all aspects, or of one."""
    texts = {_EVERY: "All aspects: the sentence is evidence, or not"}
    texts |= {str(n): f"A{n} {pair.text}"[:120] for n, pair in enumerate(pairs, start=1)}
    scope = state["scope"] if state["scope"] in texts else _EVERY
    st.selectbox("Marks of", list(texts), format_func=texts.__getitem__, **state.widget("scope", scope))
    of_a, of_b = (evidence_of(a), evidence_of(b)) if scope == _EVERY else pairs[int(scope) - 1].marks
    groups = (
        ("both", of_a & of_b, "Marked by both"),
        (a.annotator, of_a - of_b, f"Marked by {a.annotator} alone"),
        (b.annotator, of_b - of_a, f"Marked by {b.annotator} alone"),
    )

    def heard(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, lit=None if event.aspect is None else str(event.aspect))

    view = PaperView(
        paper=marked.key,
        sentences=marked.paper.sentences,
        sentence_types=marked.paper.sentence_types,
        aspects=tuple(Aspect(name, tuple(sorted(of)), False, name, text) for name, of, text in groups),
        active=None,
        selected=state.number("sentence"),
        aspect=state.number("lit"),
    )
    paper_view(view, key="compared", height=740, on_event=heard)
