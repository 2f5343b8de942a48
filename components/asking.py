"""A question to a model: answered from the store if it has been asked before, else on a click.

The asking is a job: the reader goes on reading meanwhile, and an answer that was begun is kept even if they leave.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import streamlit as st

from components import resources
from components.caps import model_button, session_budget, session_llm
from components.job_panel import job_panel
from components.jobs import Job
from components.markdown import literal
from components.server import address_text
from components.state import session_connection
from components.work import spent_text
from evidencebench_core.llm import LLM, Forecast, Work, answer_of, rehearse
from evidencebench_core.llm.client import gather
from evidencebench_core.words import dollars, quantity

_T = TypeVar("_T")
_JOB: Final = "ask"


@dataclass(frozen=True, slots=True)
class Question(Generic[_T]):
    """A question to a model, in one or several parts."""

    label: str  # who answers, or what is asked
    model: str  # empty while none is chosen
    about: tuple[object, ...]  # distinguishes it from other questions; contains no key
    works: Sequence[Work[_T]]  # one for each part

    @property
    def subject(self) -> str:
        """The subject of its job, which is another one for another question or server."""
        about = (self.label, self.model, self.about, session_connection().address)
        return hashlib.sha256(repr(about).encode("utf-8", "replace")).hexdigest()


def stored_answers(question: Question[_T]) -> tuple[list[_T | None], Forecast]:
    """The answer to each part that is in the store, and the cost of the others. Nothing is sent."""
    return rehearse(session_llm(), *question.works)


def answers_or_button(question: Question[_T], *, small: bool = False) -> list[_T | None]:
    """The stored answers, ``None`` for a part without one; draws a button that asks for those, with the cost.

    While they are asked, their progress is drawn in its place; a failure above it. A ``small`` button has the cost
    in its words.
    """
    name = literal(question.label)
    if not question.model:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{name}** has no model yet. Choose one first.")
            model_button(question.label)
        return [None]
    job = next((job for job in resources.jobs().jobs(_JOB) if job.subject == question.subject), None)
    answers, cost = stored_answers(question)
    if job is not None and not job.status.ended:
        job_panel(_JOB, subject=question.subject)
        return answers
    if None not in answers:
        return answers
    if job is not None and job.status.state == "failed":
        st.error(f"{name}: **call failed.** {literal(job.status.note)}")
    if job is not None and job.status.state == "cancelled":
        st.caption(f"{name} was stopped. Complete answers are kept.")
    button: dict[str, Any] = {"key": f"ask.{question.label}", "on_click": _start, "args": (question,)}
    if small:
        short = f"about {max(100, round(cost.tokens, -2)):,} tokens, {literal(dollars(cost.money))}"
        st.button(f"{name} ({short})", help=_cost_text(cost), wrap=True, **button)
        return answers
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{name}** has not answered this yet. {_cost_text(cost)}")
        st.button("Ask the model" if job is None else "Try again", type="primary", **button)
    return answers


def _start(question: Question[_T]) -> None:
    budget = session_budget()
    llm = session_llm(budget)

    async def every(llm: LLM) -> list[_T]:
        return await gather(*(work(llm) for work in question.works))

    def ask(job: Job) -> str:
        def stopped() -> bool:
            job.report(0, 0, f"{quantity(budget.spent.calls + budget.spent.cached, 'call')} so far")
            return job.cancelled()

        answer_of(llm, every, stopped=stopped, grace=0.0)
        return spent_text(budget.spent)

    resources.jobs().start(_JOB, question.subject, question.label, ask)


def _cost_text(cost: Forecast) -> str:
    stored = f", {cost.cached:,} in the store" if cost.cached else ""
    place = address_text(session_connection())
    return f"About {quantity(cost.calls, 'call')}{stored}, {literal(cost.range_text())}, at {place}."
