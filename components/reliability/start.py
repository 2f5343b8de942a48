"""Starting runs of a model over tests, judging what they answered, and going on with both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.page import guarded_part
from components.app.state import local_widget
from components.models.caps import (
    closing_note,
    draw_batches,
    draw_caps,
    draw_estimate,
    session_budget,
    session_llm,
)
from components.models.server import address_text, draw_server, session_connection, session_model
from components.reliability.view import View
from components.widgets.markdown import literal
from evidencebench_core.llm import LLM
from evidencebench_core.reliability.runs import judge_plan, run_plan
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.runs import ChatPlan, RunEstimate, estimate, execute

ASKING: Final = "reliability"  # the kind of the jobs
Plans = Callable[[LLM], Sequence[ChatPlan]]


@st.dialog("Start or resume runs", width="large")
@guarded_part("This dialog")
def run_dialog(view: View) -> None:
    """Model, tests, construction, caps, estimate and the button; a run that was cancelled goes on from here."""
    items = view.items
    problems = resources.reliability_problems(view.info)
    possible = [name for name, problem in problems.items() if not problem]
    _draw_server()
    tasks = st.pills(
        "Tests",
        possible,
        selection_mode="multi",
        format_func=lambda name: RELIABILITY_TASKS[name].title,
        **local_widget(
            f"reliability.tasks.{items.sha256[:8]}", [name for name in possible if name != "knowledge"]
        ),
    )
    if len(possible) < len(problems):
        with st.expander(f"{len(problems) - len(possible)} tests cannot be run on these questions"):
            for name, problem in problems.items():
                if problem:
                    st.markdown(f"- **{RELIABILITY_TASKS[name].title}**: {literal(problem)}")
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        limit = st.number_input(
            "Only the first items",
            min_value=1,
            max_value=len(items.items),
            value=None,
            placeholder=f"all {len(items.items):,}",
            key=f"reliability.limit.{items.sha256[:8]}",
        )
    with right:
        published = st.checkbox(
            "As published",
            help="The paper's construction with its seeds, to stand beside the printed figures. Ours repairs what is "
            "wrong there, so the two are runs of their own.",
            key="reliability.published",
        )
    st.caption(
        "The same test of the same model on the same questions is the same run: nothing is asked twice."
    )
    draw_caps()
    model = session_model()
    if not (tasks and model):
        st.info("Choose at least one test, and a server and a model.")
        return

    def plans(llm: LLM) -> list[ChatPlan]:
        return [
            run_plan(resources.store(), items, task, model, as_published=published, limit=limit, llm=llm)
            for task in RELIABILITY_TASKS
            if task in tasks
        ]

    ready = _draw_cost(plans)
    if st.button("Start", type="primary", disabled=not ready, key="reliability.start"):
        names = ", ".join(RELIABILITY_TASKS[name].title for name in RELIABILITY_TASKS if name in tasks)
        start_asking(f"{model} on {items.name}: {names}", plans)
        st.rerun()


@st.dialog("Have the answers judged", width="large")
@guarded_part("This dialog")
def judge_dialog(view: View, run_ids: Sequence[str]) -> None:
    """The judge, caps, estimate and the button."""
    st.markdown(
        "A model says whether each free answer means the same as the reference. It is also shown references of other "
        "items, and both statements exchanged, so that its own errors are known and the figure is corrected for them."
    )
    _draw_server("The judge: ")
    draw_caps()
    if not (model := session_model()):
        st.info("Choose a server and a model.")
        return
    if any(run.model == model for run in view.runs if run.id in run_ids):
        st.warning(f"{literal(model)} would judge its own answers. That is said beside every figure of it.")

    def plans(llm: LLM) -> list[ChatPlan]:
        return [judge_plan(resources.store(), run_id, model, llm=llm) for run_id in run_ids]

    ready = _draw_cost(plans)
    if st.button("Judge", type="primary", disabled=not ready, key="reliability.judge"):
        start_asking(f"{model} judges answers on {view.items.name}", plans)
        st.rerun()


def _draw_server(who: str = "") -> None:
    model = session_model()
    told = f"{who}**{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    with st.expander(f"{told}: server, key and model", expanded=not model):
        draw_server()


def _draw_cost(plans: Plans) -> bool:
    """Draw what all plans together will take; returns whether they can begin."""
    run_ids: list[str] = []

    def cost() -> RunEstimate:
        made = plans(session_llm())
        run_ids.extend(plan.run_id for plan in made)
        each = [estimate(plan) for plan in made]
        counts: Mapping[str, int] = {
            field.name: sum(getattr(one, field.name) for one in each)
            for field in fields(RunEstimate)
            if field.name not in ("model", "price", "batch")
        }
        return replace(each[0], **counts)  # type: ignore[arg-type]

    ready = draw_estimate(cost, "question")
    draw_batches(run_ids)
    return ready


def start_asking(title: str, plans: Plans) -> Job:
    """Ask the session's server in the background, within the session's caps; what is stored is not asked again."""
    budget = session_budget()
    made = plans(session_llm(budget))

    def steps(job: Job) -> Iterator[tuple[int, int, str]]:
        total, before = sum(plan.total for plan in made), 0
        failed = 0
        for plan in made:
            of_plan = 0
            for step in execute(plan, None, job.cancelled):
                of_plan = step.failed
                lost = f", {failed + of_plan:,} failed" if failed + of_plan else ""
                yield (
                    before + step.done,
                    total,
                    f"{before + step.done:,} of {total:,} questions answered{lost}.",
                )
            before, failed = before + plan.total, failed + of_plan
            if job.cancelled():
                return

    subject = "/".join(plan.run_id for plan in made)
    return resources.jobs().start(ASKING, subject, title, lambda job: closing_note(job, budget, steps(job)))
