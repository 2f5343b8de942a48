"""Judges of free answers: how far they can be believed, having answers judged, and pairs marked by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.session import flash, session_text, set_session_text
from components.app.state import PageState
from components.reliability import cached
from components.reliability.start import judge_dialog
from components.reliability.view import View, label_of
from components.reliability.words import estimate_text, reasons_text
from components.widgets.frame_table import draw_notes
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.reliability.items import Item, add_items
from evidencebench_core.reliability.judge import JudgeReport
from evidencebench_core.reliability.reads import ProbeRead
from evidencebench_core.reliability.runs import ReliabilityRun
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.stats.raters import cohen_kappa
from evidencebench_core.words import quantity

_COLUMNS: Final = (
    Column("run", "Answers of", "title"),
    Column("judge", "Judge"),
    Column("share", "Figure (95%)", help="Judged similar; of conclusions weighted F1 of the judge's labels"),
    Column("corrected", "Corrected (95%)", help="Without the judge's errors on pairs whose answer is known"),
    Column("se", "Sensitivity", "percent", "Similar pairs that it calls similar"),
    Column("sp", "Specificity", "percent", "Other pairs that it does not"),
    Column(
        "shuffled",
        "Other's reference (95%)",
        help="Share called similar to another item's reference: near 1 - Sp",
    ),
    Column("flips", "Turn with the order", help="Verdicts that change when the statements change places"),
    Column("n", "Judged", "number"),
)
_NOTES: Final = (
    "Judged similar: the share of answers that the judge says mean the same as the reference. The data has no wrong "
    "answers, so alone it says little.",
    "Sensitivity and specificity come from the test Judges measured, run with the same model on a set of pairs: a file "
    "of your own, or pairs that you mark here.",
    "Corrected: (share - (1 - Sp)) / (Se + Sp - 1), between 0 and 1; none where the judge is no better than chance.",
)


def draw_judges(state: PageState, view: View) -> None:
    """The judged runs with the judge's errors, the button, and the marking."""
    runs = [run for run in view.runs if run.task.judge_prompt]
    measured = [run for run in view.runs if run.task.name == "judge"]
    if not runs and not measured:
        st.info(
            "Answers in free text (freeform answers, question formation, conclusion) are read by a judge, another "
            "model. Here stands how far each judge can be believed. Start one of these tests above."
        )
        return
    scores = {run.id: view.score(run) for run in runs}
    waiting = [run.id for run in runs if run.n_answered and scores[run.id].judged is None]
    if waiting:
        st.markdown(f"**{quantity(len(waiting), 'run')}** of free answers wait for a judge.")
    with st.container(horizontal=True):
        if runs and st.button("Have answers judged", type="primary" if waiting else "secondary"):
            judge_dialog(view, waiting or [run.id for run in runs if run.n_answered])
    judged = [(run, report) for run in runs if (report := scores[run.id].judged) is not None]
    if judged:
        _draw_reports(judged, scores)
        _draw_marking(state, judged, scores)
    for run in measured:
        score = view.score(run)
        st.markdown(
            f"**{literal(label_of(run))}** as a judge on these pairs: {estimate_text(score.value)} weighted F1, "
            f"n = {score.n_scored:,}."
        )


def _draw_reports(
    judged: Sequence[tuple[ReliabilityRun, JudgeReport]], scores: Mapping[str, TaskScore]
) -> None:
    rows = []
    for run, report in judged:
        own = " (its own answers)" if report.is_model_under_test else ""
        flips = f"{report.order_flips[0]:,} of {report.order_flips[1]:,}" if report.order_flips else None
        cells = (
            f"{label_of(run)}: {run.task.title}",
            f"{report.judge}{own}",
            estimate_text(scores[run.id].value),
            estimate_text(report.corrected) if report.corrected else None,
            report.sensitivity,
            report.specificity,
            estimate_text(report.shuffled) if report.shuffled else None,
            flips,
            report.n_judged,
        )
        rows.append(Row(run.id, cells))
    table(_COLUMNS, rows, key="judges", action="none", caption="Judged runs")
    for run, report in judged:
        said = [f"{name} {percent(value)}" for name, value in report.controls.items()]
        if said:
            st.caption(
                f"{literal(label_of(run))}, conclusions by the same judge: {literal(', '.join(said))}. Reference is "
                "the ceiling, empty the floor."
            )
        if report.not_sent:
            st.caption(f"{literal(label_of(run))}: not sent to the judge: {reasons_text(report.not_sent)}.")
    with st.expander("How to read these figures"):
        draw_notes(_NOTES)


# -- pairs marked by hand ------------------------------------------------------------------------------


def _draw_marking(
    state: PageState, judged: Sequence[tuple[ReliabilityRun, JudgeReport]], scores: Mapping[str, TaskScore]
) -> None:
    """Pairs one by one without the judge's verdict; then how far marker and judge agree."""
    runs = {run.id: run for run, _ in judged if run.task.figure == "judged_accuracy"}
    if not runs:
        return
    st.markdown("## Mark pairs yourself")
    run = runs[state["run"]] if state["run"] in runs else next(iter(runs.values()))
    if len(runs) > 1:
        st.selectbox(
            "Answers of",
            list(runs),
            format_func=lambda one: label_of(runs[one]),
            **state.widget("run", run.id),
        )
    texts = cached.texts(run)
    reads = {
        one.probe.id: one for one in scores[run.id].reads if one.probe.id in texts and one.probe.references
    }
    marks = _marks(run)
    order = np.random.default_rng(0).permutation(sorted(reads)).tolist()
    waiting = [one for one in order if one not in marks]
    if waiting:
        read = reads[waiting[0]]
        st.markdown(
            f"Do these two mean the same? {len(marks):,} marked, {len(waiting):,} to go; stop when you like."
        )
        for column, name, text in zip(
            st.columns(2),
            ("Answer", "Reference"),
            (texts[read.probe.id], read.probe.references[0]),
            strict=True,
        ):
            with column, st.container(border=True):
                st.caption(name)
                st.markdown(literal(text, 4000))
        with st.container(horizontal=True):
            for label, mark in (("The same", "yes"), ("Not the same", "no")):
                st.button(label, key=f"mark-{mark}-{run.id}", on_click=_put, args=(run, read.probe.id, mark))
    if marks:
        _draw_agreement(run, {one: reads[one] for one in marks if one in reads}, marks)
        _draw_keeping(run, [reads[one] for one in marks if one in reads], marks, texts)


def _draw_agreement(run: ReliabilityRun, reads: Mapping[str, ProbeRead], marks: Mapping[str, str]) -> None:
    pairs = [(marks[one], read.label) for one, read in reads.items() if read.label is not None]
    same = sum(mark == label for mark, label in pairs)
    cells = [
        sum(pair == cell for pair in pairs)
        for cell in (("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no"))
    ]
    kappa = float(cohen_kappa(cells))
    agreed = "kappa is undefined so far" if math.isnan(kappa) else f"kappa {kappa:.2f}"
    st.markdown(f"You and the judge agree on **{same:,} of {len(pairs):,}** pairs, {agreed}.")


def _draw_keeping(
    run: ReliabilityRun, reads: Sequence[ProbeRead], marks: Mapping[str, str], texts: Mapping[str, str]
) -> None:
    """Marked pairs become a set of pairs, on which any judge can be measured."""
    with st.popover("Keep these pairs"):
        st.markdown(
            "They become a set of their own. Run the test Judges measured on it, with the judge's model."
        )
        name = st.text_input(
            "Name", value=f"pairs of {run.id[:6]}", max_chars=100, key=f"pairs-name-{run.id}"
        )
        who = st.text_input("Marked by", max_chars=80, key="pairs-who").strip()
        if st.button("Keep", disabled=not (name.strip() and who), key=f"pairs-keep-{run.id}"):
            items = [
                Item(one.probe.id, texts[one.probe.id], (), marks[one.probe.id], (one.probe.references[0],))  # type: ignore[arg-type]
                for one in reads
            ]
            try:
                add_items(
                    resources.store(),
                    name.strip(),
                    items,
                    "pairs",
                    f"marked by {who}, answers of run {run.id}",
                )
            except EvidenceBenchError as error:
                st.error(literal(str(error)))
                return
            flash(f"{quantity(len(items), 'pair')} kept as {literal(name)}.")
            st.rerun()


def _marks(run: ReliabilityRun) -> dict[str, str]:
    """The marks of this session, by probe id."""
    return dict(json.loads(session_text(f"marks.{run.id}", "{}")))


def _put(run: ReliabilityRun, probe: str, mark: str) -> None:
    set_session_text(f"marks.{run.id}", json.dumps(_marks(run) | {probe: mark}))
