"""A page: its name, the context line under it, its address, and errors as one line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import streamlit as st

from components import resources
from components.component import component
from components.guarded import guarded_page
from components.markdown import literal
from components.run_links import first_runs, parts_text, run_name
from components.state import PageState, open_later
from components.tasks import task_picker
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.missed import missed
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.runs import RunInfo
from evidencebench_core.stats import FEW_PAPERS, interval_note
from evidencebench_core.tasks import Task, task_named

MOST_RUNS: Final = 20
_address: Final = component("address", Path(__file__).parent, "")


@dataclass(frozen=True, slots=True)
class Context:
    """What a page is about; the same on every page until it is changed."""

    dataset: DatasetInfo
    task: Task
    runs: tuple[RunInfo, ...] = ()  # those chosen, with answers for the task
    all_runs: tuple[RunInfo, ...] = ()  # over the dataset, as the store has them; () on a page without runs


@contextmanager
def page(name: str, title: str = "", quiet: Sequence[str] = (), **defaults: str) -> Iterator[PageState]:
    """A page of the app, called by its url path; errors within it are shown as one line.

    ``title`` is its heading, empty for a page that draws its own; ``defaults`` are the values in its address beside
    dataset, task and runs, the ``quiet`` ones no steps of the browser's history.
    """
    with guarded_page():
        if title:
            st.title(title)
        state = PageState(name, {"dataset": "", "task": "er@optimal", "runs": "", **defaults}, quiet)
        yield state
        if quiet:  # into the address, in place of those that were there
            values = {name: "" if state[name] == state.defaults[name] else state[name] for name in quiet}
            _address(key="address", data={"page": state.page, "values": values})


def context_line(state: PageState, about: str, *, n_runs: int = 0) -> Context:
    """Draw dataset, task and runs in one line; where no dataset is loaded, what the page is ``about``, and stop.

    ``n_runs`` are shown where none is chosen (0: the page has no runs).
    """
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        st.info(f"{about} No dataset is loaded yet.")
        st.button("Load a dataset", type="primary", on_click=open_later, args=("home", {}))
        st.stop()
    context = read_context(state, n_runs)
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
        if n_runs:
            runs_picker(state, context, label_visibility="collapsed")
    makers = resources.gold_makers(context.dataset)
    for note in (*context.dataset.gold_notes, *makers.notes(context.runs)):
        st.caption(literal(note))
    return context


def runs_picker(state: PageState, context: Context, **look: Any) -> None:
    """Choose runs; nothing where there is none. They hold on every page."""
    runs = {run.id: run_name(run) for run in context.all_runs if run.n_answered}
    chosen = list(state.many("runs") or [run.id for run in context.runs])  # those without an answer, too
    if runs:
        st.multiselect(
            "Runs",
            list(runs),
            format_func=runs.__getitem__,
            max_selections=MOST_RUNS,
            placeholder="Choose runs",
            **look,
            **state.widget("runs", chosen[:MOST_RUNS], tuple),
        )


def read_context(state: PageState, n_runs: int = 0) -> Context:
    """The context of the address, undrawn; what the address names and is not here is said once.

    ``UnknownNameError`` where no dataset is loaded. See `context_line` for the parameter.
    """
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        raise UnknownNameError("the store", "holds no dataset", "Load one on Home.")
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
    all_runs = resources.runs(dataset) if n_runs else ()
    runs = {run.id: run for run in all_runs if run.n_answered}
    named = state.many("runs")
    if n_runs and (gone := [run_id for run_id in named if run_id not in runs]):
        st.warning(f"There is no run {literal(', '.join(gone), 80)} on this dataset (any more).")
        state.put(runs=[run_id for run_id in named if run_id in runs])
    chosen = [runs[run_id] for run_id in named if run_id in runs][:MOST_RUNS]
    chosen = chosen or first_runs(list(runs.values()), task, n_runs)
    return Context(dataset, task, tuple(run for run in chosen if run.n_answers(task)), all_runs)


def draw_finding(context: Context, text: str) -> None:
    """A finding in one sentence, and whether it stands on too few papers; none of part of a run."""
    if parts := parts_text(context.runs, context.task):
        text = f"Nothing to conclude yet: {parts} answered."
    st.markdown(f"## {literal(text)}")
    n_papers = context.dataset.n_papers
    if n_papers < FEW_PAPERS:
        st.markdown(f":material/warning: {literal(interval_note(n_papers))}.")


def percent(share: float | None, digits: int = 1) -> str:
    """``0.4567`` as ``45.7%``; a dash where there is no value."""
    return "–" if share is None or math.isnan(share) else f"{100 * share:.{digits}f}%"


def missed_report(context: Context, run: RunInfo) -> Report:
    """Every aspect that a run missed on the task."""
    return resources.report(missed, run, context.task, results_only=False)
