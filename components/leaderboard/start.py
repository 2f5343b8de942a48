"""Starting a run and resuming one: the dialogs and the job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job
from components.app.page import guarded_part
from components.app.session import local_widget
from components.models.caps import (
    closing_note,
    draw_batches,
    draw_caps,
    draw_estimate,
    session_budget,
    session_llm,
)
from components.models.ranker.first_use import offer_training
from components.models.server import session_model
from components.widgets.markdown import literal
from components.widgets.retriever_picker import settings_editor
from components.widgets.runs import first_instances
from evidencebench_core.data import DatasetInfo
from evidencebench_core.retrievers import RetrieverEntry, full_settings, retriever_entries, retriever_entry
from evidencebench_core.runs import (
    Engine,
    LocalEngine,
    Plan,
    RunEstimate,
    RunInfo,
    estimate,
    execute,
    plan,
    run_label,
)
from evidencebench_core.runs.engines.batch import BatchEngine
from evidencebench_core.runs.engines.ray import RayEngine
from evidencebench_core.tasks import TASKS, Task


@st.dialog("Start or resume a run", width="medium")
@guarded_part("This dialog")
def run_dialog(dataset: DatasetInfo, task: Task) -> None:
    """Retriever, settings, tasks and the button; a run that was cancelled goes on from here."""
    entries = retriever_entries()
    name = st.selectbox("Retriever", list(entries), index=list(entries).index("bm25"), key="run.retriever")
    st.caption(literal(entries[name].summary))
    settings: dict[str, object] = {}
    if entries[name].settings:
        with st.expander("Settings", expanded=entries[name].asks_server and not session_model()):
            settings = settings_editor(
                name,
                {},
                lambda setting, value: local_widget(
                    f"run.{name}.{setting}", (session_model() or value) if setting == "model" else value
                ),
            )
    known = dict(TASKS) | {task.name: task}
    names = st.multiselect(
        "Tasks",
        list(known),
        default=[t for t, asked in known.items() if asked.budget is not None],
        format_func=lambda task_name: known[task_name].title,
        key=f"run.tasks.{task.name}",
    )
    tasks = [known[one] for one in names]
    limit = first_instances(dataset, "run.limit")
    st.caption(
        "The same settings on the same data are the same run: what is already answered is not asked again."
    )
    ready = bool(tasks) and not offer_training([Choice(name, settings)], in_dialog=True)
    engine = _draw_engine(entries[name])
    if entries[name].asks_server:
        draw_caps()
        if not settings.get("model"):
            st.info("Name a model under Settings, or choose one on the page Models.")
            ready = False
        elif ready:
            ready = _draw_cost(dataset, name, settings, tasks, limit, engine)
    if st.button("Start", type="primary", disabled=not ready or engine is None, key="run.start"):
        start_run(dataset.name, name, settings, tasks, limit, engine)
        st.rerun()


@st.dialog("Resume a run", width="medium")
@guarded_part("This dialog")
def resume_dialog(dataset: DatasetInfo, task: Task, run: RunInfo) -> None:
    """The rest of a run that asks a server: what it will take, and the button."""
    st.markdown(f"{literal(run.label)} on {literal(task.title)}")
    engine = _draw_engine(retriever_entry(run.retriever))
    draw_caps()
    ready = _draw_cost(dataset, run.retriever, run.settings, [task], None, engine)
    if st.button("Resume", type="primary", disabled=not ready or engine is None, key="run.resume"):
        start_run(dataset.name, run.retriever, run.settings, [task], engine=engine)
        st.rerun()


def _draw_engine(entry: RetrieverEntry) -> Engine | None:
    """Who answers; ``None``, and why is said, where that engine cannot be used here."""
    names = {"local": "This machine", "ray": "A Ray cluster"}
    if entry.name == "llm":
        names |= {"batch": "The server's batch endpoint"}
    with st.expander("Where it runs"):
        chosen = st.radio(
            "Who answers",
            list(names),
            format_func=names.__getitem__,
            key=f"run.engine.{entry.name}",
            horizontal=True,
        )
        if chosen == "batch":
            st.caption(
                "As cheap as the server makes batches, and done within a day. A run that is stopped goes on."
            )
            return BatchEngine()
        if chosen == "local":
            return LocalEngine()
        address = st.text_input(
            "Address of the cluster",
            placeholder="a cluster of this machine alone",
            help="Such as 10.0.0.1:6379, or auto for the cluster that this machine is part of.",
            key="run.ray",
        )
        if find_spec("ray") is None:
            st.warning("Ray is not installed here: `pip install 'evidencebench-explorer[ray]'`.")
            return None
        return RayEngine(address=address.strip() or None)


def _draw_cost(
    dataset: DatasetInfo,
    retriever: str,
    settings: Mapping[str, object],
    tasks: Sequence[Task],
    limit: int | None,
    engine: Engine | None,
) -> bool:
    """Draw the cost of a run, and batches of it that are under way; returns whether it can begin."""
    is_batch, run_ids = isinstance(engine, BatchEngine), list[str]()

    def cost() -> RunEstimate:
        planned = plan(resources.store(), dataset.name, retriever, settings, tasks, limit, llm=session_llm())
        run_ids.append(planned.spec.id)
        return estimate(planned, is_batch)

    ready = draw_estimate(cost)
    if not is_batch:
        draw_batches(run_ids)
    return ready


def start_run(
    dataset: str,
    retriever: str,
    settings: Mapping[str, object],
    tasks: Sequence[Task],
    limit: int | None = None,
    engine: Engine | None = None,
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
        for step in execute(ready or make_plan(), engine, job.cancelled):
            failed = f", {step.failed:,} failed" if step.failed else ""
            waits = f" {step.note[0].upper()}{step.note[1:]}." if step.note else ""
            answered = f"{step.done:,} of {step.total:,} instances answered{whole}{failed}."
            yield step.done, step.total, f"{answered}{waits}"

    names = ", ".join(task.title for task in tasks)
    subject = f"{dataset}/{retriever}/{sorted(full.items())}"
    title = f"{run_label(retriever, full)} on {dataset}: {names}"
    return resources.jobs().start("run", subject, title, lambda job: closing_note(job, budget, steps(job)))
