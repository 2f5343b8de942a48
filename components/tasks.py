"""The picker of tasks."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.state import PageState
from evidencebench_core.tasks import TASKS, task_named

TASK_HELP: Final = (
    "How many sentences may be picked, and whether all study aspects count or the result aspects only. "
    "Optimal is the smallest number of sentences that cover them all; it differs from paper to paper. A link may name "
    "any K: task=er@20."
)


def task_picker(state: PageState, *, in_line: bool = False) -> None:
    """Choose the task of the address, which is a known one; ``in_line``: no label, and as narrow as may be."""
    task = task_named(state["task"])
    titles = {name: known.title for name, known in TASKS.items()} | {task.name: task.title}
    st.selectbox(
        "Task",
        list(titles),
        format_func=titles.__getitem__,
        help=TASK_HELP,
        label_visibility="collapsed" if in_line else "visible",
        width=210 if in_line else "stretch",
        **state.widget("task", task.name),
    )
