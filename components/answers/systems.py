"""The systems of a set: one metric with its intervals, and the means of all."""

from __future__ import annotations

from typing import Final, Literal

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.dots import interval_chart
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import csv_and_json
from components.widgets.markdown import literal
from components.widgets.table import Cell, Column, Row, table
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.answers.systems import COUNTS, METRICS, SystemScores
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.words import enumerated, quantity

_RECALL: Final = (
    "clusters of answer sentences that say the same which hold a sentence of the answer / clusters"
)
_FIRST: Final = ("coverage", "recall R+B (ST)", "precision", "accuracy")
_MOST_NAMED: Final = 5


def draw_systems(state: PageState, info: AnswerSetInfo) -> None:
    scores = resources.system_scores(info)
    if not scores.metrics:
        st.info("There is nothing to score: these answers have no labels of people and no clusters.")
        return
    shares = [name for name in scores.metrics if name not in COUNTS]
    first = next((name for name in (*_FIRST, *shares) if name in shares), None)
    if first is None:
        st.info("These answers have no labels of people: their sentences and citations can only be counted.")
    else:
        wanted = state["metric"] or first
        if wanted not in shares:
            st.warning(f"There is no metric {literal(wanted, 80)}; {first} is shown.")
            wanted = first
        st.selectbox("Metric", shares, format_func=_heading, width=360, **state.widget("metric", wanted))
        _draw_metric(scores, wanted, info)
    st.markdown("## All metrics")
    _draw_means(state, scores, info)
    csv_and_json(f"systems of {info.name}", scores.table)


def _draw_metric(scores: SystemScores, metric: str, info: AnswerSetInfo) -> None:
    rows = scores.table()
    rows = rows[(rows["metric"] == metric) & rows["mean"].notna()].sort_values(
        "mean", ascending=False, kind="stable"
    )
    frame = rows.rename(columns={"system": "name", "mean": "recall"}).assign(colour=SYSTEMS[0].on(is_dark()))
    means = zip(frame["name"], 100 * frame["recall"], strict=True)
    alt = "; ".join(f"{name}: {mean:.1f}" for name, mean in means)
    draw_chart(
        interval_chart(frame, f"{_heading(metric)}, mean over questions (%)"),
        key=f"answers-{info.sha256[:8]}-{metric}-{is_dark()}",
        alt=f"{metric} in percent: {alt}",
    )
    st.caption(
        f"{_heading(METRICS.get(metric, _RECALL))}. 95% intervals by drawing questions; n is the questions that have a"
        " value."
    )
    if metric.startswith("recall R+B"):
        st.caption(
            "Recall R+B is not recall R plus something: each setting was clustered by itself, and an answer may have "
            "fewer R+B clusters than R clusters."
        )


def _heading(name: str) -> str:
    return name[:1].upper() + name[1:]


def _draw_means(state: PageState, scores: SystemScores, info: AnswerSetInfo) -> None:
    columns = [Column("system", "System", "title")]
    metrics = sorted(scores.metrics, key=COUNTS.__contains__)  # shares first
    places = [scores.metrics.index(metric) for metric in metrics]
    for metric in metrics:
        is_count = metric in COUNTS
        label = _heading(metric)
        about = _heading(COUNTS.get(metric) or METRICS.get(metric, _RECALL))
        kind: Literal["number", "percent"] = "number" if is_count else "percent"
        columns.append(Column(metric, label, kind, about, digits=2 * is_count))
    rows = []
    for place, system in enumerate(scores.systems):
        means: list[Cell] = [None if mean != mean else float(mean) for mean in scores.means[places, place]]  # noqa: PLR0124
        rows.append(Row(system, (system, *means)))
    table(
        columns,
        rows,
        key=f"answers-means-{info.sha256[:8]}",
        on_open=lambda system: state.put(part="answers", system=system, sentence=None),
        action="open" if info.counts["answers"] else "none",
        caption="Means of every metric; a click on a system shows its answers",
        height=560,
    )
    missing = scores.missing_answers()
    told = [f"{system} {quantity(len(questions), 'question')}" for system, questions in missing.items()]
    more = f" and {len(told) - _MOST_NAMED:,} more" if len(told) > _MOST_NAMED else ""
    st.caption(
        literal(
            f"Means over {quantity(len(scores.questions), 'question')}; a share of nothing is left out of its mean."
            + (f" Not answered, and left out: {enumerated(told[:_MOST_NAMED])}{more}." if told else "")
        )
    )
