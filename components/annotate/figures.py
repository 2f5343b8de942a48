"""The measures of agreement as a table, with EvidenceBench's table 2 beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app.page import percent
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.agreement import ASPECT_LEVEL, SENTENCE_LEVEL
from evidencebench_core.analyses.report import records

__all__ = ["draw_figures", "figure_columns", "figure_rows"]

_MEASURE: Final = (Column("measure", "Measure"),)
_BY_ASPECT: Final = (
    Column("aspect", "By aspect", help="Does this sentence cover this aspect?"),
    Column("aspect_plain", "95%, plain", help="Bootstrap that draws judgements"),
    Column("aspect_nested", "95%, hierarchical", help="Draws aspects first, then sentences within each"),
    Column("humans", "Two human teams", help="EvidenceBench, table 2, for scale"),
    Column("gpt", "Humans and GPT-4", help="EvidenceBench, table 2, for scale"),
)
_BY_SENTENCE: Final = (
    Column("sentence", "By sentence", help="Is this sentence evidence for any aspect?"),
    Column("sentence_plain", "95%, plain", help="Bootstrap that draws sentences"),
)


def draw_figures(report: Report) -> None:
    """The table, what it stands on, and what was left out."""
    agreement = report.tables["agreement"]
    st.markdown("#### Agreement")
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
        if row["level"] == ASPECT_LEVEL:
            cells += [_span(row["low_hierarchical"], row["high_hierarchical"])]
            cells += [_give_or_take(row["humans"], row["humans_pm"])]
            cells += [_give_or_take(row["human_gpt"], row["human_gpt_pm"])]
    return tuple(cells)


def _span(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}"


def _give_or_take(value: float | None, around: float | None) -> str | None:
    return None if value is None or around is None else f"{100 * value:.1f} ± {100 * around:.1f}"
