"""The systems of a set: one metric with its intervals, and the means of all."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import streamlit as st

from components.answers import cached
from components.answers.differences import draw_differences
from components.answers.judge import corrections_of, judge_name, judges_of, warn_of_no_run
from components.app.state import PageState
from components.charts.dots import interval_chart
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import csv_and_json
from components.widgets.markdown import literal
from components.widgets.switches import on_off_switch
from components.widgets.table import Cell, Column, Interval, Row, table
from evidencebench_core.answers.judged import LABELLED
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.answers.systems import COUNTS, METRICS, SystemScores
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.words import enumerated, quantity

_RECALL: Final = (
    "clusters of answer sentences that say the same which hold a sentence of the answer / clusters"
)
_FIRST: Final = ("coverage", "recall R+B (ST)", "precision", "accuracy")
_MOST_NAMED: Final = 5


def draw_systems(state: PageState, info: AnswerSetInfo) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run, corrections = _labels(state, info)
        scores = cached.scores_by(info, run, corrections)
        shares = [name for name in scores.metrics if name not in COUNTS]
        first = next((name for name in (*_FIRST, *shares) if name in shares), None)
        wanted = state["metric"] or first
        if first is not None:
            if wanted not in shares:
                st.warning(
                    f"There is no metric {literal(state['metric'], 80)} of these labels; {first} is shown."
                )
                wanted = first
            st.selectbox("Metric", shares, format_func=_heading, width=360, **state.widget("metric", wanted))
        if run is None and info.counts["answers"]:
            told = "There a share of nothing, such as of no citation, counts as 0."
            if on_off_switch(state, "official", "As MedAESQA's script", help=told):
                scores = cached.system_scores(info, True)
    if not scores.metrics:
        st.info("There is nothing to score: these answers have no labels of people and no clusters.")
        return
    if wanted is None:
        st.info(
            "These answers have no labels of people: their sentences and citations can only be counted. Have a model "
            "judge them, above."
        )
    else:
        if run is not None:
            st.caption(
                f"By the labels of {literal(judge_name(run))}, a model's opinion: see Judges for how far it agrees."
            )
        _draw_metric(scores, wanted, f"{info.sha256[:8]}-{run and run.id}-{len(corrections)}")
    st.markdown("## All metrics")
    _draw_means(state, scores, info, wanted)
    csv_and_json(f"systems of {info.name}", scores.table)
    if wanted is not None and len(scores.systems) > 1:
        draw_differences(state, info, wanted, run, corrections)


def _labels(state: PageState, info: AnswerSetInfo) -> tuple[ChatRunInfo | None, cached.Corrections]:
    """Whose labels are scored: people's, or a judge's with what people corrected of them."""
    runs = judges_of(info, *LABELLED)
    if not runs:
        return None, ()
    chosen = state["labels"] if state["labels"] in runs else ""
    warn_of_no_run(info, state["labels"], "people's labels are")
    st.selectbox(
        "Labels of",
        ["", *runs],
        format_func=lambda one: judge_name(runs[one]) if one else "People",
        width=360,
        **state.widget("labels", chosen, reset=("metric", "against")),
    )
    return (runs[chosen], corrections_of(info)) if chosen else (None, ())


def _draw_metric(scores: SystemScores, metric: str, key: str) -> None:
    rows = scores.table()
    rows = rows[(rows["metric"] == metric) & rows["mean"].notna()].sort_values(
        "mean", ascending=False, kind="stable"
    )
    frame = rows.rename(columns={"system": "name", "mean": "recall"}).assign(colour=SYSTEMS[0].on(is_dark()))
    means = zip(frame["name"], 100 * frame["recall"], strict=True)
    alt = "; ".join(f"{name}: {mean:.1f}" for name, mean in means)
    draw_chart(
        interval_chart(frame, f"{_heading(metric)}, mean over questions (%)"),
        key=f"answers-{key}-{metric}-{is_dark()}",
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


def _draw_means(state: PageState, scores: SystemScores, info: AnswerSetInfo, first: str | None) -> None:
    """A row a system, the best by the metric on top: that with its interval and n, the means of all others."""
    others = sorted((one for one in scores.metrics if one != first), key=COUNTS.__contains__)  # shares first
    columns = [Column("system", "System", "title")]
    order = list(range(len(scores.systems)))
    if first is not None:
        place = scores.metrics.index(first)
        about = _heading(METRICS.get(first, _RECALL))
        columns.append(Column(first, f"{_heading(first)} (95%)", "interval", about))
        columns.append(Column("n", "n", "number", "Questions behind it"))
        order.sort(key=lambda one: -np.nan_to_num(scores.means[place, one], nan=-1.0))
    for metric in others:
        is_count = metric in COUNTS
        about = _heading(COUNTS.get(metric) or METRICS.get(metric, _RECALL))
        kind: Literal["number", "percent"] = "number" if is_count else "percent"
        columns.append(Column(metric, _heading(metric), kind, about, digits=2 * is_count))
    rows = []
    for one in order:
        cells: list[Cell] = [scores.systems[one]]
        if first is not None:
            low, high = map(_or_none, scores.intervals[place, one])
            mean = _or_none(scores.means[place, one])
            cells += [None if mean is None else Interval(mean, low, high)]
            cells += [int((~np.isnan(scores.values[place, one])).sum())]
        cells += [_or_none(scores.means[scores.metrics.index(metric), one]) for metric in others]
        rows.append(Row(scores.systems[one], tuple(cells)))
    table(
        columns,
        rows,
        key=f"answers-means-{info.sha256[:8]}",
        on_open=lambda system: state.put(part="answers", system=system, sentence=None),
        action="open" if info.counts["answers"] else "none",
        caption="Means of every metric; a click on a system shows its answers",
        height=560,
    )
    nothing = "0, as in MedAESQA's script" if state["official"] == "1" else "left out of its mean"
    missing = scores.missing_answers()
    told = [f"{system} {quantity(len(questions), 'question')}" for system, questions in missing.items()]
    more = f" and {len(told) - _MOST_NAMED:,} more" if len(told) > _MOST_NAMED else ""
    st.caption(
        literal(
            f"Means over {quantity(len(scores.questions), 'question')}; a share of nothing is {nothing}."
            + (f" Not answered, and left out: {enumerated(told[:_MOST_NAMED])}{more}." if told else "")
        )
    )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
