"""A question to a server: answered from the store if it was ever asked, else on a click, since it may cost.

The asking is a job: the reader goes on reading meanwhile, and an answer that was begun is kept even if they leave.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job
from components.app.reading import Reading
from components.app.session import session_connection
from components.app.work import spent_text
from components.models.caps import session_budget, session_llm
from components.models.server import address_text, draw_model_needed
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, Forecast, Work, answer_of, rehearse
from evidencebench_core.llm.client import gather
from evidencebench_core.retrievers import Retrieval, ServedRetriever, make_retriever
from evidencebench_core.words import dollars, quantity

_T = TypeVar("_T")
_JOB: Final = "ask"


@dataclass(frozen=True, slots=True)
class Question(Generic[_T]):
    """What a model is asked, in one or several pieces."""

    label: str  # who answers, or what is asked
    model: str  # empty while none is chosen
    about: tuple[object, ...]  # tells it from other questions; holds no key
    works: Sequence[Work[_T]]  # what a client is asked, a piece each

    @property
    def subject(self) -> str:
        """Of its job: tells it from other questions, at other servers too."""
        about = (self.label, self.model, self.about, session_connection().address)
        return hashlib.sha256(repr(about).encode("utf-8", "replace")).hexdigest()


def reading_question(reading: Reading, choice: Choice) -> Question[Retrieval]:
    """What a retriever is asked about a paper."""
    about = (reading.cache_key, choice.name, sorted(choice.settings.items(), key=str))
    model = str(choice.settings.get("model") or "")
    if not model:
        return Question(choice.label, model, about, ())
    retriever = make_retriever(choice.name, choice.settings, store=resources.store())
    if not isinstance(retriever, ServedRetriever):
        raise SettingError(f"retriever {choice.name}", "asks no server", "Choose one that does.")
    return Question(choice.label, model, about, [partial(retriever.answer, query=reading.query())])


def stored_answers(question: Question[_T]) -> tuple[list[_T | None], Forecast]:
    """Of each piece the answer, if all of it is in the store, and the cost of the others. Nothing is sent."""
    return rehearse(session_llm(), *question.works)


def answers_or_button(question: Question[_T], *, small: bool = False) -> list[_T | None]:
    """The stored answers, ``None`` for a piece without; for those, the button with the cost is drawn.

    While they are asked, their progress is drawn in its place; a failure above it. A ``small`` button has the cost
    in its words.
    """
    name = literal(question.label)
    if not question.model:
        draw_model_needed(question.label)
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
        st.caption(f"{name} was stopped. Answers that had come in full are kept.")
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
    """Ask in the background."""
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
