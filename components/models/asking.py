"""A retriever that asks a server: answered from the store if it was ever asked, else on a click, since it may cost.

The asking is a job: the reader goes on reading meanwhile, and an answer that was begun is kept even if they leave.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job, JobCancelled
from components.app.reading import Reading
from components.app.session import flash, session_connection
from components.models.caps import session_budget, session_llm, spent_text
from components.models.server import address_text, draw_model_needed
from components.widgets.guarded import guarded_part
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError, LLMCancelledError, SettingError
from evidencebench_core.llm import Forecast, Work, answer_of, rehearse
from evidencebench_core.retrievers import Retrieval, ServedRetriever, make_retriever
from evidencebench_core.words import quantity

_JOB: Final = "ask"


@dataclass(frozen=True, slots=True)
class Question:
    """What a retriever is asked about a paper."""

    reading: Reading
    choice: Choice

    @property
    def label(self) -> str:
        return self.choice.label

    @property
    def model(self) -> str:
        """Empty while none is chosen."""
        return str(self.choice.settings.get("model") or "")

    @property
    def subject(self) -> str:
        """Of its job: tells it from other questions, at other servers too; holds no key."""
        settings = sorted(self.choice.settings.items(), key=str)
        about = (self.reading.key, self.choice.name, settings, session_connection().address)
        return hashlib.sha256(repr(about).encode("utf-8", "replace")).hexdigest()

    def work(self) -> Work[Retrieval]:
        """What a client is asked, by a retriever of its own."""
        retriever = make_retriever(self.choice.name, self.choice.settings, store=resources.store())
        if not isinstance(retriever, ServedRetriever):
            raise SettingError(f"retriever {self.choice.name}", "asks no server", "Choose one that does.")
        query = self.reading.query()
        return lambda llm: retriever.answer(llm, query)


def stored_answer(question: Question) -> Retrieval | Forecast:
    """The answer, if all of it is in the store; else what is still to be asked. Nothing is sent."""
    (answer,), cost = rehearse(session_llm(), question.work())
    return cost if answer is None else answer


def answer_or_button(question: Question) -> Retrieval | None:
    """The stored answer; or ``None``, and the button with the cost, the progress or the failure is drawn."""
    name = literal(question.label)
    if not question.model:
        draw_model_needed(question.label)
        return None
    jobs = resources.jobs().jobs(_JOB)
    job = next((job for job in jobs if job.subject == question.subject), None)
    if job is not None and not job.status.ended:
        with st.container(border=True):
            st.fragment(_draw_progress, run_every=0.4)(job, question.label)
        return None
    answer = stored_answer(question)
    if job is not None and job.status.state == "failed":
        st.error(f"{name}: **call failed.** {literal(job.status.note)}")
    if isinstance(answer, Retrieval):
        return answer
    if job is not None and job.status.state == "cancelled":
        st.caption(f"{name} was stopped. Answers that had come in full are kept.")
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{name}** has not answered this yet. {_cost_text(answer)}")
        st.button(
            "Ask the model" if job is None else "Try again",
            type="primary",
            key=f"ask.{question.label}",
            on_click=_start,
            args=(question,),
        )
    return None


def _start(question: Question) -> None:
    """Ask in the background."""
    budget = session_budget()
    llm = session_llm(budget)
    try:
        work = question.work()
    except EvidenceBenchError as error:
        flash(literal(str(error)))
        return

    def ask(job: Job) -> str:
        def stopped() -> bool:
            job.report(budget.spent.calls + budget.spent.cached, 0)
            return job.cancelled()

        try:
            answer_of(llm, work, stopped=stopped, grace=0.0)
        except LLMCancelledError as error:
            raise JobCancelled from error
        return spent_text(budget.spent)

    title = f"{question.choice.name} reads {question.reading.instance.id}"
    resources.jobs().start(_JOB, question.subject, title, ask)


@guarded_part()
def _draw_progress(job: Job, label: str) -> None:
    """How far the answer is, and the button that stops it; a fragment that runs again and again."""
    if job.status.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{literal(label)}** is answering, {quantity(job.status.done, 'call')} so far …")
        if st.button("Stop", key=f"stop.{job.id}", disabled=job.status.state == "cancelling"):
            job.cancel()
            st.rerun(scope="fragment")


def _cost_text(cost: Forecast) -> str:
    stored = f", {cost.cached:,} in the store" if cost.cached else ""
    place = address_text(session_connection())
    return f"About {quantity(cost.calls, 'call')}{stored}, {literal(cost.range_text())}, at {place}."
