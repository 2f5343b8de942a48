"""Runs whose plans ask the session's server: which server, what they will take, and carrying them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.session import session_connection, session_text
from components.models.caps import closing_note, estimate_text, session_budget, session_llm
from components.models.server import address_text, draw_server, session_model
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan, estimate, execute
from evidencebench_core.runs.engines.batch import batches_under_way
from evidencebench_core.words import quantity

Plans = Callable[[LLM], Sequence[Plan]]


def draw_chosen_server() -> None:
    """The session's model and where it is asked, folded; open while none is chosen."""
    model = session_model()
    label = f"**{literal(model)}** at {address_text(session_connection())}" if model else "No model yet"
    with st.expander(f"{label}: server, key and model", expanded=not model):
        draw_server()


def draw_plans_cost(plans: Plans, noun: str) -> bool:
    """Draw what all plans together will take; returns whether they can begin.

    Warns of batches that a server may still have of these runs: who asks now pays twice.
    """
    try:
        with st.spinner("Estimating …"):
            made = plans(session_llm())
            cost = estimate(*made)
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return False
    place = address_text(session_connection())
    asked = f" {literal(cost.model)} is asked, at {place}." if cost.calls else ""
    st.info(f"{estimate_text(cost, noun)}{asked}")
    for plan in made:
        for address, n in batches_under_way(resources.store(), plan.run_id).items():
            st.warning(
                f"{quantity(n, 'batch')} of this run may still be under way at {literal(address)}: "
                "`evidencebench run --engine batch` goes on with them. What is asked otherwise is paid twice."
            )
    if cost.calls and cost.money is None and session_text("llm.cap.money"):
        st.warning("A cap in dollars needs the model's price. See docs/models.md.")
        return False
    return True


def start_plans(kind: str, title: str, plans: Plans, noun: str) -> Job:
    """Ask the session's server in the background, within the session's caps; what is stored is not asked again."""
    budget = session_budget()
    made = plans(session_llm(budget))
    subject = "/".join(plan.run_id for plan in made)

    def work(job: Job) -> str:
        return closing_note(job, budget, plan_steps(job, made, noun))

    return resources.jobs().start(kind, subject, title, work)


def plan_steps(job: Job, plans: Sequence[Plan], noun: str) -> Iterator[tuple[int, int, str]]:
    """Carry plans out, until the job is cancelled: done, total, and what came of it so far."""
    total, before, n_failed = sum(plan.total for plan in plans), 0, 0
    for plan in plans:
        n_failed_here = 0
        for step in execute(plan, None, job.cancelled):
            n_failed_here, done = step.failed, before + step.done
            failed = f", {n_failed + n_failed_here:,} failed" if n_failed + n_failed_here else ""
            yield done, total, f"{done:,} of {total:,} {noun}s answered{failed}."
        before, n_failed = before + plan.total, n_failed + n_failed_here
        if job.cancelled():
            return
