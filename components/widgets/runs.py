"""Runs on a page: the picker, their colours, and the link that opens the reader with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.app import resources
from components.app.choices import MOST_CHOICES, choice_of_run, choices_text
from components.widgets.chart import is_dark
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import ASPECTS, retriever_hue
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task


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
    """Query parameters of the reader: the instance at a sentence, with as many of the runs as it can show.

    Where ``more`` has no ``sentence``, it is the first that covers an aspect which a run missed, else any aspect.
    """
    values = {"dataset": dataset.name, "instance": instance_id, "task": task.name, **more}
    if "sentence" not in more and (first := _first_to_read(dataset, task, instance_id, runs)) is not None:
        values["sentence"] = str(first)
    return values | ({"r": choices_text([choice_of_run(run) for run in runs[:MOST_CHOICES]])} if runs else {})


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
