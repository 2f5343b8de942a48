"""What came back from language models, counted by kind, for every run on the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.widgets.table import Column, Row, table
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

__all__ = ["OUTCOME_COLUMNS", "draw_outcomes"]

OUTCOME_COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    "selection": ("Selection", "A list of sentences that were shown"),
    "empty": ("Empty", "The model said that it chooses nothing"),
    "unknown": ("Not shown", "It chose, but only indices that it was not shown"),
    "no_list": ("No list", "It did not say what it chooses"),
    "refusal": ("Refused", "It declined to answer"),
    "cut_off": ("Cut off", "Its tokens ran out before it chose"),
    "failed": ("Failed", "The call got no answer; a resumed run tries again"),
    "partly": (
        "Part lost",
        "Selections without one section of the paper, or one point searched for: the answer about it was "
        "refused, cut off or without a list",
    ),
    "over": ("Over K", "Selections of more than K: scored by expectation"),
    "unknown_indices": ("Some not shown", "Instances with at least one index that was not shown"),
    "regenerated": ("Asked again", "Told once that it had chosen too many"),
}
"""By the keys of `OutcomeCounts.as_dict`: what a column is called, and what it says."""


def draw_outcomes(task: Task, runs: Sequence[RunInfo]) -> None:
    """One row a run that asked a model; nothing where there is none."""
    known = RunStore(resources.store())
    rows = []
    for run in runs:
        outcomes = known.outcomes(run.id).get(task.name)
        if outcomes is not None:
            counts = outcomes.as_dict()
            rows.append(Row(run.id, (run.label, *(counts[kind] for kind in OUTCOME_COLUMNS))))
    if not rows:
        return
    st.markdown("#### What came back from the models")
    table(
        (
            Column("run", "Run"),
            *(Column(kind, label, "number", says) for kind, (label, says) in OUTCOME_COLUMNS.items()),
        ),
        rows,
        key="outcomes",
        action="none",
        caption=f"What came back on {task.title}, in instances",
    )
    st.caption(
        "Numbers of instances. Without a selection an instance counts as answered with nothing, so it scores 0; "
        "failed calls are missing."
    )
