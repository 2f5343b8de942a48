"""A page: its name, the context line under it, and errors as one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.models.ranker import warn_of_trained_runs
from components.widgets.guarded import guarded_page
from components.widgets.markdown import literal
from components.widgets.task_picker import task_picker
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task, task_named

MOST_RUNS: Final = 20


@dataclass(frozen=True, slots=True)
class Context:
    """What a page is about; the same on every page until it is changed."""

    dataset: DatasetInfo
    task: Task
    runs: tuple[RunInfo, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Changes with the dataset's content, the task and the answers of the runs."""
        return self.dataset, self.task.name, self.runs


@contextmanager
def page(name: str, title: str = "", **defaults: str) -> Iterator[PageState]:
    """A page of the app, called by its url path; errors within it are shown as one line.

    ``title`` is its heading, empty for a page that draws its own; ``defaults`` are the values in its address beside
    dataset, task and runs::

        with page("runs", "Runs", a="", b="") as state:
            context = context_line(state, about="Runs side by side.", n_runs=10)
            report = cached_report("comparison", context.key, lambda: compare(...))
    """
    with guarded_page():
        if title:
            st.title(title)
        yield PageState(name, {"dataset": "", "task": "er@optimal", "runs": "", **defaults})


def context_line(state: PageState, about: str, *, n_runs: int = 0, most_runs: int = MOST_RUNS) -> Context:
    """Draw dataset, task and runs in one line; where no dataset is loaded, what the page is ``about``, and stop.

    ``n_runs`` are shown where none is chosen (0: the page has no runs), ``most_runs`` can be chosen.
    """
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        st.info(f"{about} No dataset is loaded yet.")
        if st.button("Load a dataset", type="primary"):
            st.switch_page("pages/home.py")
        st.stop()
    context = read_context(state, n_runs, most_runs)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="context"):
        st.selectbox(
            "Dataset",
            list(datasets),
            format_func=lambda name: f"{name} ({datasets[name].n_instances:,})",
            label_visibility="collapsed",
            width=300,
            **state.widget("dataset", context.dataset.name, reset=set(state.defaults) - {"dataset", "task"}),
        )
        task_picker(state, in_line=True)
        runs = {run.id: run for run in runs_with_answers(context.dataset)} if n_runs else {}
        if runs:
            st.multiselect(
                "Runs",
                list(runs),
                format_func=lambda run_id: f"{runs[run_id].label} ({run_id[:4]})",
                max_selections=most_runs,
                placeholder="Choose runs",
                label_visibility="collapsed",
                **state.widget("runs", [run.id for run in context.runs], tuple),
            )
    makers = resources.gold_makers(context.dataset)
    for note in (*context.dataset.gold_notes, *makers.notes(context.runs)):
        st.caption(literal(note))
    warn_of_trained_runs(context.runs)
    return context


def read_context(state: PageState, n_runs: int = 0, most_runs: int = MOST_RUNS) -> Context:
    """The context of the address, undrawn; what the address names and is not here is said once.

    ``UnknownNameError`` where no dataset is loaded. See `context_line` for the parameters.
    """
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        raise UnknownNameError("store", "holds no dataset", "Load one on Home.")
    name = state.dataset(next(iter(datasets)))
    if name not in datasets:
        st.warning(f"There is no dataset {literal(name, 80)} here (any more); another is shown.")
        state.put(dataset=None)
        name = state.dataset(next(iter(datasets)))
    dataset = datasets[name]
    try:
        task = task_named(state["task"])
    except SettingError as error:
        st.warning(literal(str(error)))
        state.put(task=None)
        task = task_named(state["task"])
    runs = {run.id: run for run in runs_with_answers(dataset)} if n_runs else {}
    named = state.many("runs")
    if n_runs and (gone := [run_id for run_id in named if run_id not in runs]):
        st.warning(f"There is no run {literal(', '.join(gone), 80)} on this dataset (any more).")
        state.put(runs=[run_id for run_id in named if run_id in runs])
    chosen = [runs[run_id] for run_id in named if run_id in runs][:most_runs]
    chosen = chosen or _first_runs(list(runs.values()), task)[:n_runs]
    return Context(dataset, task, tuple(run for run in chosen if run.n_answers(task)))


def runs_with_answers(dataset: DatasetInfo) -> list[RunInfo]:
    """The runs over a dataset that have any answer."""
    return [run for run in resources.runs(dataset) if run.n_answered]


def _first_runs(runs: Sequence[RunInfo], task: Task) -> list[RunInfo]:
    """Runs to begin with: those whose model has not seen the instances, and that lack few answers."""
    answered = [run for run in runs if run.n_answers(task)]
    unseen = [run for run in answered if not run.n_trained_on and run.retriever != "oracle"] or answered
    enough = 0.9 * max((run.n_answers(task) for run in unseen), default=0)
    return [run for run in unseen if run.n_answers(task) >= enough]


def percent(share: float | None, digits: int = 1) -> str:
    """``0.4567`` as ``45.7%``; a dash where there is no value."""
    return "–" if share is None or math.isnan(share) else f"{100 * share:.{digits}f}%"


def cached_report(name: str, key: tuple[object, ...], make: Callable[[], Report]) -> Report:
    """The report of ``make``, cached under a name and a key, which holds all datasets, runs and settings behind it.

    It is said that the page is computing meanwhile. Every caller gets a copy of its own.
    """
    with st.spinner("Computing …", show_time=True):
        return resources.report(name, key, make)


def show_notes(report: Report) -> None:
    """What a report stands on, folded."""
    if report.notes:
        with st.expander("What this stands on"):
            st.markdown("\n".join(f"- {literal(note)}" for note in report.notes))
