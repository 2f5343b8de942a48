"""One test of one model: its figure by variant, against the baseline, and every answer with its prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.ask import Ask, ask_button
from components.controls import option_box
from components.filters import Filter, filter_popover, filtered_rows
from components.frame_table import draw_downloads, draw_intervals, frame_table
from components.markdown import literal
from components.page import percent
from components.server import session_model
from components.state import PageState
from components.table import Column
from components.table.paging import paging
from evidencebench_core.analyses import Report
from evidencebench_core.llm import LLM
from evidencebench_core.reliability.card import difference_text, reliability_report, shown_runs
from evidencebench_core.reliability.items import ItemSet, ItemSetInfo, item_set
from evidencebench_core.reliability.runs import judge_plan, question_of, run_probes, settings_label, task_of
from evidencebench_core.runs import ChatSpec, Plan, RunInfo, judge_runs
from evidencebench_core.stats import Estimate
from evidencebench_core.words import quantity

ASKING: Final = "reliability"  # the kind of the jobs
_ANSWERS: Final = (
    Column("question", "Question", "title", lines=2),
    Column("variant", "Variant", "id"),
    Column("expected", "Right", "id"),
    Column("label", "Read as", "id"),
    Column("text", "Answer", lines=2),
)
_FILTERS: Final = (
    Filter("state", "State", "choice"),
    Filter("variant", "Variant", "choice"),
    Filter("label", "Read as", "choice"),
    Filter("reason", "No label", "choice"),
)
_IN_WORDS: Final = {"right": "right", "wrong": "wrong", "null": "unreadable"}  # `STATES`


@dataclass(frozen=True)
class View:
    info: ItemSetInfo
    runs: tuple[RunInfo, ...]

    @property
    def cache_key(self) -> object:
        """Changes with every answer."""
        judged = [run for run in self.runs if task_of(run).judge]
        judges = [judge for run in judged for judge in judge_runs(resources.store(), run.id)]
        return self.info.name, self.info.sha256, [(run.id, run.stamp) for run in (*self.runs, *judges)]

    def report(self, run_id: str = "") -> Report:
        """What ``reliability score`` prints of the set, or of one run."""
        return resources.report(reliability_report, run_id or self.info.name, also=self)


def draw_test(state: PageState, view: View) -> None:
    """What a test found, by variant and against the baseline, and every answer with its prompt."""
    runs = {run.id: run for run in shown_runs(view.runs)}
    names = {run_id: _name(run) for run_id, run in runs.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = runs[option_box(state, "run", "Test", names, reset=("where", "probe", "page"))]
        task = task_of(run)
        is_judged = task.judge is not None and run.n_answered > 0
        if is_judged:
            ask_button(_judging(run), "Have the answers judged")
    report = view.report(run.id)
    score = report.tables["score"].iloc[0]
    estimate = Estimate(score["value"], score["low"], score["high"])
    figure = literal(f"{score['figure']} {estimate.text()}")
    st.markdown(f"{literal(task.about)} **{figure}**, {quantity(score['n'], 'question')}.")
    finding, *notes = report.notes
    st.markdown(literal(finding))
    st.caption(literal(" ".join(notes)))
    if report.tables["answers"].empty:
        how = " Have the answers judged, above." if is_judged else ""
        st.info(literal(f"There is nothing to score yet.{how}"))
        return
    if pd.notna(score["difference"]):
        st.markdown(
            f"**Against the same questions unchanged:** {literal(difference_text(score))} points; the same label in "
            f"{percent(score['same'])} of them."
        )
    if len(report.tables["variants"]) > 1:
        _draw_variants(run, report)
    _draw_answers(state, view, run, report.tables["answers"])


def _name(run: RunInfo) -> str:
    return " · ".join(filter(None, (task_of(run).title, run.settings["model"], settings_label(run))))


def _draw_variants(run: RunInfo, report: Report) -> None:
    variants = report.tables["variants"]
    frame = variants.assign(name=variants["variant"].replace("", "as it is"))
    draw_intervals(frame, "value", f"{task_of(run).figure.variant_title}, %", key=f"variants-{run.id}")


def _draw_answers(state: PageState, view: View, run: RunInfo, answers: pd.DataFrame) -> None:
    items = item_set(resources.store(), view.info.name)
    every = answers.assign(question=answers["item"].map({item.id: item.question for item in items.items}))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("## Answers")
        filter_popover(state, every, _FILTERS)
        draw_downloads(f"Answers of {run.label}", lambda: every)
    shown = filtered_rows(state, every, _FILTERS)
    pages = paging(state, len(shown))
    st.caption(f"{len(shown):,} of {quantity(len(every), 'answer')}. A click shows what was asked.")
    in_hand = every[every["probe"] == state["probe"]] if state["probe"] else shown.iloc[pages.rows]
    left, right = st.columns((3, 2), gap="large")
    with left:
        frame_table(
            _ANSWERS,
            shown.iloc[pages.rows],
            key=f"answers-{run.id}",
            ids="probe",
            on_open=lambda probe: state.put(probe=probe),
            link=lambda probe: state.link(probe=probe),
            chosen=tuple(in_hand["probe"].head(1)),
            caption="Answers",
            height=560,
        )
        pages.draw(state)
    with right:
        if len(in_hand):
            _draw_answer(run, items, in_hand.iloc[0])


def _draw_answer(run: RunInfo, items: ItemSet, row: pd.Series[Any]) -> None:
    probe = next(probe for probe in run_probes(items, run).probes if probe.id == row["probe"])
    reason = literal(row["reason"].replace("_", " "))
    read = f"read as {literal(row['label'])}" if row["label"] else f"nothing could be read in it ({reason})"
    state = _IN_WORDS[row["state"]].capitalize()
    st.markdown(f"**{state}**: the right answer is {literal(row['expected'])}; {read}")
    st.code(row["text"], language=None, wrap_lines=True)
    if probe.details:
        st.caption(literal("; ".join(f"{name}: {value}" for name, value in probe.details.items())))
    for message in question_of(ChatSpec.of(run), probe).messages(row["wording"]):
        st.caption(literal(message.role))
        st.code(message.content, language=None, wrap_lines=True)


def _judging(run: RunInfo) -> Ask:
    def plans(llm: LLM, _: object) -> list[Plan]:
        return [judge_plan(resources.store(), run.id, session_model(), llm=llm)]

    return Ask("Have the answers judged", ASKING, "answer", lambda: True, plans)
