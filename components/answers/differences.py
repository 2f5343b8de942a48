"""One system against every other, question by question, with p-values corrected for all pairs of systems."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.answers import cached
from components.app.page import points
from components.app.state import PageState
from components.charts.dots import difference_chart
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import csv_button, frame_table
from components.widgets.markdown import literal
from components.widgets.table import Column
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo

_COLUMNS: Final = (
    Column("b", "Against", "title"),
    Column("mean_a", "Its mean", "percent", "Of the chosen system, over the questions of this pair"),
    Column("mean_b", "The other's", "percent"),
    Column("points", "Difference, points (95%)"),
    Column("p", "p", "number", "Two-sided paired randomisation, for this pair alone", digits=4),
    Column(
        "p_holm", "p, Holm", "number", "Corrected for all pairs of systems: the one to judge by", digits=4
    ),
    Column("n", "n", "number", "Questions on which both have a value"),
)


def draw_differences(
    state: PageState,
    info: AnswerSetInfo,
    metric: str,
    run: ChatRunInfo | None,
    corrections: cached.Corrections,
) -> None:
    """The chosen system minus every other, as a chart and in figures; a click takes the other."""
    pairs = cached.differences_of_systems(info, metric, run, corrections)
    systems = list(dict.fromkeys([*pairs["a"], *pairs["b"]]))
    if not systems:
        return
    st.markdown("## Differences of systems")
    means = cached.scores_by(info, run, corrections)
    place = means.metrics.index(metric)
    systems.sort(key=lambda one: -means.means[place, means.systems.index(one)])
    chosen = state["against"] if state["against"] in systems else systems[0]
    if state["against"] not in ("", chosen):
        st.warning(f"There is no value of {literal(state['against'], 80)}; {literal(chosen)} is shown.")
    st.selectbox("System", systems, width=360, **state.widget("against", chosen))
    frame = _of_one(pairs, chosen)
    frame = frame.set_index("b").loc[[one for one in systems if one in set(frame["b"])]].reset_index()
    frame["points"] = [points(row) for row in frame.to_dict("records")]
    chart = frame.assign(name=frame["b"], group="difference", colour=SYSTEMS[0].on(is_dark()))
    draw_chart(
        difference_chart(chart, f"{chosen} minus the other, points"),
        key=f"answers-differences-{metric}-{chosen}-{run and run.id}-{len(corrections)}-{is_dark()}",
        alt="; ".join(f"{row['b']}: {row['points']} points" for row in frame.to_dict("records")),
    )
    frame_table(
        _COLUMNS,
        frame,
        key=f"answers-pairs-{info.sha256[:8]}",
        ids="b",
        on_open=lambda other: state.put(against=other),
        caption=f"{chosen} against every other system; a click takes the other",
        height=420,
    )
    st.caption(
        f"{literal(metric.capitalize())} of {literal(chosen)} minus that of the other, paired by question; right of 0 "
        f"it is higher. 95% intervals by drawing questions, each for its pair alone; p by Holm for all {len(pairs):,} "
        "pairs. A question without a value of either is left out of that pair."
    )
    csv_button("Every pair (CSV)", f"differences of {info.name}", lambda: pairs)


def _of_one(pairs: pd.DataFrame, system: str) -> pd.DataFrame:
    """The pairs of a system, each turned so that it comes first."""
    turned = {"a": "b", "mean_a": "mean_b", "low": "high", "wins": "losses"}
    other = pairs.rename(columns=turned | {new: old for old, new in turned.items()})
    other = other.assign(**{name: -other[name] for name in ("difference", "low", "high")})
    both = pd.concat([pairs, other], ignore_index=True)
    return both[both["a"] == system]
