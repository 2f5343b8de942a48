"""Bringing the answers of a system of one's own as a run."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.app.page import guarded_part
from components.app.session import flash
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.runs import import_run
from evidencebench_core.tasks import TASKS

_LARGEST: Final = 128  # MiB


@st.dialog("Import a run", width="medium")
@guarded_part("This dialog")
def import_dialog(dataset: DatasetInfo) -> None:
    """File, name, tasks and the button; what is wrong with the file is said here, and nothing is kept of it."""
    st.markdown(
        f"What your own system answered on {literal(dataset.name)}: a prediction file, with the selections for one "
        "task, or a TREC run, from whose rankings the selection for every task follows."
    )
    st.code(
        '{"instance id": [sentence index, ...], ...}\n\ninstance-id Q0 sentence-index rank score tag',
        language=None,
        wrap_lines=True,
    )
    given = st.file_uploader(
        f"Prediction file or TREC run, up to {_LARGEST} MiB", max_upload_size=_LARGEST, key="import.file"
    )
    name = st.text_input("Name of the run", max_chars=80, placeholder="my system", key="import.name")
    tasks = st.multiselect(
        "Tasks",
        list(TASKS),
        format_func=lambda task: TASKS[task].title,
        placeholder="those that the file serves",
        help="A file serves a task with a budget if every list in it is long enough. Name the task (--task) of "
        "selections that are shorter.",
        key="import.tasks",
    )
    replace = st.checkbox("Replace answers of the same name and task (--replace)", key="import.replace")
    longer = st.checkbox(
        "Allow longer selections (--allow-longer)",
        help="A selection of more than K is scored by expectation, as the benchmark does.",
        key="import.longer",
    )
    st.caption("What is in brackets is the option of the command `evidencebench import-run`.")
    pressed = st.button("Import", type="primary", disabled=not (given and name.strip()), key="import.start")
    if given is None or not pressed:
        return
    with tempfile.TemporaryDirectory() as folder, st.spinner("The file is being read …"):
        path = Path(folder) / (re.sub(r"[^\w.-]+", "_", given.name).lstrip(".")[-100:] or "file")
        path.write_bytes(given.getvalue())
        try:
            found = import_run(
                resources.store(), dataset.name, path, name, tasks, replace=replace, allow_longer=longer
            )
        except EvidenceBenchError as error:
            st.error(literal(str(error).replace(str(path), given.name)))
            return
    counts = ", ".join(f"{n:,} for {TASKS[task].title}" for task, n in found.answers.items())
    flash(f"{literal(found.run.label)}: answers imported, {counts}.")
    st.rerun()
