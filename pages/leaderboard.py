"""Leaderboard: the runs on a dataset with their intervals, and two of them compared."""

from __future__ import annotations

import streamlit as st

from components.app import resources
from components.app.page import dataset_picker, guard, tell_of_gold
from components.app.state import PageState
from components.leaderboard.comparison import draw_comparison
from components.leaderboard.import_run import import_dialog
from components.leaderboard.runs import draw_keeping, draw_published, draw_run_table
from components.leaderboard.start import run_dialog
from components.models.ranker.training import TRAIN
from components.widgets.copy_link import copy_link
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.task_picker import task_picker

DEFAULTS = {"dataset": "", "task": "er@optimal", "compare": ""}


def draw(state: PageState) -> None:
    st.title("Leaderboard")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = dataset_picker(state)
        if dataset is None:
            return
        task = task_picker(state)
        copy_link(state.link("task", dataset=dataset.name))
    runs = resources.runs(dataset)
    tell_of_gold(dataset, runs)
    with st.container(horizontal=True):
        if st.button("Start or resume a run", type="primary"):
            run_dialog(dataset, task)
        if st.button("Import a run"):
            import_dialog(dataset)
        draw_keeping(runs)
    job_panel("run", TRAIN)
    draw_run_table(state, dataset, task, runs)
    chosen = [run for run_id in state.many("compare") for run in runs if run.id == run_id]
    if gone := set(state.many("compare")) - {run.id for run in runs}:
        st.warning(f"The link compares what is not here (any more): run {literal(', '.join(sorted(gone)))}.")
    if len(chosen) == 2:
        draw_comparison(dataset, task, chosen[0], chosen[1])
    draw_published(task)


with guard():
    draw(PageState("leaderboard", DEFAULTS))
