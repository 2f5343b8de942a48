"""Starting a run, resuming one, importing one, training the ranker: the dialogs and the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice, problem_of
from components.app.jobs import Job
from components.app.page import guarded_part
from components.app.session import flash, local_widget
from components.frame.upload import uploaded_path
from components.models.caps import closing_note, draw_caps, session_budget, session_llm
from components.models.plans import draw_chosen_server, draw_plans_cost
from components.models.ranker import draw_ways_to_train, offer_training
from components.models.server import session_model
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from components.widgets.retriever_picker import settings_fields
from evidencebench_core.data import DatasetInfo
from evidencebench_core.llm import LLM
from evidencebench_core.retrievers import RETRIEVERS, full_settings, retriever_entry
from evidencebench_core.retrievers.ranker.model_file import trained_model
from evidencebench_core.runs import (
    Plan,
    RunInfo,
    RunStore,
    execute,
    import_run,
    plan,
    run_label,
)
from evidencebench_core.tasks import TASKS, Task, task_named

_LARGEST: Final = 128  # MiB of an import


@st.dialog("Start a run", width="medium")
@guarded_part("This dialog")
def start_dialog(dataset: DatasetInfo, task: Task) -> None:
    """Retriever, settings, tasks and the button."""
    entries = RETRIEVERS
    name = st.selectbox("Retriever", list(entries), index=list(entries).index("bm25"), key="run.retriever")
    st.caption(literal(entries[name].summary))
    asks_server, settings = entries[name].asks_server, dict[str, object]()
    if asks_server:
        draw_chosen_server()
    if entries[name].settings:

        def widget(setting: str, value: object) -> dict[str, object]:
            first = session_model() or value if setting == "model" and asks_server else value
            return local_widget(f"run.{name}.{setting}", first)

        with st.expander("Settings", expanded=asks_server and not session_model()):
            settings = settings_fields(name, {}, widget)
    known = dict(TASKS) | {task.name: task}
    names = st.multiselect(
        "Tasks",
        list(known),
        default=[t for t, known_task in known.items() if known_task.budget is not None],
        format_func=lambda task_name: known[task_name].title,
        key=f"run.tasks.{task.name}",
    )
    tasks = [known[task_name] for task_name in names]
    limit = st.number_input(
        "Only the first instances",
        min_value=1,
        max_value=dataset.n_instances,
        value=None,
        placeholder=f"all {dataset.n_instances:,}",
        key="run.limit",
    )
    ready = bool(tasks) and not offer_training([Choice(name, settings)], in_dialog=True)
    if asks_server:
        draw_caps()
        if not settings.get("model"):
            st.info("Choose a model first.")
        ready = (
            ready and bool(settings.get("model")) and _draw_cost(dataset.name, name, settings, tasks, limit)
        )
    st.caption("The same settings on the same data are the same run: it goes on where it stopped.")
    if st.button("Start", type="primary", disabled=not ready, key="run.start"):
        start_run(dataset.name, name, settings, tasks, limit)
        st.rerun()


@st.dialog("Resume a run", width="medium")
@guarded_part("This dialog")
def resume_dialog(dataset: DatasetInfo, run: RunInfo, tasks: Sequence[Task]) -> None:
    """What is left of a run, what it costs where it asks a server, and the button."""
    titles = ", ".join(task.title for task in tasks)
    st.markdown(f"{literal(run.label)} on {literal(titles)}")
    ready = True
    if retriever_entry(run.retriever).asks_server:
        draw_caps()
        ready = _draw_cost(dataset.name, run.retriever, run.settings, tasks, None)
    if st.button("Resume", type="primary", disabled=not ready, key="run.resume"):
        start_run(dataset.name, run.retriever, run.settings, tasks)
        st.rerun()


@st.dialog("Import a run", width="medium")
@guarded_part("This dialog")
def import_dialog(dataset: DatasetInfo) -> None:
    """File, name, tasks and the button; nothing is kept of a file that cannot be read."""
    st.markdown(
        f"Answers of your own system on {literal(dataset.name)}: a prediction file with the selections for one "
        "task, or a TREC run, whose rankings serve every task."
    )
    st.code(
        '{"instance id": [sentence index, ...], ...}\n\ninstance-id Q0 sentence-index rank score tag',
        language=None,
    )
    upload = st.file_uploader("Prediction file or TREC run", max_upload_size=_LARGEST, key="import.file")
    name = st.text_input("Name of the run", max_chars=80, placeholder="my system", key="import.name")
    tasks = st.multiselect(
        "Tasks",
        list(TASKS),
        format_func=lambda task: TASKS[task].title,
        placeholder="those that the file serves",
        key="import.tasks",
    )
    replace = st.checkbox("Replace answers of the same name and task", key="import.replace")
    pressed = st.button("Import", type="primary", disabled=not (upload and name.strip()), key="import.start")
    if upload is None or not pressed:
        return
    with st.spinner("Reading the file …"), uploaded_path(upload) as path:
        imported = import_run(resources.store(), dataset.name, path, name, tasks, replace=replace)
        counts = ", ".join(f"{n:,} for {TASKS[task].title}" for task, n in imported.answers.items())
        flash(f"{literal(imported.run.label)}: answers imported, {counts}.")
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
    """How good the trained ranker is, and the ways to train one."""
    trained = trained_model()
    if trained is None:
        st.markdown("It learns from papers whose evidence is marked, on this machine. None is trained yet.")
    else:
        model = trained[0]
        st.markdown(
            f"Trained on {len(model.trained_on.instance_ids):,} instances of {literal(model.trained_on.dataset)}."
        )
        scores = model.notes.get("cross_validated")
        if isinstance(scores, Mapping) and scores:
            lines = [
                f"- {task_named(str(name)).title}: {100 * score['aspect_recall']:.1f}%"
                for name, score in scores.items()
                if isinstance(score, Mapping) and score.get("aspect_recall") is not None
            ]
            st.markdown("Cross-validated by paper, so on papers that it had not seen:\n" + "\n".join(lines))
    draw_ways_to_train("-dialog")


def unfinished_tasks(run: RunInfo, n_instances: int) -> list[Task]:
    """The tasks that a run has begun and not finished; none where nobody can go on with it."""
    begun = [task_named(name) for name, n in run.tasks.items() if 0 < n < n_instances]
    begun = [task for task in begun if _lacks(run, task)]
    return [] if not begun or problem_of(run) else begun


def _lacks(run: RunInfo, task: Task) -> bool:
    return bool(resources.run_score(run, task.name).n_missing)


def _draw_cost(
    dataset: str, retriever: str, settings: Mapping[str, object], tasks: Sequence[Task], limit: int | None
) -> bool:
    """Draw what a run costs, and whether a batch of it is under way; returns whether it can begin."""

    def plans(llm: LLM) -> list[Plan]:
        return [plan(resources.store(), dataset, retriever, settings, tasks, limit, llm=llm)]

    return draw_plans_cost(plans, "instance")


def start_run(
    dataset: str,
    retriever: str,
    settings: Mapping[str, object],
    tasks: Sequence[Task],
    limit: int | None = None,
) -> Job:
    """Run a retriever over a dataset in the background; answers in the store are not asked again.

    One that asks a server asks that of the session, within the session's caps.
    """
    store, served = resources.store(), retriever_entry(retriever).asks_server
    budget = session_budget() if served else None
    llm = session_llm(budget) if served else None

    def make_plan() -> Plan:
        return plan(store, dataset, retriever, settings, tasks, limit, llm=llm)

    # The plan of a local retriever loads it, which the job does; one of a server fills in its settings.
    ready = make_plan() if served else None
    full = ready.spec.settings if ready else full_settings(retriever, settings)
    whole = " in every task" if len(tasks) > 1 else ""

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
        for step in execute(ready or make_plan(), None, job.cancelled):
            failed = f", {step.failed:,} failed" if step.failed else ""
            yield (
                step.done,
                step.total,
                f"{step.done:,} of {step.total:,} instances answered{whole}{failed}.",
            )

    names = ", ".join(task.title for task in tasks)
    subject = f"{dataset}/{retriever}/{sorted(full.items())}"
    title = f"{run_label(retriever, full)} on {dataset}: {names}"
    return resources.jobs().start("run", subject, title, lambda job: closing_note(job, budget, steps(job)))
