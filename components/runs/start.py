"""Starting a run, resuming one, importing one, training the ranker: the dialogs and the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import problem_of
from components.app.jobs import Job
from components.app.session import flash, local_widget
from components.frame.upload import uploaded_path
from components.models.caps import closing_note, draw_caps
from components.models.plans import draw_chosen_server, draw_plans_cost, plan_steps, start_plans
from components.models.ranker import draw_ways_to_train, ranker_text
from components.models.retriever_picker import settings_fields
from components.models.server import session_model
from components.widgets.guarded import guarded_part
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo
from evidencebench_core.export.predictions import import_run
from evidencebench_core.llm import LLM
from evidencebench_core.retrievers import RETRIEVERS, fields_of, read_settings, retriever_entry, run_label
from evidencebench_core.runs import Plan, RunInfo, RunStore, Sample, plan
from evidencebench_core.tasks import TASKS, Task, task_named

_LARGEST: Final = 128  # MiB of an import


@dataclass(frozen=True)
class NewRun:
    """A retriever over a dataset, or what is left of such a run."""

    dataset: str
    retriever: str
    settings: Mapping[str, object]
    tasks: Sequence[Task]
    limit: int | None = None
    sample: Sample | None = None

    @property
    def asks_server(self) -> bool:
        return retriever_entry(self.retriever).asks_server

    def plans(self, llm: LLM | None) -> list[Plan]:
        """Its plan; that of a local retriever loads it."""
        store = resources.store()
        settings = (self.dataset, self.retriever, self.settings, self.tasks, self.limit)
        return [plan(store, *settings, sample=self.sample, llm=llm)]


@st.dialog("Start a run", width="medium")
@guarded_part("This dialog")
def start_dialog(dataset: DatasetInfo, task: Task) -> None:
    """Retriever, settings, tasks and the button."""
    name = st.selectbox(
        "Retriever", list(RETRIEVERS), index=list(RETRIEVERS).index("bm25"), key="run.retriever"
    )
    entry, settings = RETRIEVERS[name], dict[str, object]()
    st.caption(literal(entry.summary))
    if entry.asks_server:
        draw_chosen_server()
    if fields_of(entry.settings_class):

        def widget(setting: str, value: object) -> dict[str, object]:
            model = session_model() if setting == "model" and entry.asks_server else ""
            # The field is filled with the model of this session; with another model it is another field.
            return local_widget(f"run.{name}.{setting}.{model}", model or value)

        with st.expander("Settings", expanded=entry.asks_server and not session_model()):
            settings = settings_fields(name, widget)
    known = dict(TASKS) | {task.name: task}
    task_names = st.multiselect(
        "Tasks",
        list(known),
        default=[task_name for task_name, known_task in known.items() if known_task.budget is not None],
        format_func=lambda task_name: known[task_name].title,
        key=f"run.tasks.{task.name}",
    )

    def count(label: str, key: str) -> int | None:
        most = dataset.n_instances
        return st.number_input(label, 1, most, None, placeholder=f"all {most:,}", key=key)

    limit, n_drawn = count("Only the first", "run.limit"), count("A random sample of", "run.sample")
    tasks = [known[task_name] for task_name in task_names]
    new = NewRun(dataset.name, name, settings, tasks, limit, Sample(n_drawn) if n_drawn else None)
    _draw_start(new, "Start", is_ready=bool(task_names) and not (limit and n_drawn))


@st.dialog("Resume a run", width="medium")
@guarded_part("This dialog")
def resume_dialog(dataset: DatasetInfo, run: RunInfo, tasks: Sequence[Task]) -> None:
    """What is left of a run, what it costs where it asks a server, and the button."""
    titles = ", ".join(task.title for task in tasks)
    st.markdown(f"{literal(run.label)} on {literal(titles)}")
    _draw_start(NewRun(dataset.name, run.retriever, run.settings, tasks, sample=run.sample), "Resume")


def _draw_start(new: NewRun, label: str, is_ready: bool = True) -> None:
    """Caps and cost of what asks a server, and the button."""
    if new.asks_server:
        draw_caps()
        if not new.settings.get("model"):
            st.info("Choose a model first.")
            is_ready = False
        is_ready = is_ready and draw_plans_cost(new.plans, "instance")
    st.caption("The same settings on the same data are the same run: it goes on where it stopped.")
    if st.button(label, type="primary", disabled=not is_ready, key=f"run.{label}"):
        start_run(new)
        st.rerun()


def start_run(new: NewRun) -> Job:
    """Run it in the background; answers in the store are not asked again."""
    titles = ", ".join(task.title for task in new.tasks)
    full = read_settings(new.retriever, new.settings).values()
    title = f"{run_label(new.retriever, full, str(new.sample or ''))} on {new.dataset}: {titles}"
    if new.asks_server:
        return start_plans("run", title, new.plans, "instance")

    def work(job: Job) -> str:
        return closing_note(job, None, plan_steps(job, new.plans(None), "instance"))

    return resources.jobs().start(
        "run", f"{new.dataset}/{new.sample}/{new.retriever}/{sorted(full.items())}", title, work
    )


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
        placeholder="of rankings: all",
        key="import.tasks",
    )
    pressed = st.button("Import", type="primary", disabled=not (upload and name.strip()), key="import.start")
    if upload is None or not pressed:
        return
    with st.spinner("Reading the file …"), uploaded_path(upload) as path:
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
        "Run", list(by_id), format_func=lambda run_id: f"{by_id[run_id].label} ({run_id[:4]})", key="keep.run"
    )
    run, store = by_id[chosen], RunStore(resources.store())
    name = store.run(run.id).label  # without the warning of a trained one
    draw_rename(name, partial(store.rename, run), f"{run.id}.{name}")
    draw_delete(run.label, {"answer": run.n_answered}, partial(store.delete, run), run.id)


@st.dialog("Train the evidence ranker", width="medium")
@guarded_part("This dialog")
def train_dialog() -> None:
    """Which ranker is in use, and the ways to train one."""
    st.markdown(
        f"In use: {literal(ranker_text())}. One that is trained here, on papers whose evidence is marked, takes its "
        "place on this machine."
    )
    draw_ways_to_train()


def unfinished_tasks(run: RunInfo, dataset: DatasetInfo) -> list[Task]:
    """The tasks that a run has begun and not finished; none where nobody can go on with it."""
    wanted = {"all": dataset.n_instances, "results": dataset.n_result_instances}
    begun = [task for name, n in run.tasks.items() if 0 < n < wanted[(task := task_named(name)).focus]]
    begun = [task for task in begun if resources.run_score(run, task.name).n_missing]
    return [] if not begun or problem_of(run, resources.store()) else begun
