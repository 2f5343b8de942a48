"""A judge's run about a set: its labels as they came or corrected, and choosing one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from components.answers import cached
from components.answers.labels import Look, look_of
from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.answers.agreement import LABELS
from evidencebench_core.answers.judged import LABELLED, scale_of
from evidencebench_core.answers.model import Answer, AnswerSentence, unit_id
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.runs import ChatRunInfo, ChatRuns, Result

_OF_CITATIONS = "citations"
READABLE = (*LABELLED, "correctness")
"""Tasks of judges whose labels stand beside the sentences or citations that they are of."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge's run with its labels, those that people corrected in their place."""

    run: ChatRunInfo
    labels: Mapping[str, str | None]
    corrections: Mapping[str, str]

    @property
    def is_of_citations(self) -> bool:
        return bool(self.run.settings["task"] == _OF_CITATIONS)

    @property
    def can_be_corrected(self) -> bool:
        return self.run.settings["task"] in LABELLED

    def unit(self, answer: Answer, sentence: AnswerSentence, document: str = "") -> str:
        """The id of its label of a sentence, or of a citation in it; empty where it was not asked."""
        parts = (document,) if self.is_of_citations else ()
        unit = unit_id(answer.question_id, answer.system, sentence.id, *parts)
        return unit if unit in self.labels else ""

    def label(self, unit: str) -> str | None:
        """The label that counts."""
        return self.corrections.get(unit) or self.labels.get(unit)

    def look(self, answer: Answer, sentence: AnswerSentence, document: str = "") -> Look | None:
        """How its label is drawn; ``None`` where it was not asked."""
        unit = self.unit(answer, sentence, document)
        return look_of(self.label(unit)) if unit else None

    def result(self, unit: str) -> Result | None:
        """Its own words."""
        found = ChatRuns(resources.store()).results_between(self.run.id, unit, unit).get(unit)
        return None if isinstance(found, str) else found


def judges_of(info: AnswerSetInfo, *tasks: str) -> dict[str, ChatRunInfo]:
    """The runs about a set that ask one of these, by id, the newest first; those with something to show."""
    runs = ChatRuns(resources.store()).runs("answers", info.sha256)
    return {run.id: run for run in reversed(runs) if run.settings.get("task") in tasks and run.n_answered}


def judge_name(run: ChatRunInfo) -> str:
    by = f" by {run.settings['by']}" if "by" in run.settings else ""
    return f"{run.settings['model']}, {run.settings['task']}{by} ({run.id[:4]})"


def corrections_of(info: AnswerSetInfo) -> cached.Corrections:
    """People's corrections of judges' labels, by unit."""
    return tuple((mark.unit, mark.value) for mark in marks(resources.store(), info.sha256, "label"))


def judge_from(info: AnswerSetInfo, run: ChatRunInfo) -> Judge:
    """The run with its labels; corrections on another scale are of another judge."""
    labels, known = cached.judge_labels(run), LABELS[scale_of(run)]
    corrections = {unit: label for unit, label in corrections_of(info) if unit in labels and label in known}
    return Judge(run, labels, corrections if run.settings["task"] in LABELLED else {})


def picked_run(
    state: PageState,
    info: AnswerSetInfo,
    runs: Mapping[str, ChatRunInfo],
    none: str = "",
    reset: tuple[str, ...] = (),
) -> ChatRunInfo | None:
    """The run that the address names, with a picker; else the first, or none where ``none`` says what that is."""
    first = "" if none else next(iter(runs))
    wanted = state["run"] if state["run"] in runs else first
    warn_of_no_run(info, state["run"], "people's labels alone are" if none else "another is")
    st.selectbox(
        "Judge",
        ([""] if none else []) + list(runs),
        format_func=lambda one: judge_name(runs[one]) if one else none,
        width=360,
        **state.widget("run", wanted, part=none or "judge", reset=reset),
    )
    return runs.get(wanted)


def warn_of_no_run(info: AnswerSetInfo, run_id: str, instead: str) -> None:
    """Say that the address names a run which is not about the set; one of another kind is no mistake."""
    if run_id and all(run.id != run_id for run in ChatRuns(resources.store()).runs("answers", info.sha256)):
        st.warning(f"There is no run {literal(run_id, 80)} of a judge of these answers; {instead} shown.")
