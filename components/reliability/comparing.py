"""Two models on the same questions, test by test, paired probe by probe."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.app.state import PageState
from components.charts.dots import difference_chart
from components.reliability import cached
from components.reliability.view import View, row_title
from components.reliability.words import FIGURES, estimate_text, p_text, unread_text
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import csv_button, frame_table
from components.widgets.markdown import literal
from components.widgets.table import Column
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.reliability.card import ComparisonRow
from evidencebench_core.reliability.paired import Paired

_COLUMNS: Final = (
    Column("test", "Test", "title"),
    Column("figure", "Figure"),
    Column("a", "A", "percent"),
    Column("b", "B", "percent"),
    Column("points", "A − B, points (95%)"),
    Column("p", "p, Holm", help="Sign-flip test of right and wrong, corrected for the tests shown"),
    Column("only_a", "Only A right", "number"),
    Column("only_b", "Only B right", "number"),
    Column("same", "Same label", "percent", "Over all pairs"),
    Column("n", "n", "number", "Pairs: the same words put to both"),
)


def draw_comparing(state: PageState, view: View) -> None:
    """A and B, the differences with their intervals, and all of it in figures."""
    systems = view.systems
    if len(systems) < 2:
        st.info(
            "This compares two models on the same questions, test by test. Ask a second model: start runs above."
        )
        return
    pair = _pair(state, view)
    if pair is None:
        return
    a, b = pair
    (model_a, published), (model_b, _) = systems[a], systems[b]
    compared = cached.pairs(view.info, model_a, model_b, published)
    rows = [_cells(row, row.paired) for row in compared if row.paired is not None]
    if rows:
        _draw(a, b, pd.DataFrame(rows))
        st.caption(literal(unread_text([view.card(a), view.card(b)])))
    problems = [
        f"- **{literal(row_title(row))}**: {literal(_problem(row))}" for row in compared if row.paired is None
    ]
    if problems:
        st.caption("Not compared:")
        st.markdown("\n".join(problems))


def _problem(row: ComparisonRow) -> str:
    """Why the two are not compared in a test."""
    if row.task.judge_prompt:
        return "Not judged by one judge yet; the part Judges has the answers judged."
    return row.problem.removeprefix("compare: ")


def _cells(row: ComparisonRow, paired: Paired) -> dict[str, object]:
    low, high = paired.difference.ci95 or (None, None)
    return {
        "test": row_title(row),
        "figure": FIGURES[paired.figure],
        "a": row.value_a,
        "b": row.value_b,
        "points": estimate_text(paired.difference, signed=True),
        "difference": paired.difference.value,
        "low": low,
        "high": high,
        "p": None if row.p_holm is None else p_text(row.p_holm).removeprefix("= "),
        "p_value": paired.p_value,
        "only_a": sum(paired.flips[before]["right"] for before in ("wrong", "null")),
        "only_b": sum(paired.flips["right"][after] for after in ("wrong", "null")),
        "same": paired.consistency,
        "n": paired.n,
    }


def _pair(state: PageState, view: View) -> tuple[str, str] | None:
    """A, and B among those of the same construction."""
    systems = view.systems
    a = state["card"] if state["card"] in systems else next(iter(systems))
    others = [name for name, (_, published) in systems.items() if name != a and published == systems[a][1]]
    b = state["beside"] if state["beside"] in others else next(iter(others), None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("A", list(systems), **state.widget("card", a, part="a"))
        if b is not None:
            st.selectbox("B", others, **state.widget("beside", b, part="b"))
    if b is None:
        st.info("No other model was asked in the same construction.")
        return None
    return a, b


def _draw(a: str, b: str, frame: pd.DataFrame) -> None:
    chart = frame.assign(name=frame["test"], group="difference", colour=SYSTEMS[0].on(is_dark()))
    floats = ["difference", "low", "high"]
    draw_chart(
        difference_chart(chart.astype(dict.fromkeys(floats, float)), f"{a} − {b}, points"),
        key=f"reliability-pair-{a}-{b}",
        alt="; ".join(f"{row['test']}: {row['points']} points" for row in frame.to_dict("records")),
    )
    st.caption(
        f"Above 0 the figure of A, {literal(a)}, is higher. Of the bias less is better; of the refrain rate more is "
        "better with another item's text only. Paired over questions that were put to both in the same words; 95% "
        "intervals from 10,000 resamples of items."
    )
    frame_table(_COLUMNS, frame, key="reliability-pairs", action="none", caption=f"{a} against {b}")
    csv_button("CSV", f"reliability-{a}-{b}", lambda: frame)
