"""Runs on a page: their names and colours, those to begin with, and the link that opens the reader with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from components.app import resources
from components.app.choices import MOST_CHOICES
from components.app.state import chosen_context
from components.widgets.chart import is_dark
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import ASPECTS, retriever_hue
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

READ_RUNS: Final = 3  # that Browse and Analyse begin with


def run_name(run: RunInfo) -> str:
    """``bm25 (31b8)``: tells runs of one retriever apart."""
    return f"{run.label} ({run.id[:4]})"


def runs_with_answers(dataset: DatasetInfo) -> list[RunInfo]:
    """The runs over a dataset that have any answer."""
    return [run for run in resources.runs(dataset) if run.n_answered]


def first_runs(runs: Sequence[RunInfo], task: Task, n_runs: int) -> list[RunInfo]:
    """Runs to begin with: those whose model has not seen the instances, and that lack few answers."""
    answered = [run for run in runs if run.n_answers(task)]
    unseen = [run for run in answered if not run.n_trained_on and run.retriever != "oracle"] or answered
    enough = 0.9 * max((run.n_answers(task) for run in unseen), default=0)
    return [run for run in unseen if run.n_answers(task) >= enough][:n_runs]


def run_colours(runs: Sequence[RunInfo]) -> Mapping[str, str]:
    """By run id the retriever's colour; a second run of a retriever gets a colour that is still free."""
    taken: list[str] = []
    for run in runs:
        free = [hue.on(is_dark()) for hue in (retriever_hue(run.retriever), *ASPECTS)]
        taken.append(next((colour for colour in free if colour not in taken), free[0]))
    return dict(zip([run.id for run in runs], taken, strict=True))


def reader_link(
    dataset: DatasetInfo, task: Task, instance_id: str, runs: Sequence[RunInfo], **more: str
) -> dict[str, str]:
    """Query parameters of the reader: the instance at a sentence, the first of the runs marked in the paper.

    The runs chosen on the page before stay chosen; the given ones go before them where the reader would not show
    them all. Where ``more`` has no ``sentence``, it is the first that covers an aspect which a run missed, else any
    aspect.
    """
    values = {"dataset": dataset.name, "instance": instance_id, "task": task.name, **more}
    if "sentence" not in more and (first := _first_to_read(dataset, task, instance_id, runs)) is not None:
        values["sentence"] = str(first)
    chosen = [run_id for run_id in chosen_context("runs").split(",") if run_id]
    shown = chosen or [run.id for run in first_runs(runs_with_answers(dataset), task, READ_RUNS)]
    given = [run.id for run in runs[:MOST_CHOICES]]
    if not set(given) <= set(shown[:MOST_CHOICES]):
        shown = [*given, *(run_id for run_id in chosen if run_id not in given)]
        values["runs"] = ",".join(shown)
    if given and shown.index(given[0]):
        values["system"] = str(shown.index(given[0]))
    return values


def _first_to_read(dataset: DatasetInfo, task: Task, instance_id: str, runs: Sequence[RunInfo]) -> int | None:
    covers = resources.instance(dataset, instance_id).evidence.covers(task.focus)
    store = RunStore(resources.store())
    answers = [store.retrieval(run, task, instance_id) for run in runs[:MOST_CHOICES]]
    missed = [
        [sentences for sentences in covers if sentences.isdisjoint(answer.selection)]
        for answer in answers
        if answer is not None
    ]
    return next((min(frozenset().union(*some)) for some in (*missed, covers) if any(some)), None)
