"""Runs on a page: the picker, their colours, and the link that opens the reader with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from components.app import resources
from components.app.choices import MOST_CHOICES, choice_of_run, choices_text
from components.app.state import PageState
from components.models.ranker.seen import tell_of_seen
from components.widgets.chart import is_dark
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import ASPECTS, retriever_hue
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task


def answer_key(runs: Iterable[RunInfo], task: Task) -> tuple[object, ...]:
    """The part of a report's key that changes with the answers for a task."""
    return tuple(
        (run.id, run.label, run.created_at, run.tasks.get(task.name, 0), run.n_failed, run.n_trained_on)
        for run in runs
    )


def chosen_of(
    state: PageState, param: str, there: Iterable[str], task: Task, *, most: int, at_first: Sequence[str]
) -> list[str]:
    """The names in the address that are there, else those ``at_first``; the others are reported."""
    known, named = list(there), state.many(param)
    for gone in [name for name in named if name not in known]:
        st.warning(f"{literal(gone)} has no answers for {literal(task.title)} here; it is left out.")
    return [name for name in named if name in known][:most] or list(at_first)


def run_picker(
    state: PageState,
    dataset: DatasetInfo,
    task: Task,
    *,
    most: int,
    at_first: int,
    reset: Sequence[str],
    empty: str,
) -> tuple[RunInfo, ...]:
    """The runs of the address that have answers for the task, else the first ``at_first``, with a picker.

    One whose model has seen the instances is among the first only where there is no other, and one that lacks
    many answers only where there are not two others: a comparison is over the instances that all have answered.
    """
    there = {run.id: run for run in resources.runs(dataset) if run.tasks.get(task.name)}
    if not there:
        st.info(f"No run has answers for {literal(task.title)} on {literal(dataset.name)} yet. {empty}")
        return ()
    unseen = [run for run in there.values() if not run.n_trained_on] or list(there.values())
    enough = 0.9 * max(run.tasks[task.name] for run in unseen)
    full = [run for run in unseen if run.tasks[task.name] >= enough]
    first = [run.id for run in (full if len(full) > 1 else unseen)][:at_first]
    chosen = chosen_of(state, "runs", there, task, most=most, at_first=first)
    st.multiselect(
        f"Runs, up to {most}",
        list(there),
        format_func=lambda run_id: f"{there[run_id].label} ({run_id[:4]})",
        max_selections=most,
        **state.widget("runs", chosen, list, reset=reset),
    )
    runs = tuple(there[run_id] for run_id in chosen)
    tell_of_seen(runs)
    return runs


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
    answers = [store.retrieval(run.id, task.name, instance_id) for run in runs[:MOST_CHOICES]]
    missed = [
        [sentences for sentences in covers if sentences.isdisjoint(answer.selection)]
        for answer in answers
        if answer is not None
    ]
    return next((min(frozenset().union(*some)) for some in (*missed, covers) if any(some)), None)


def first_instances(dataset: DatasetInfo, key: str, help_text: str | None = None) -> int | None:
    """A field for the first so many; ``None``, which is how it starts: all."""
    return first_few("instances", dataset.n_instances, key, help_text)


def first_few(noun: str, n: int, key: str, help_text: str | None = None) -> int | None:
    """The same of other things."""
    return st.number_input(
        f"Only the first {noun}",
        min_value=1,
        max_value=max(1, n),
        value=None,
        placeholder=f"all {n:,}",
        help=help_text,
        key=key,
    )
