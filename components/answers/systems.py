"""The systems of a set: one metric with its intervals, and the means of all."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import streamlit as st

from components.answers.view import judges_of, key_of, scores_of, values_of
from components.charts import draw_chart, is_dark
from components.figures import interval_dots
from components.frame_table import draw_downloads, frame_table, intervals
from components.markdown import literal
from components.page import percent
from components.state import PageState
from components.table import Column
from evidencebench_core.answers.judging import JUDGES
from evidencebench_core.answers.report import FIRST
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.answers.units import COUNTS, METRICS, system_differences, systems_table
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.words import quantity

_RECALL: Final = "clusters of answer sentences that say the same which hold one of the answer / clusters"
_FEWER_IS_BETTER: Final = ("redundancy", "harmfulness", "contradict rate")
_SURE: Final = 0.05  # p below which a lead is called one


def draw_systems(state: PageState, info: AnswerSetInfo) -> None:
    """Which system does best, one metric with its intervals, and the means of all."""
    models = list(dict.fromkeys(run.settings["model"] for run in judges_of(info, *JUDGES).values()))
    model = state["by"] if state["by"] in models else ""
    scores = scores_of(info.name, info.sha256, model, key_of(info))
    shares = [metric for metric in dict.fromkeys(scores["metric"]) if metric not in COUNTS]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if models:
            by = state.widget("by", model, reset=("metric",))
            st.selectbox("Labels of", ["", *models], format_func=lambda name: name or "People", **by)
        if not shares:
            st.info("Nobody has labelled these answers: have a model judge them, above.")
            return
        first = next((metric for metric in FIRST if metric in shares), shares[0])
        metric = state["metric"] if state["metric"] in shares else first
        st.selectbox("Metric", shares, **state.widget("metric", metric))
        draw_downloads(f"Systems of {info.name}", lambda: scores)
    rows = systems_table(scores, metric)
    rows = rows.sort_values(metric, ascending=metric in _FEWER_IS_BETTER, kind="stable")
    pairs = system_differences(values_of(info.name, info.sha256, model, key_of(info)), metric)
    if len(pairs):
        st.markdown(_headline(rows, pairs, metric))
    chart = rows.assign(name=rows["system"], value=rows[metric], colour=SYSTEMS[0].on(is_dark()))
    chart = chart.astype({"low": float, "high": float})
    alt = "; ".join(
        f"{system}: {percent(value)}" for system, value in zip(chart["name"], chart["value"], strict=True)
    )
    draw_chart(interval_dots(chart, f"{metric}, %"), key=f"systems-{metric}-{model}", alt=f"{metric}: {alt}")
    of_model = f"By the labels of {literal(model)}, a model's opinion. " if model else ""
    meaning, n = literal(_heading(METRICS.get(metric, _RECALL))), info.counts["questions"]
    st.caption(f"{of_model}{meaning}; mean over {quantity(n, 'question')}, drawn whole.")
    _draw_means(state, info, rows, metric)


def _headline(rows: pd.DataFrame, pairs: pd.DataFrame, metric: str) -> str:
    """Which system does best by a metric, and whether chance could have made its lead."""
    first, second = rows["system"].head(2)
    best, next_best = rows[metric].head(2)
    of_both = pairs[pairs["a"].isin([first, second]) & pairs["b"].isin([first, second])]
    lead = f"{abs(100 * (best - next_best)):.1f} points from {literal(second)}"
    chance = "" if (of_both["p_holm"] < _SURE).any() else ", a difference that chance alone could make"
    return f"**{literal(first)}** does best in {literal(metric)}: {percent(best)}, {lead}{chance}."


def _draw_means(state: PageState, info: AnswerSetInfo, means: pd.DataFrame, metric: str) -> None:
    """One row a system, one column a metric, the chosen one first with its interval."""
    columns = [Column("system", "System", "title")]
    for name in means.columns.drop(["system", "low", "high", "n"]):
        kind: Any = "number" if name in COUNTS else "percent"
        kind = "interval" if name == metric else kind
        columns.append(Column(name, _heading(name), kind, METRICS.get(name, _RECALL), digits=2))
    frame_table(
        columns,
        means.assign(**{metric: intervals(means, metric)}),
        key=f"means-{info.sha256[:8]}",
        ids="system",
        caption="Means of every metric",
        on_open=lambda system: state.put(part="answer", system=system, sentence=None),
        link=lambda system: state.link(part="answer", system=system),
        height=420,
    )


def _heading(text: str) -> str:
    return text[:1].upper() + text[1:]
