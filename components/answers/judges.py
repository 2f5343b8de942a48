"""Judges of a set: agreement with people, systems by both, beside what needs no judge; the paper's figures apart."""

from __future__ import annotations

import json
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.answers import people_judge_scatter, rank_slopes
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import draw_notes, frame_table
from components.widgets.markdown import literal
from components.widgets.switches import on_off_switch
from components.widgets.table import Column, Interval, Row, table
from evidencebench_core.answers.agreement import JudgeAgreement
from evidencebench_core.answers.judged import LABELLED
from evidencebench_core.answers.published import ALWAYS, published_figures
from evidencebench_core.answers.store import AnswerSetInfo, marks, marks_document
from evidencebench_core.answers.systems import COUNTS, METRICS, ranking
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo, ChatRuns
from evidencebench_core.stats import RankCorrelation
from evidencebench_core.words import quantity

_NO_SHARES: Final = ("kappa", "phi")
_FIGURES: Final = tuple(
    Column(name, name.capitalize())
    for name in ("table", "component", "method", "metric", "setting", "value", "note")
)

_RANKS: Final = (
    Column("what", "Ranked"),
    Column("rho", "Spearman's rho with people's rank (95%)", "id"),
    Column("tau", "Kendall's tau-b (95%)", "id"),
    Column("n", "Systems", "number"),
    Column("q", "Questions", "number"),
)


def judges_of(info: AnswerSetInfo) -> dict[str, ChatRunInfo]:
    """The runs in which models judged what people label, by id."""
    return {
        run.id: run
        for run in ChatRuns(resources.store()).runs("answers", info.sha256)
        if run.settings.get("task") in LABELLED and run.n_answered
    }


def judge_name(run: ChatRunInfo) -> str:
    return f"{run.settings['model']}, {run.settings['task']} ({run.id[:4]})"


def corrections_of(info: AnswerSetInfo) -> resources.Corrections:
    """What people say instead of judges' labels, by unit."""
    return tuple((mark.unit, mark.value) for mark in marks(resources.store(), info.sha256, "label"))


def draw_judges(state: PageState, info: AnswerSetInfo) -> None:
    runs = judges_of(info)
    if not runs:
        st.info(
            "No model has judged these answers yet. `evidencebench answers judge --help` says how to have one judge "
            "sentences or their citations; its agreement with people then stands here."
        )
    else:
        wanted = state["run"] if state["run"] in runs else next(iter(runs))
        if state["run"] not in ("", wanted):
            named = literal(state["run"], 80)
            st.warning(f"There is no run {named} of a judge of these answers; another is shown.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox(
                "Judge",
                list(runs),
                format_func=lambda one: judge_name(runs[one]),
                **state.widget("run", wanted),
            )
            corrections = _draw_corrections(state, info)
        found = resources.judge_agreement(info, runs[wanted], corrections)
        _draw_agreement(found, wanted)
        if info.counts["systems"] > 1 and found.agreement.n:
            _draw_ranks(state, info, runs[wanted], corrections)
    with st.expander("Published figures of BioACE: other answers, other labels"):
        draw_notes(ALWAYS)
        frame_table(
            _FIGURES,
            pd.DataFrame(published_figures()),
            key="answers-published",
            action="none",
            height=480,
            caption="Figures of the BioACE paper",
        )


def _draw_corrections(state: PageState, info: AnswerSetInfo) -> resources.Corrections:
    """How many labels people corrected, to be counted or not, and as a file; those that are counted."""
    corrections = corrections_of(info)
    if not corrections:
        return ()
    counted = on_off_switch(state, "corrected", f"With {quantity(len(corrections), 'correction')}")
    st.download_button(
        "Corrections",
        lambda: json.dumps(marks_document(resources.store(), info.sha256), indent=2),
        f"corrections of {info.name}.json",
        "application/json",
        on_click="ignore",
        key="answers-corrections",
    )
    return corrections if counted else ()


def _draw_agreement(found: JudgeAgreement, run: str) -> None:
    judge, constant = found.agreement, found.constant_agreement
    if not judge.n:
        st.info("People have labelled none of what this judge was asked.")
        return
    columns = (
        Column("measure", "Agreement with people"),
        Column("judge", "Judge (95% interval)", "interval"),
        Column(
            "constant", f"Always {found.constant}", "percent", "The same figure of a judge who never looks"
        ),
    )
    rows = [
        Row(
            name,
            (
                name[:1].upper() + name[1:],
                Interval(value, *(judge.intervals[name] or ())),
                constant.values[name],
            ),
        )
        for name, value in judge.values.items()
        if value is not None and name not in _NO_SHARES
    ]
    table(
        columns,
        rows,
        key=f"answers-agreement-{run}",
        action="none",
        caption="Agreement of the judge with people",
    )
    beyond = [f"{name} {value:.2f}" for name in _NO_SHARES if (value := judge.values.get(name)) is not None]
    st.caption(
        (f"Beyond chance: {', '.join(beyond)}. " if beyond else "")
        + f"{quantity(judge.n, 'unit')}; 95% intervals by drawing questions. Without a label, and so wrong: "
        f"{found.n_unlabelled:,}; without a judgement yet: {found.n_missing:,}; nothing to check: "
        f"{found.n_unchecked:,}; citations of documents that there are not, left out: {found.n_invalid:,}."
    )
    st.markdown("## What people say, and what the judge says")
    heads = [
        Column("human", "People"),
        *(Column(label, f"Judge: {label}", "number") for label in judge.labels),
    ]
    heads += [Column("none", "No label", "number")]
    heads += [Column(name, name, "percent") for name in ("Precision", "Recall", "F1")]
    table(
        heads,
        [
            Row(label, (label, *map(int, judge.table[place]), *judge.by_label[label]))
            for place, label in enumerate(judge.labels)
        ],
        key=f"answers-confusion-{run}",
        action="none",
        caption="Labels of people by labels of the judge",
    )


def _draw_ranks(
    state: PageState, info: AnswerSetInfo, run: ChatRunInfo, corrections: resources.Corrections
) -> None:
    """Systems by people's labels and by the judge's: both means, both ranks, and the order that counting gives."""
    people, judge = resources.system_scores(info), resources.judged_scores(info, run, corrections)
    both = [name for name in METRICS if name in people.metrics and name in judge.metrics]
    if not both:
        return
    st.markdown("## Systems by people and by the judge")
    metric = state["metric"] if state["metric"] in both else both[0]
    st.selectbox(
        "Metric", both, format_func=str.capitalize, width=360, **state.widget("metric", metric, part="judges")
    )
    frame = pd.DataFrame({
        "name": people.systems,
        "people": people.means[people.metrics.index(metric)],
        "judge": judge.means[judge.metrics.index(metric)],
    }).dropna()  # fmt: skip
    colour, key = SYSTEMS[0].on(is_dark()), f"{run.id}-{metric}-{len(corrections)}-{is_dark()}"
    alt = "; ".join(f"{row[0]} {100 * row[1]:.1f} and {100 * row[2]:.1f}" for row in frame.to_numpy())
    left, right = st.columns(2, gap="large")
    with left:
        figure = people_judge_scatter(frame, metric.capitalize(), colour)
        draw_chart(figure, key=f"answers-scatter-{key}", alt=f"{metric} by people and by the judge, %: {alt}")
    with right:
        draw_chart(rank_slopes(frame, colour), key=f"answers-slopes-{key}", alt=f"Ranks by {metric}: {alt}")
    lines = {"by the judge": ranking(people, judge, metric, metric, np.random.default_rng(0), 2_000)}
    for count in COUNTS:
        if count in people.metrics:
            lines[f"by the number of {count}"] = ranking(
                people, people, metric, count, np.random.default_rng(0), 2_000
            )
    table(
        _RANKS,
        [Row(name, (name, *_texts(one), one.n_systems, one.n_questions)) for name, one in lines.items()],
        key=f"answers-ranks-{key}",
        action="none",
        caption="Rank correlations",
    )
    st.caption("The rank by plain counting needs no judge: one that does no better adds nothing to it.")


def _texts(one: RankCorrelation) -> list[str]:
    return [
        "–"
        if value is None
        else f"{value:.3f}" + (f" ({bounds[0]:.2f} to {bounds[1]:.2f})" if bounds else "")
        for value, bounds in ((one.rho, one.rho_ci95), (one.tau, one.tau_ci95))
    ]
