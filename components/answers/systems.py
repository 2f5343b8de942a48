"""The systems of a set: one metric with its intervals, and the means of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.answers.view import judges_of, key_of, report_of
from components.controls import option_box
from components.frame_table import draw_downloads, draw_intervals, frame_table, intervals
from components.markdown import literal
from components.state import PageState
from components.table import Column
from evidencebench_core.answers.judging import JUDGES
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.answers.units import COUNTS, METRICS


def draw_systems(state: PageState, info: AnswerSetInfo) -> None:
    models = list(dict.fromkeys(run.settings["model"] for run in judges_of(info, *JUDGES).values()))
    model = state["by"] if state["by"] in models else ""
    report = report_of(info.name, model, state["metric"], key_of(info))
    systems = report.tables["systems"]
    metrics = [name for name in report.legend if name in systems]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if models:
            labellers = {"": "People", **dict(zip(models, models, strict=True))}
            option_box(state, "by", "Labels of", labellers, reset=("metric",))
        if not metrics:
            st.info("Nobody has labelled these answers: have a model judge them, above.")
            return
        metric = systems.columns[1]
        st.selectbox("Metric", metrics, **state.widget("metric", metric))
        draw_downloads(report.title, lambda: report)
    finding, *notes = report.notes
    st.markdown(f"**{literal(finding)}**")
    chart = systems.assign(name=systems["system"])
    draw_intervals(chart, metric, f"{metric}, %", key=f"systems-{metric}-{model}")
    st.caption(literal(f"{_heading(report.legend[metric])}. {' '.join(notes)}"))
    _draw_means(state, info, systems, metric, report.legend)


def _draw_means(
    state: PageState, info: AnswerSetInfo, means: pd.DataFrame, metric: str, legend: Mapping[str, str]
) -> None:
    columns = [Column("system", "System", "title")]
    for name in means.columns.drop(["system", "low", "high", "n"]):
        kind: Any = "number" if name in COUNTS else "percent"
        kind = "interval" if name == metric else kind
        columns.append(Column(name, _heading(name), kind, legend.get(name, METRICS.get(name, "")), digits=2))
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
