"""Runs whose plans ask the session's server: which server, what they will take, and carrying them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.models.caps import closing_note, draw_batches, draw_estimate, session_budget, session_llm
from components.models.server import address_text, draw_server, session_connection, session_model
from components.widgets.markdown import literal
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan, RunEstimate, estimate, execute

Plans = Callable[[LLM], Sequence[Plan]]


def draw_chosen_server(who: str = "") -> None:
    """The session's model and where it is asked, folded; open while none is chosen."""
    model = session_model()
    told = f"{who}**{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    with st.expander(f"{told}: server, key and model", expanded=not model):
        draw_server()


def draw_plans_cost(plans: Plans, noun: str) -> bool:
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

    ready = draw_estimate(cost, noun)
    draw_batches(run_ids)
    return ready


def start_plans(kind: str, title: str, plans: Plans, noun: str) -> Job:
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
                    f"{before + step.done:,} of {total:,} {noun}s answered{lost}.",
                )
            before, failed = before + plan.total, failed + of_plan
            if job.cancelled():
                return

    subject = "/".join(plan.run_id for plan in made)
    return resources.jobs().start(kind, subject, title, lambda job: closing_note(job, budget, steps(job)))
