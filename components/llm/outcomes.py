"""What came back from language models, counted by kind, for every run on the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import resources
from components.table import Column, Row, table
from evidencebench_core.retrievers.llm import OUTCOME_KINDS
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

__all__ = ["draw_outcomes"]

_NAMES = {
    "selection": ("Selection", "A list of sentences that were shown"),
    "empty": ("Empty", "The model said that it chooses nothing"),
    "unknown": ("Not shown", "It chose, but only indices that it was not shown"),
    "no_list": ("No list", "It did not say what it chooses"),
    "refusal": ("Refused", "It declined to answer"),
    "cut_off": ("Cut off", "Its tokens ran out before it chose"),
    "failed": ("Failed", "The call got no answer; a resumed run tries again"),
}


def draw_outcomes(task: Task, runs: Sequence[RunInfo]) -> None:
    """One row a run that asked a model; nothing where there is none."""
    known = RunStore(resources.store())
    rows = []
    for run in runs:
        counts = known.outcomes(run.id).get(task.name)
        if counts is None:
            continue
        kinds = [counts.kinds.get(kind, 0) for kind in OUTCOME_KINDS]
        rows.append(Row(run.id, (run.label, *kinds, counts.over, counts.unknown_indices, counts.regenerated)))
    if not rows:
        return
    st.markdown("#### What came back from the models")
    columns = (
        Column("run", "Run"),
        *(
            Column(kind, label, "number", help_text)
            for kind, (label, help_text) in ((kind, _NAMES.get(kind, (kind, ""))) for kind in OUTCOME_KINDS)
        ),
        Column("over", "Over K", "number", "Selections of more than K: scored by expectation"),
        Column("some", "Some not shown", "number", "Instances with at least one index that was not shown"),
        Column("again", "Asked again", "number", "Told once that it had chosen too many"),
    )
    table(
        columns,
        rows,
        key="outcomes",
        action="none",
        caption=f"What came back on {task.title}, in instances",
    )
    st.caption(
        "Numbers of instances. Without a selection an instance counts as answered with nothing, so it scores 0; "
        "failed calls are missing."
    )
