"""Two annotators of one paper: how far they agree, where they differ, and the way to a consensus."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.annotate.consensus import draw_consensus
from components.annotate.desk import draw_marks
from components.annotate.marking import draw_page_bar, draw_title
from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent
from components.widgets.table import Column, Row, table
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.report import records
from evidencebench_core.annotation.agreement import (
    ASPECT_LEVEL,
    SENTENCE_LEVEL,
    TwoAnnotations,
    agreement_report,
)
from evidencebench_core.annotation.differences import AspectPair, aspect_pairs
from evidencebench_core.annotation.marked import MarkedPaper, annotation_of, annotators_of
from evidencebench_core.annotation.model import CONSENSUS, Annotation
from evidencebench_core.data.model import Aspect

_EVERY: Final = "all"
_MEASURE: Final = (Column("measure", "Measure"),)
_BY_ASPECT: Final = (
    Column("aspect", "By aspect", help="Does this sentence cover this aspect?"),
    Column("aspect_interval", "95%", help="Bootstrap that draws aspects whole"),
)
_BY_SENTENCE: Final = (
    Column("sentence", "By sentence", help="Is this sentence evidence for any aspect?"),
    Column("sentence_interval", "95%", help="None for a single paper"),
)


def draw_comparing(state: PageState, marked: MarkedPaper) -> None:
    """Everything about two annotators' work on one paper."""
    annotations = resources.paper_annotations()
    known = [
        one for one in annotators_of(annotations, marked) if annotation_of(annotations, marked, one).aspects
    ]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_page_bar(state)
        if st.button("Back to marking", key="to-marking"):
            state.put(view=None, item=None)
            st.rerun()
        chosen = _pair_picker(state, known)
        copy_link(state.link("paper", "view"))
    draw_title(marked)
    if chosen is None:
        _draw_lack(known)
        return
    a, b = (annotation_of(annotations, marked, one) for one in chosen)
    pairs = aspect_pairs(a, b)
    _draw_figures(_report(marked, a, b))
    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        _draw_reader(state, marked, a, b, pairs)
    with side:
        draw_consensus(state, marked, a, b)


def _pair_picker(state: PageState, known: list[str]) -> tuple[str, str] | None:
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


def _draw_lack(known: list[str]) -> None:
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
        lambda: agreement_report([TwoAnnotations(marked.name, marked.paper.sentences, a, b)]),
    )


def _draw_reader(
    state: PageState, marked: MarkedPaper, a: Annotation, b: Annotation, pairs: tuple[AspectPair, ...]
) -> None:
    """The paper, its marks told apart by who made them: of all aspects, or of one."""
    texts = {_EVERY: "All aspects: the sentence is evidence, or not"}
    texts |= {str(n): f"A{n} {pair.text}"[:120] for n, pair in enumerate(pairs, start=1)}
    scope = state["scope"] if state["scope"] in texts else _EVERY
    st.selectbox("Marks of", list(texts), format_func=texts.__getitem__, **state.widget("scope", scope))
    of_a, of_b = (
        (a.evidence_sentences, b.evidence_sentences) if scope == _EVERY else pairs[int(scope) - 1].marks
    )
    groups = (
        ("both", of_a & of_b, "Marked by both"),
        (a.annotator, of_a - of_b, f"Marked by {a.annotator} alone"),
        (b.annotator, of_b - of_a, f"Marked by {b.annotator} alone"),
    )

    def act(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, lit=None if event.aspect is None else str(event.aspect))

    aspects = tuple(Aspect(name, tuple(sorted(of)), False, name, text) for name, of, text in groups)
    by = f"{a.annotator} or {b.annotator}"
    draw_marks(state, marked, aspects, state.number("lit"), act, by=by, key="compared")


def _draw_figures(report: Report) -> None:
    """The table, what it stands on, and what was left out."""
    agreement = report.tables["agreement"]
    st.markdown("## Agreement")
    table(
        figure_columns(agreement),
        figure_rows(agreement),
        key="agreement",
        action="none",
        caption=report.title,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        counts = {row["level"]: row["n_judgements"] for row in records(agreement)}
        stands_on = [
            f"{counts[level]:,} judgements {words}"
            for level, words in ((ASPECT_LEVEL, "by aspect"), (SENTENCE_LEVEL, "by sentence"))
            if level in counts
        ]
        st.caption(
            f"{' and '.join(stands_on)}, headings included. {literal(report.notes[0])}", width="content"
        )
        with st.popover("What the figures stand on"):
            for note in report.notes[1:]:
                st.caption(literal(note))


def figure_columns(agreement: pd.DataFrame) -> tuple[Column, ...]:
    """Those by aspect only where aspects could be compared."""
    levels = set(agreement["level"])
    return (*_MEASURE, *(_BY_ASPECT if ASPECT_LEVEL in levels else ()), *_BY_SENTENCE)


def figure_rows(agreement: pd.DataFrame) -> tuple[Row, ...]:
    """One row a measure."""
    found = records(agreement)
    return tuple(
        Row(
            measure,
            (measure[0].upper() + measure[1:], *_cells([r for r in found if r["measure"] == measure])),
        )
        for measure in dict.fromkeys(str(row["measure"]) for row in found)
    )


def _cells(rows: Sequence[Mapping[str, Any]]) -> tuple[str | None, ...]:
    cells: list[str | None] = []
    for row in rows:
        cells += ["undefined" if row["value"] is None else percent(row["value"])]
        cells += [_span(row["low"], row["high"])]
    return tuple(cells)


def _span(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}"
