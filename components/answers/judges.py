"""Judges of a set: agreement with people, beside a judge that never looks; the paper's figures apart."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.frame_table import draw_notes, frame_table
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, table
from evidencebench_core.answers.agreement import JudgeAgreement
from evidencebench_core.answers.published import ALWAYS, published_figures
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.runs import ChatRunInfo, ChatRuns
from evidencebench_core.words import quantity

_JUDGED: Final = ("relevance", "citations")
_NO_SHARES: Final = ("kappa", "phi")
_FIGURES: Final = tuple(
    Column(name, name.capitalize())
    for name in ("table", "component", "method", "metric", "setting", "value", "note")
)


def draw_judges(state: PageState, info: AnswerSetInfo) -> None:
    runs = {
        run.id: run
        for run in ChatRuns(resources.store()).runs("answers", info.sha256)
        if run.settings.get("task") in _JUDGED and run.n_answered
    }
    if not runs:
        st.info(
            "No model has judged these answers yet. `evidencebench answers judge --help` says how to have one judge "
            "sentences or their citations; its agreement with people then stands here."
        )
    else:
        wanted = state["run"] if state["run"] in runs else next(iter(runs))
        if state["run"] not in ("", wanted):
            st.warning(
                f"There is no run {literal(state['run'], 80)} of a judge of these answers; another is shown."
            )
        st.selectbox(
            "Judge", list(runs), format_func=lambda one: _label(runs[one]), **state.widget("run", wanted)
        )
        _draw_agreement(resources.judge_agreement(info, runs[wanted]), wanted)
    with st.expander("Published figures of BioACE: other answers, other labels"):
        draw_notes(ALWAYS)
        frame_table(
            _FIGURES, pd.DataFrame(published_figures()), key="answers-published", action="none", height=480,
            caption="Figures of the BioACE paper",
        )  # fmt: skip


def _label(run: ChatRunInfo) -> str:
    return f"{run.settings['model']}, {run.settings['task']} ({run.id[:4]})"


def _draw_agreement(found: JudgeAgreement, run: str) -> None:
    judge, constant = found.agreement, found.constant_agreement
    if not judge.n:
        st.info("People have labelled none of what this judge was asked.")
        return
    always = f"Always {found.constant}"
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
        (Column("measure", "Agreement with people"), Column("judge", "Judge (95% interval)", "interval"),
         Column("constant", always, "percent", "The same figure of a judge who never looks")),
        rows,
        key=f"answers-agreement-{run}",
        action="none",
        caption="Agreement of the judge with people",
    )  # fmt: skip
    beyond = [f"{name} {value:.2f}" for name in _NO_SHARES if (value := judge.values.get(name)) is not None]
    st.caption(
        (f"Beyond chance: {', '.join(beyond)}. " if beyond else "")
        + f"{quantity(judge.n, 'unit')}; 95% intervals by drawing questions. Without a label, and so wrong: "
        f"{found.n_unlabelled:,}; without a judgement yet: {found.n_missing:,}; nothing to check: "
        f"{found.n_unchecked:,}; citations of documents that there are not, left out: {found.n_invalid:,}."
    )
    st.markdown("## What people say, and what the judge says")
    columns = [
        Column("human", "People"),
        *(Column(label, f"Judge: {label}", "number") for label in judge.labels),
    ]
    columns += [
        Column("none", "No label", "number"),
        *(Column(n, n, "percent") for n in ("Precision", "Recall", "F1")),
    ]
    table(
        columns,
        [
            Row(label, (label, *map(int, judge.table[place]), *judge.by_label[label]))
            for place, label in enumerate(judge.labels)
        ],
        key=f"answers-confusion-{run}",
        action="none",
        caption="Labels of people by labels of the judge",
    )
