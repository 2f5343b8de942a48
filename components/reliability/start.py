"""Starting runs of a model over tests, judging what they answered, and going on with both."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Final

import streamlit as st

from components.app import resources
from components.app.page import guarded_part
from components.app.session import local_widget
from components.models.caps import draw_caps
from components.models.plans import draw_chosen_server, draw_plans_cost, start_plans
from components.models.server import session_model
from components.reliability import cached
from components.reliability.view import View
from components.widgets.markdown import literal
from components.widgets.retriever_picker import settings_fields
from evidencebench_core.llm import LLM
from evidencebench_core.reliability.runs import judge_plan, run_plan
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS, task_settings
from evidencebench_core.runs import ChatPlan
from evidencebench_core.words import quantity

ASKING: Final = "reliability"  # the kind of the jobs


@st.dialog("Start or resume runs", width="large")
@guarded_part("This dialog")
def run_dialog(view: View) -> None:
    """Model, tests, construction, caps, estimate and the button; a run that was cancelled goes on from here."""
    items = view.items
    problems = cached.problems(view.info)
    possible = [name for name, problem in problems.items() if not problem]
    draw_chosen_server()
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
        with st.expander(
            f"{quantity(len(problems) - len(possible), 'test')} cannot be run on these questions"
        ):
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
    settings = {} if published else _settings_of(tasks, items.name)
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
            run_plan(
                resources.store(),
                items,
                task,
                model,
                settings.get(task),
                as_published=published,
                limit=limit,
                llm=llm,
            )
            for task in RELIABILITY_TASKS
            if task in tasks
        ]

    ready = draw_plans_cost(plans, "question")
    if st.button("Start", type="primary", disabled=not ready, key="reliability.start"):
        names = ", ".join(RELIABILITY_TASKS[name].title for name in RELIABILITY_TASKS if name in tasks)
        start_plans(ASKING, f"{model} on {items.name}: {names}", plans, "question")
        st.rerun()


def _settings_of(tasks: Sequence[str], items: str) -> dict[str, dict[str, object]]:
    """The settings of the chosen tests that have any, folded; other settings are another run."""
    having = [RELIABILITY_TASKS[name] for name in RELIABILITY_TASKS if name in tasks]
    having = [task for task in having if task.settings]
    others = tuple(info.name for info in cached.item_sets() if info.name != items)
    settings: dict[str, dict[str, object]] = {}
    with st.expander("Settings of the tests") if having else nullcontext():
        for task in having:
            st.markdown(f"**{task.title}**")
            settings[task.name] = settings_fields(
                task.settings,
                task_settings(task),
                partial(_widget, task.name),
                lambda name: others if name == "examples_from" else None,
            )
    return settings


def _widget(task: str, name: str, value: object) -> dict[str, Any]:
    return local_widget(f"reliability.set.{task}.{name}", value)


@st.dialog("Have the answers judged", width="large")
@guarded_part("This dialog")
def judge_dialog(view: View, run_ids: Sequence[str]) -> None:
    """The judge, caps, estimate and the button."""
    st.markdown(
        "A model says whether each free answer means the same as the reference. It is also shown references of other "
        "items, and both statements exchanged, so that its own errors are known and the figure is corrected for them."
    )
    draw_chosen_server("The judge: ")
    draw_caps()
    if not (model := session_model()):
        st.info("Choose a server and a model.")
        return
    if any(run.model == model for run in view.runs if run.id in run_ids):
        st.warning(f"{literal(model)} would judge its own answers. That is said beside every figure of it.")

    def plans(llm: LLM) -> list[ChatPlan]:
        return [judge_plan(resources.store(), run_id, model, llm=llm) for run_id in run_ids]

    ready = draw_plans_cost(plans, "question")
    if st.button("Judge", type="primary", disabled=not ready, key="reliability.judge"):
        start_plans(ASKING, f"{model} judges answers on {view.items.name}", plans, "question")
        st.rerun()
