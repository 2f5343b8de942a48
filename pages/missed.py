"""Missed aspects: the queue of a run's misses, and one of them looked into."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.app import resources
from components.app.page import dataset_picker, guard, name_window, tell_of_gold
from components.app.state import PageState
from components.missed.miss import draw_miss
from components.missed.misses import draw_filters, draw_queue, draw_shares, draw_summary
from components.missed.queue import QUEUE_DEFAULTS, Key, Queue, queue_from
from components.models.ranker.seen import tell_of_seen
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.task_picker import task_picker
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task, task_named

DEFAULTS = {
    "dataset": "",
    "run": "",
    "task": "result-er@optimal",
    "instance": "",
    "aspect": "",
    "sentence": "",
    "system": "",
    **QUEUE_DEFAULTS,
}


def draw(state: PageState) -> None:
    if not state["instance"]:
        st.title("Missed aspects")
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        chosen = _linked_run(state) if state["instance"] else _pickers(state)
    if chosen is None:
        return
    dataset, run, task = chosen
    if not run.tasks.get(task.name):
        has = " It has answers for:" if run.tasks else ""
        st.info(f"{literal(run.label)} has no answers for {literal(task.title)}.{has}")
        with st.container(horizontal=True):
            for name in run.tasks:
                if st.button(task_named(name).title):
                    state.put(task=name)
                    st.rerun()
        return
    if not state["instance"]:
        tell_of_seen([run])
    tell_of_gold(dataset)
    with st.spinner("Looking through the run …", show_time=True):
        queue = queue_from(state, dataset, run, task)
    if state["instance"]:
        name_window("Missed aspects", state["instance"])
        _one(state, dataset, queue)
    else:
        with controls:
            draw_filters(state, dataset, queue)
            copy_link(state.link("task", "run", dataset=dataset.name, run=run.id))
        _all(state, dataset, queue)


def _linked_run(state: PageState) -> tuple[DatasetInfo, RunInfo, Task] | None:
    """The dataset, run and task of a link to one miss."""
    dataset = resources.named_dataset(state["dataset"])
    if state["run"]:
        return dataset, resources.run(state["run"]), task_named(state["task"])
    runs = resources.runs(dataset)
    return (dataset, _first(runs), task_named(state["task"])) if runs else _pickers(state)


def _first(runs: Sequence[RunInfo]) -> RunInfo:
    """The run to begin with: one that has not seen the gold, if there is any."""
    return next((run for run in runs if run.retriever != "oracle" and not run.n_trained_on), runs[0])


def _pickers(state: PageState) -> tuple[DatasetInfo, RunInfo, Task] | None:
    dataset = dataset_picker(state)
    run = None if dataset is None else _run_picker(state, dataset)
    return None if dataset is None or run is None else (dataset, run, task_picker(state))


def _run_picker(state: PageState, dataset: DatasetInfo) -> RunInfo | None:
    runs = {run.id: run for run in resources.runs(dataset)}
    if not runs:
        st.info(
            f"Here you work through what a run missed: how near it was, what took its place, why. There is no run on "
            f"{literal(dataset.name)} yet."
        )
        if st.button("Start one on Runs", type="primary"):
            st.switch_page("pages/runs.py", query_params={"dataset": dataset.name})
        return None
    wanted, first = state["run"], _first(tuple(runs.values())).id
    if wanted and wanted not in runs:
        st.warning(f"There is no run {literal(wanted)} on {literal(dataset.name)}; another is shown.")
    wanted = wanted if wanted in runs else first
    st.selectbox(
        "Run",
        list(runs),
        format_func=lambda run_id: f"{runs[run_id].label} ({run_id[:6]})",
        **state.widget("run", wanted, reset=("page", "sentence", "system")),
    )
    return runs[wanted]


def _all(state: PageState, dataset: DatasetInfo, queue: Queue) -> None:
    draw_summary(state, queue)
    if not queue.n_missed:
        st.success("Nothing was missed.")
        return
    draw_queue(state, dataset, queue)
    draw_shares(state, queue)


def _one(state: PageState, dataset: DatasetInfo, queue: Queue) -> None:
    """The bar with the neighbours in the queue, and the miss."""
    here, n_shown = (state["instance"], state["aspect"]), len(queue.shown)
    place = queue.place_of(here)
    following = queue.key_at(place + 1) if place is not None and place + 1 < n_shown else None
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("All misses"):
            _open(state, ("", ""))
            st.rerun()
        st.button("Previous", disabled=not place, on_click=_step, args=(state, queue, -1))
        st.button("Next", disabled=following is None, on_click=_step, args=(state, queue, 1))
        where = f"Miss {place + 1:,} of {n_shown:,}" if place is not None else "Outside the current filter"
        run = f"{literal(queue.run.label)}, {literal(queue.task.title)}"
        st.caption(f"{where}, {queue.n_noted:,} noted · {run} · {literal(here[0])}")
        copy_link(state.link("task", "run", dataset=dataset.name, run=queue.run.id))
    draw_miss(state, dataset, queue, following)


def _step(state: PageState, queue: Queue, by: int) -> None:
    """Go on from what is open as the click arrives, which a fast one before it has changed."""
    place = queue.place_of((state["instance"], state["aspect"]))
    if place is not None and 0 <= place + by < len(queue.shown):
        _open(state, queue.key_at(place + by))


def _open(state: PageState, key: Key) -> None:
    state.put(instance=key[0], aspect=key[1], sentence=None, system=None)


with guard():
    draw(PageState("missed", DEFAULTS))
