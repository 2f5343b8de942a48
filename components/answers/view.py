"""A set of answers with its labels, as the page Answers shows them."""

from __future__ import annotations

from collections.abc import Mapping

from components import resources
from components.controls import option_box
from components.state import PageState
from evidencebench_core.analyses import Report
from evidencebench_core.answers.agreement import SCALES
from evidencebench_core.answers.judging import judge_labels
from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.answers.report import answers_report
from evidencebench_core.answers.store import AnswerSetInfo, marks, stored_answers
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunInfo, RunStore, judge_runs


@resources.cached(entries=4, spinner="Reading the answers …")
def answers_of(name: str, sha256: str) -> AnswerSet:
    return stored_answers(resources.store(), name)


def report_of(name: str, judge: str, metric: str, key: tuple[object, ...]) -> Report:
    """What ``answers score`` prints of a set or a run; by people's labels where no judge is named."""
    try:
        return resources.report(answers_report, name, judge or None, metric or None, also=key)
    except SettingError:  # the metric exists only for other labels
        return resources.report(answers_report, name, judge or None, also=key)


@resources.cached(entries=16)
def labels_of(run: RunInfo) -> Mapping[str, str | None]:
    return judge_labels(resources.store(), run)


def key_of(info: AnswerSetInfo) -> tuple[object, ...]:
    """Changes with every judgement and decision."""
    store = resources.store()
    stamps = [run.stamp for run in judge_runs(store, info.sha256)]
    return (info.sha256, *stamps, *((unit, mark.label) for unit, mark in marks(store, info.sha256).items()))


def judges_of(info: AnswerSetInfo, *tasks: str) -> dict[str, RunInfo]:
    runs = judge_runs(resources.store(), info.sha256)
    return {run.id: run for run in runs if run.n_answered and run.settings["task"] in tasks}


def judge_picker(state: PageState, info: AnswerSetInfo, *first: str) -> RunInfo | None:
    """The chosen judge; ``None`` where there is none, or ``first`` is chosen."""
    runs = judges_of(info, *SCALES)
    if not runs:
        return None
    labels = {run_id: f"{run.settings['model']}, {run.settings['task']}" for run_id, run in runs.items()}
    return runs.get(option_box(state, "run", "Judge", dict.fromkeys(first, "none") | labels, reset=("unit",)))


def words_of(run: RunInfo, unit: str) -> str:
    """The model's answer to a question, or why there is none."""
    result = RunStore(resources.store()).results(run.id, between=(unit, unit))[unit]
    return result if isinstance(result, str) else str(result.get("text", ""))
