"""The dialog that starts a run."""

from __future__ import annotations

import streamlit as st

from components.markdown import literal
from components.retriever_picker import settings_editor
from components.run_work import start_run
from components.state import remembered
from evidencebench_core.data import DatasetInfo
from evidencebench_core.retrievers import retriever_entries
from evidencebench_core.tasks import TASKS, Task

__all__ = ["run_dialog"]


@st.dialog("Start or resume a run", width="medium")
def run_dialog(dataset: DatasetInfo, task: Task) -> None:
    """Retriever, settings, tasks and the button; a run that was cancelled goes on from here."""
    entries = {name: entry for name, entry in retriever_entries().items() if entry.problem is None}
    name = st.selectbox("Retriever", list(entries), index=list(entries).index("bm25"), key="run.retriever")
    st.caption(literal(entries[name].summary))
    settings: dict[str, object] = {}
    if entries[name].settings:
        with st.expander("Settings"):
            settings = settings_editor(
                name, {}, lambda setting, value: remembered(f"run.{name}.{setting}", value)
            )
    known = dict(TASKS) | {task.name: task}
    tasks = st.multiselect(
        "Tasks",
        list(known),
        default=[t for t, asked in known.items() if asked.budget is not None],
        format_func=lambda task_name: known[task_name].title,
        key=f"run.tasks.{task.name}",
    )
    limit = st.number_input(
        "Only the first instances",
        min_value=1,
        max_value=dataset.n_instances,
        value=None,
        placeholder=f"all {dataset.n_instances:,}",
        key="run.limit",
    )
    st.caption(
        "The same settings on the same data are the same run: what is already answered is not asked again."
    )
    if st.button("Start", type="primary", disabled=not tasks, key="run.start"):
        start_run(dataset.name, name, settings, [known[t] for t in tasks], limit)
        st.rerun()
