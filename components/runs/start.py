"""Starting runs, resuming, importing, keeping them: the dialogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from components import resources
from components.ask import NewRun, RunAsk, new_run
from components.guarded import guarded_part
from components.markdown import literal
from components.retrievers import draw_settings, problem_of
from components.run_links import part_text, run_name
from components.sets import draw_rename_and_delete, uploaded_paths
from components.state import flash
from evidencebench_core.data import DatasetInfo
from evidencebench_core.export.predictions import import_run
from evidencebench_core.retrievers import RETRIEVERS
from evidencebench_core.runs import RunInfo, RunStore, Sample, plan
from evidencebench_core.tasks import TASKS, Task, task_named

_LARGEST: Final = 128  # MiB of an import


def start_ask(dataset: DatasetInfo, task: Task) -> RunAsk:
    known = dict(TASKS) | {task.name: task}
    usual = [name for name, known_task in known.items() if known_task.budget is not None]

    def fields() -> list[NewRun] | None:
        names = st.multiselect("Retrievers", list(RETRIEVERS), default=["bm25"], key="run.retrievers")
        settings = {name: draw_settings(name) for name in names}
        task_names = st.multiselect(
            "Tasks",
            list(known),
            default=usual,
            format_func=lambda name: known[name].title,
            key=f"run.tasks.{task.name}",
        )
        most = dataset.n_instances
        n_drawn = st.number_input(
            "A random sample of", 1, most, None, placeholder=f"all {most:,}", key="run.sample"
        )
        if not names or not task_names:
            return None
        new = partial(
            plan,
            dataset=dataset.name,
            tasks=[known[name] for name in task_names],
            sample=Sample(n_drawn) if n_drawn else None,
        )
        return [partial(new, retriever=name, settings=settings[name]) for name in names]

    return RunAsk("Start runs", "run", fields)


def resume_ask(unfinished: Mapping[RunInfo, Sequence[Task]]) -> RunAsk:
    by_id = {run.id: run for run in unfinished}

    def fields() -> list[NewRun] | None:
        chosen = st.multiselect(
            "Runs",
            list(by_id),
            default=list(by_id),
            format_func=lambda run_id: run_name(by_id[run_id]),
            key="resume.runs",
        )
        return [new_run(by_id[run_id], unfinished[by_id[run_id]]) for run_id in chosen] or None

    return RunAsk("Resume runs", "run", fields)


@st.dialog("Import a run", width="medium")
@guarded_part("This dialog")
def import_dialog(dataset: DatasetInfo) -> None:
    """File, name, tasks and the button; nothing is kept of a file that cannot be read."""
    st.markdown(
        f"Answers of your own system on {literal(dataset.name)}: selections for one task, or rankings, as "
        "scores or as a TREC run, which serve every task."
    )
    st.code(
        '{"instance id": [sentence index, ...], ...}\n{"instance id": {"sentence index": score, ...}, ...}\n'
        "instance-id Q0 sentence-index rank score tag",
        language=None,
        wrap_lines=True,
    )
    upload = st.file_uploader("Prediction file or TREC run", max_upload_size=_LARGEST, key="import.file")
    name = st.text_input("Name of the run", max_chars=80, placeholder="my system", key="import.name")
    tasks = st.multiselect(
        "Tasks",
        list(TASKS),
        format_func=lambda task: TASKS[task].title,
        placeholder="all, where the file has rankings",
        key="import.tasks",
    )
    pressed = st.button("Import", type="primary", disabled=not (upload and name.strip()), key="import.start")
    if upload is None or not pressed:
        return
    with st.spinner("Reading the file …"), uploaded_paths(upload) as (path,):
        imported = import_run(resources.store(), dataset.name, path, name, tasks)
        counts = ", ".join(f"{n:,} for {task_named(task).title}" for task, n in imported.tasks.items())
        flash(f"{literal(imported.label)}: answers imported, {counts}.")
        st.rerun()


@st.dialog("Rename or delete a run", width="medium")
@guarded_part("This dialog")
def keeping_dialog(runs: Sequence[RunInfo]) -> None:
    """One of the runs: its name, and what goes with it."""
    by_id = {run.id: run for run in runs}
    chosen = st.selectbox(
        "Run", list(by_id), format_func=lambda run_id: run_name(by_id[run_id]), key="keep.run"
    )
    run, store = by_id[chosen], RunStore(resources.store())
    name = store.run(run.id).label  # without the warning of a trained one
    rename, delete = partial(store.rename, run), partial(store.delete, run)
    draw_rename_and_delete(name, rename, delete, {"answer": run.n_answered}, f"{run.id}.{name}")


def unfinished(runs: Sequence[RunInfo]) -> dict[RunInfo, list[Task]]:
    """The runs that have begun tasks and not finished them, without those that nobody can go on with, or that run."""
    under_way = resources.jobs().under_way("run")
    begun: dict[RunInfo, list[Task]] = {}
    for run in runs:
        tasks = [task_named(name) for name in run.tasks if part_text(run, name)]
        if tasks and run.id not in under_way and not problem_of(run, resources.store()):
            begun[run] = tasks
    return begun
