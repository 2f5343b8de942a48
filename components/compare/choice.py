"""Which systems the page compares: runs over a dataset, or imported systems; and which two of them closely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.run_choice import answered_runs, chosen_of, run_multiselect
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo, imported_scores
from evidencebench_core.tasks import Task

__all__ = ["CHOICE_DEFAULTS", "MOST", "imported_picker", "pair_picker", "run_picker", "source_picker"]

CHOICE_DEFAULTS: Final = {"source": "runs", "runs": "", "imported": "", "a": "", "b": ""}
MOST: Final = 20
_AT_FIRST: Final = 10
_LARGE: Final = 5_000  # instances, from which on scoring ten runs takes a while
_SOURCES: Final = {"runs": "Runs", "imported": "Imported systems"}
_PAIR: Final = ("a", "b")


def source_picker(state: PageState) -> str:
    """``"runs"`` or ``"imported"``: never both, they stand on other instances."""
    source = state["source"] if state["source"] in _SOURCES else "runs"
    st.segmented_control(
        "Compare",
        list(_SOURCES),
        format_func=_SOURCES.__getitem__,
        help="Runs over a dataset of yours, or systems whose scores others computed on their own instances. "
        "One is never paired with the other.",
        **state.widget("source", source, lambda chosen: chosen or source, reset=_PAIR),
    )
    return source


def run_picker(state: PageState, dataset: DatasetInfo, task: Task) -> tuple[RunInfo, ...]:
    """The runs that the address names, else the first ten that have answers for the task (of many: three)."""
    there = answered_runs(dataset, task)
    if not there:
        st.info(
            f"No run has answers for {literal(task.title)} on {literal(dataset.name)} yet. This page sets runs "
            "against each other, pair by pair: differences with intervals, corrected p-values, and the aspects "
            "that only one of them found. The Leaderboard starts runs."
        )
        if st.button("Go to the Leaderboard", type="primary"):
            st.switch_page("pages/leaderboard.py", query_params={"dataset": dataset.name})
        return ()
    at_first = _AT_FIRST if dataset.n_instances < _LARGE else 3
    chosen = chosen_of(state, "runs", there, task, most=MOST, at_first=at_first)
    return run_multiselect(state, dataset, there, chosen, MOST, _PAIR)


def imported_picker(state: PageState, task: Task) -> tuple[str, ...]:
    """The imported systems that the address names, else the ten best of those that have scores for the task."""
    scores = sorted(imported_scores(resources.store(), task.name), key=lambda score: -sum(score.recalls))
    there = {score.name: score for score in scores}
    if not there:
        everything = imported_scores(resources.store())
        tasks = ", ".join(dict.fromkeys(score.task for score in everything))
        st.info(
            f"Nothing imported has scores for {literal(task.title)}; there are scores for {literal(tasks)}."
            if everything
            else "Nothing is imported yet. The command `evidencebench import-scores official_logs.csv` brings in "
            "the per-instance scores that the authors of EvidenceBench published of their systems (GPT-4o, "
            "Claude 3 Opus, BM25, ...), so that they can be compared pair by pair."
        )
        return ()
    chosen = chosen_of(state, "imported", there, task, most=MOST, at_first=_AT_FIRST)
    st.multiselect(
        f"Imported systems, up to {MOST}",
        list(there),
        max_selections=MOST,
        **state.widget("imported", chosen, list, reset=_PAIR),
    )
    return tuple(chosen)


def pair_picker(state: PageState, keys: Sequence[str], labels: Sequence[str]) -> tuple[str, str]:
    """The two systems to look at closely, A and B, of at least two."""
    names = dict(zip(keys, labels, strict=True))
    a = state["a"] if state["a"] in names else keys[0]
    others = [key for key in keys if key != a]
    b = state["b"] if state["b"] in others else others[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("A", list(keys), format_func=names.__getitem__, **state.widget("a", a))
        st.selectbox("B", others, format_func=names.__getitem__, **state.widget("b", b))
    return a, b
