"""Compare: any number of runs against each other, and two of them closely."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from components.app import resources
from components.app.page import dataset_picker, guard
from components.app.state import PageState
from components.compare.pair import draw_disagreements, draw_forest, draw_slices, draw_verdict
from components.compare.rankings import RANKING_DEFAULTS, draw_divergence
from components.compare.systems import (
    CHOICE_DEFAULTS,
    chosen_pair,
    chosen_runs,
    draw_matrix,
    draw_pair_picker,
    draw_pairs,
)
from components.widgets.copy_link import copy_link
from components.widgets.runs import answer_key, resamples
from components.widgets.task_picker import task_picker
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.comparison import comparison
from evidencebench_core.analyses.slices import SECTIONS_UP_TO, slice_report, slices_of
from evidencebench_core.analyses.systems import Systems
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

DEFAULTS = {
    "dataset": "",
    "task": "er@optimal",
    "outcome": "only A",
    "aspects": "",
    "family": "",
    "slice": "",
    **RANKING_DEFAULTS,
    **CHOICE_DEFAULTS,
}


def draw(state: PageState) -> None:
    st.title("Compare")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = dataset_picker(state)
        if dataset is None:
            return
        task = task_picker(state)
        copy_link(state.link("task", dataset=dataset.name))
    _runs(state, dataset, task)


def _runs(state: PageState, dataset: DatasetInfo, task: Task) -> None:
    runs = chosen_runs(state, dataset, task)
    if not runs:
        return
    key = (dataset.version, task.name, answer_key(runs, task))
    report = resources.report(
        "comparison",
        key,
        lambda: comparison(resources.systems(runs, task.name), n_resamples=resamples(dataset)),
    )
    seen = {run.id for run in runs if run.retriever == "oracle" or run.n_trained_on}
    chosen = _closely(state, report, seen)
    if chosen is None:
        return
    a, b = (next(run for run in runs if run.id == key) for key in chosen)
    if (
        dataset.n_instances < SECTIONS_UP_TO
        or state["aspects"]
        or st.button("Look at the rankings and aspects of all papers")
    ):
        state.put(aspects="1" if dataset.n_instances >= SECTIONS_UP_TO else None)
        _rankings(state, dataset, task, (a, b))
    st.markdown("### Slice by slice")
    both = resources.systems(runs, task.name).only(b.id, a.id)
    sliced = resources.report("slices", (key, both.keys), lambda: _slices(dataset, task, both))
    draw_slices(state, dataset, task, sliced, (a, b))


def _rankings(state: PageState, dataset: DatasetInfo, task: Task, runs: tuple[RunInfo, RunInfo]) -> None:
    st.markdown("### Rankings side by side")
    draw_divergence(state, dataset, task, runs)
    st.markdown("### Disagreements, aspect by aspect")
    draw_disagreements(state, dataset, task, runs)


def _closely(state: PageState, report: Report, seen: Collection[str] = ()) -> tuple[str, str] | None:
    """The whole comparison, then A against B; what is chosen as A and B, if there are two at all.

    At first the best two are, but those that have ``seen`` the gold only where there are no others.
    """
    systems = report.tables["systems"]
    if not int(systems["n"].iloc[0]):
        st.info(
            "No instance is scored in all of these runs, so there is nothing to pair. Take fewer of them."
        )
        return None
    if len(systems) < 2:
        st.info("Choose a second one: this page compares.")
        return None
    ranked = systems.sort_values("recall", ascending=False, kind="stable")
    seen_last = ranked.iloc[ranked["system"].isin(seen).argsort(kind="stable")]
    labels = dict(zip(seen_last["system"], seen_last["label"], strict=True))
    a, b = chosen_pair(state, list(labels))
    draw_matrix(state, report, (a, b))
    st.markdown("## Two of them closely")
    draw_pair_picker(state, labels, (a, b))
    draw_verdict(report, a, b)
    draw_forest(state, report, a, b)
    with st.expander("Every pair in figures", on_change="rerun") as fold:
        if fold.open:
            draw_pairs(state, report, (a, b))
    return a, b


def _slices(dataset: DatasetInfo, task: Task, systems: Systems) -> Report:
    families, notes = slices_of(resources.store(), dataset.name, systems.ids, task)
    listed = len(systems.ids) <= SECTIONS_UP_TO
    return slice_report(systems, families, notes, instances=listed)


with guard():
    draw(PageState("compare", DEFAULTS))
