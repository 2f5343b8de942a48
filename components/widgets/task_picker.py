"""Choosing a task: the paper's five, or any K."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app.state import PageState
from evidencebench_core.tasks import TASKS, task_named

TASK_HELP: Final = (
    "How many sentences may be picked, and whether all study aspects count or the result aspects only. "
    "Optimal is the smallest number of sentences that cover them all, for each paper its own."
)
_ANY: Final = {"er@k": "ER@K, K of your own", "result-er@k": "Result-ER@K, K of your own"}


def task_picker(state: PageState, *, in_line: bool = False) -> None:
    """Choose the task of the address, which is a known one; ``in_line``: no label, and as narrow as may be."""
    task = task_named(state["task"])
    titles = {name: known.title for name, known in TASKS.items()} | _ANY
    any_k = "result-er@k" if task.focus == "results" else "er@k"
    shown = task.name if task.name in TASKS else any_k
    label: Final = "collapsed" if in_line else "visible"
    width: Final = "content" if in_line else "stretch"
    with st.container(horizontal=True, vertical_alignment="bottom", width=width):
        st.selectbox(
            "Task",
            list(titles),
            format_func=titles.__getitem__,
            help=TASK_HELP,
            label_visibility=label,
            width=210 if in_line else "stretch",
            **state.widget("task", shown, lambda option: option.replace("@k", "@8")),
        )
        if shown in _ANY and isinstance(task.budget, int):
            prefix = shown.removesuffix("k")
            st.number_input(
                "K",
                1,
                max(1000, task.budget),
                help="How many sentences may be picked",
                label_visibility=label,
                width=120,
                **state.widget("task", task.budget, lambda k: f"{prefix}{k}", part="k"),
            )
