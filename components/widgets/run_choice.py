"""Choosing among what has answers for a task: what the address names of it, and the picker of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.models.ranker.seen import seen_mark, tell_of_seen
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

__all__ = ["answered_runs", "chosen_of", "run_multiselect"]


def answered_runs(dataset: DatasetInfo, task: Task) -> Mapping[str, RunInfo]:
    """By id the runs that have answers for a task."""
    return {run.id: run for run in resources.runs(dataset) if run.tasks.get(task.name)}


def chosen_of(
    state: PageState, param: str, there: Iterable[str], task: Task, *, most: int, at_first: int
) -> list[str]:
    """What the address names of what is there, else the first of it; what is not there is said."""
    known, named = list(there), state.many(param)
    for gone in [name for name in named if name not in known]:
        st.warning(f"{literal(gone)} has no answers for {literal(task.title)} here; it is left out.")
    return [name for name in named if name in known][:most] or known[:at_first]


def run_multiselect(
    state: PageState,
    dataset: DatasetInfo,
    there: Mapping[str, RunInfo],
    chosen: Sequence[str],
    most: int,
    reset: Sequence[str],
) -> tuple[RunInfo, ...]:
    """The chosen runs, with a picker that changes ``runs`` of the state and takes back ``reset``."""
    st.multiselect(
        f"Runs, up to {most}",
        list(there),
        format_func=lambda run_id: f"{there[run_id].label} ({run_id[:4]}){seen_mark(there[run_id])}",
        max_selections=most,
        **state.widget("runs", list(chosen), list, reset=reset),
    )
    runs = tuple(there[run_id] for run_id in chosen)
    tell_of_seen(dataset, runs)
    return runs
