"""Judges of a set: agreement with people, systems by both, beside what needs no judge; the paper's figures apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.answers import cached
from components.answers.disagreements import NO_LABEL
from components.answers.judge import READABLE, corrections_of, judges_of, picked_run
from components.answers.ranks import draw_ranks
from components.answers.start import task_text
from components.app import resources
from components.app.page import percent
from components.app.state import PageState
from components.models.caps import dollars
from components.widgets.frame_table import draw_notes, frame_table
from components.widgets.markdown import literal
from components.widgets.switches import on_off_switch
from components.widgets.table import Cell, Chip, Column, Interval, Row, TableEvent, table
from evidencebench_core.answers.agreement import JudgeAgreement
from evidencebench_core.answers.judged import LABELLED
from evidencebench_core.answers.published import ALWAYS, published_figures
from evidencebench_core.answers.store import AnswerSetInfo, marks, marks_document
from evidencebench_core.llm import price_of
from evidencebench_core.runs import ChatRunInfo
from evidencebench_core.stats import LabelAgreement
from evidencebench_core.words import quantity

_PRECEDENCE: Final = {"support-first": "it supports", "contradict-first": "it contradicts"}
_UNPARSED: Final = {"wrong": "is wrong", "leave_out": "is left out, as in the paper's script"}
_NO_SHARES: Final = ("kappa", "phi")
_FIGURES: Final = tuple(
    Column(name, name.capitalize())
    for name in ("table", "component", "method", "metric", "setting", "value", "note")
)

_CORRECTNESS: Final = (
    Column("system", "System", "title"),
    Column("mean", "Correct (95%)", "interval", "Correct / all sentences, mean over answers"),
    Column("answers", "n", "number", "Answers behind the mean"),
    Column("share", "Of all sentences", "percent"),
    Column("sentences", "Sentences", "number"),
    Column("unchecked", "Nothing to check", "number", "No document with text"),
    Column("unread", "No label", "number"),
    Column("missing", "Not judged yet", "number", "Answers"),
)


def draw_judges(state: PageState, info: AnswerSetInfo) -> None:
    runs = judges_of(info, *READABLE)
    if not runs:
        st.info(
            "No model has judged these answers yet. Have one judge sentences or their citations: how far it agrees "
            "with people then stands here."
        )
    else:
        _draw_judge(state, info, runs)
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


def _draw_judge(state: PageState, info: AnswerSetInfo, runs: Mapping[str, ChatRunInfo]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = picked_run(state, info, runs, reset=("human", "judged", "page", "supports")) or next(
            iter(runs.values())
        )
        corrections = _draw_corrections(state, info) if run.settings["task"] in LABELLED else ()
    st.caption(literal(_standing(run)))
    if run.settings["task"] == "correctness":
        _draw_correctness(info, run)
        return
    with st.expander("How it is counted"), st.container(horizontal=True):
        precedence = _choice(state, "precedence", _PRECEDENCE)
        unparsed = _choice(state, "unparsed", _UNPARSED)
        threshold = _own_threshold(state, run)
    found = cached.judge_agreement(info, run, corrections, precedence, unparsed, threshold)
    _draw_agreement(state, found, run.id)
    if info.counts["systems"] > 1 and found.agreement.n:
        draw_ranks(state, info, run, corrections)


def _choice(state: PageState, param: str, options: Mapping[str, str]) -> Any:
    """One of a few ways to count; the first where the address names none."""
    chosen = state[param] if state[param] in options else next(iter(options))
    label = "A judgement without a label" if param == "unparsed" else "People found support and contradiction"
    return st.selectbox(label, list(options), format_func=options.__getitem__, **state.widget(param, chosen))


def _own_threshold(state: PageState, run: ChatRunInfo) -> float | None:
    """Of a judge that gives scores, from which on it supports; another is tried without judging again."""
    if "threshold" not in run.settings:
        return None
    own = float(run.settings["threshold"])
    hundredths = state.number("supports")
    threshold = own if hundredths is None else min(hundredths, 100) / 100
    st.slider(
        "Score from which it supports",
        0.0,
        1.0,
        step=0.01,
        width=280,
        help=f"The run's own is {own:g}, which all other views go by.",
        **state.widget("supports", threshold, lambda now: round(100 * now)),
    )
    return threshold


def _standing(run: ChatRunInfo) -> str:
    """A run's question, how far it is, and its cost."""
    prompts, answers = cached.judge_tokens(run)
    price = price_of(run.settings["model"])
    money = (
        f", {dollars((prompts * price.prompt + answers * price.completion) / 1e6)} at today's prices"
        if price and prompts
        else ""
    )
    took = f" Took {prompts + answers:,} tokens{money}." if prompts + answers else ""
    failed = f", {run.n_failed:,} failed: start the same again to try them" if run.n_failed else ""
    return f"{task_text(run.settings)} {run.n_answered:,} judged{failed}.{took}"


def _draw_corrections(state: PageState, info: AnswerSetInfo) -> cached.Corrections:
    """How many labels people corrected, to be counted or not, and all that people said as a file; those that count."""
    corrections, n = corrections_of(info), len(marks(resources.store(), info.sha256))
    counted = bool(corrections) and on_off_switch(
        state, "corrected", f"With {quantity(len(corrections), 'correction')}"
    )
    if n:
        st.download_button(
            f"Corrections, notes and marks ({n:,})",
            lambda: json.dumps(marks_document(resources.store(), info.sha256), indent=2),
            f"corrections of {info.name}.json",
            "application/json",
            on_click="ignore",
            key="answers-corrections",
        )
    return corrections if counted else ()


def _draw_agreement(state: PageState, found: JudgeAgreement, run: str) -> None:
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
    n_asked = judge.n - judge.n_unlabelled + found.n_unlabelled
    st.caption(
        (f"Beyond chance: {', '.join(beyond)}. " if beyond else "")
        + f"{quantity(judge.n, 'unit')}; 95% intervals by drawing questions. Without a label: {found.n_unlabelled:,} "
        f"({percent(found.n_unlabelled / n_asked)}); without a judgement yet: {found.n_missing:,}; nothing to check: "
        f"{found.n_unchecked:,}; citations of documents that there are not, left out: {found.n_invalid:,}."
    )
    st.markdown("## What people say, and what the judge says")
    labels = [*judge.labels, ""]
    heads = [
        Column("human", "People"),
        *(Column(label or "none", f"Judge: {label}" if label else "No label", "chips") for label in labels),
        *(Column(name, name, "percent") for name in ("Precision", "Recall", "F1")),
    ]

    def open_cell(event: TableEvent) -> None:
        if event.kind == "chip":
            human, _, judged = event.value.partition("|")
            state.put(part="queue", human=human, judged=judged or NO_LABEL, page=None, unit=None)

    def cell(human: str, judged: str, n: int) -> Cell:
        return (Chip(f"{human}|{judged}", f"{n:,}"),) if n else None

    table(
        heads,
        [
            Row(
                human,
                (
                    human,
                    *(cell(human, judged, n) for judged, n in zip(labels, judge.table[place], strict=True)),
                    *judge.by_label[human],
                ),
            )
            for place, human in enumerate(judge.labels)
        ],
        key=f"answers-confusion-{run}",
        action="none",
        on_event=open_cell,
        caption="Labels of people by labels of the judge; a number shows its units",
    )
    st.caption("A number shows the sentences or citations behind it.")
    with st.expander("Agreement by system and by question", on_change="rerun") as fold:
        if fold.open:
            for what, parts in (("System", found.by_system), ("Question", found.by_question)):
                _draw_parts(what, parts, run)


def _draw_parts(what: str, parts: Mapping[str, LabelAgreement], run: str) -> None:
    """Of each system or question alone; the worst first."""
    columns = (
        Column("name", what),
        Column("accuracy", "Accuracy", "percent"),
        Column("kappa", "Kappa", "number", "Cohen's: agreement beyond chance", digits=2),
        Column("unlabelled", "No label", "number"),
        Column("n", "n", "number"),
    )
    ordered = sorted(parts.items(), key=lambda item: item[1].values["accuracy"] or 0.0)
    table(
        columns,
        [
            Row(name, (name, one.values["accuracy"], one.values["kappa"], one.n_unlabelled, one.n))
            for name, one in ordered
        ],
        key=f"answers-by-{what.lower()}-{run}",
        action="none",
        height=320,
        caption=f"Agreement by {what.lower()}",
    )


def _draw_correctness(info: AnswerSetInfo, run: ChatRunInfo) -> None:
    """Systems by the share of sentences that the judge found borne out by a document."""
    scores = cached.judged_correctness(info, run)
    ordered = sorted(scores.items(), key=lambda item: -1.0 if item[1].mean is None else -item[1].mean)
    table(
        _CORRECTNESS,
        [
            Row(
                system,
                (
                    system,
                    None if of.mean is None else Interval(of.mean, *(of.ci95 or ())),
                    of.n_answers,
                    of.share,
                    of.n_sentences,
                    of.n_unchecked,
                    of.n_unread,
                    of.n_missing,
                ),
            )
            for system, of in ordered
        ],
        key=f"answers-correctness-{run.id}",
        action="none",
        caption="Correct sentences by system",
    )
    st.caption(
        "A sentence is correct where the judge says that some passage of its documents supports it. What could not be "
        "checked, or has no label, is not correct. 95% intervals by drawing questions."
        + (
            f" Of each sentence the {most:,} closest passages at most were shown, which can only lower its share."
            if (most := run.settings.get("prefilter"))
            else ""
        )
    )
