"""A question to a model: answered from the store if it was ever asked, else on a click, since it may cost.

The asking is a job: the reader goes on reading meanwhile, and an answer that was begun is kept even if they leave.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.jobs import Job, JobCancelled
from components.app.page import guarded_part
from components.app.reading import Reading
from components.app.session import flash
from components.models.caps import dollars, session_budget, spent_text
from components.models.server import address_text, draw_model_needed, session_connection
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError, LLMCancelledError, SettingError
from evidencebench_core.llm import LLM, Connection, Spending, Work, answer_of, price_of, rehearse
from evidencebench_core.retrievers import Retrieval, ServedRetriever, make_retriever
from evidencebench_core.words import quantity

_T = TypeVar("_T")
_JOB: Final = "ask"


@dataclass(frozen=True, slots=True)
class Question(Generic[_T]):
    """What is asked of which model.

    Attributes
    ----------
    label : str
        Who answers, on screen.
    title : str
        How a list of jobs names it.
    model : str
        Empty while none is chosen.
    connection : Connection
    about : tuple
        Tells it from other questions, with the server's address; holds no key.
    work : callable
        Makes the work of a client anew.
    """

    label: str
    title: str
    model: str
    connection: Connection
    about: tuple[object, ...]
    work: Callable[[], Work[_T]]

    @property
    def subject(self) -> str:
        """Of its job."""
        return hashlib.sha256(
            repr((self.about, self.connection.address)).encode("utf-8", "replace")
        ).hexdigest()


def retriever_question(reading: Reading, choice: Choice) -> Question[Retrieval]:
    """What a retriever that asks a server is asked about a paper."""

    def work() -> Work[Retrieval]:
        made = make_retriever(choice.name, choice.settings)
        if not isinstance(made, ServedRetriever):
            raise SettingError(f"retriever {choice.name}", "asks no server", "Choose one that does.")
        retriever = made.connected(resources.store())
        return lambda llm: retriever.answer(llm, reading.query())

    return Question(
        choice.label,
        f"{choice.name} reads {reading.instance.id}",
        str(choice.settings.get("model") or ""),
        session_connection(),
        (reading.key, choice.name, sorted(choice.settings.items(), key=str)),
        work,
    )


def stored_answer(question: Question[_T]) -> _T | Spending:
    """The answer, if all of it is in the store; else what is still to be asked. Nothing is sent."""
    (answer,), cost = rehearse(LLM(question.connection, resources.store()), question.work())
    return cost if answer is None else answer


def answer_or_button(question: Question[_T], words: str = "", button: str = "Ask the model") -> _T | None:
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
    if not isinstance(answer, Spending):
        return answer
    if job is not None and job.status.state == "cancelled":
        st.caption(f"{name} was stopped. Answers that had come in full are kept.")
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        words = words or f"**{name}** has not answered this yet."
        st.markdown(f"{words} {_cost_text(question, answer)}")
        label = "Try again" if job is not None else button
        st.button(
            label, type="primary", key=f"ask.{question.label}.{button}", on_click=_start, args=(question,)
        )
    return None


def ask_again(question: Question[Any], letter: str) -> None:
    """The button that pays for a new answer."""
    st.button(
        "Ask again",
        key=f"again.{letter}",
        help="Asks the server although the answer is stored, and pays again. The new answer replaces the old one.",
        on_click=_start,
        args=(question, True),
    )


def _start(question: Question[Any], fresh: bool = False) -> None:
    """Ask in the background; ``fresh`` asks again for what is in the store."""
    budget = session_budget()
    llm = LLM(question.connection, resources.store(), budget, fresh=fresh)
    try:
        asked = question.work()
    except EvidenceBenchError as error:
        flash(literal(str(error)))
        return

    def work(job: Job) -> str:
        def stopped() -> bool:
            job.report(budget.spent.calls + budget.spent.cached, 0)
            return job.cancelled()

        try:
            answer_of(llm, asked, stopped=stopped, grace=0.0)
        except LLMCancelledError as error:
            raise JobCancelled from error
        return spent_text(budget.spent)

    resources.jobs().start(_JOB, question.subject, question.title, work)


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


def _cost_text(question: Question[Any], cost: Spending) -> str:
    tokens, price = cost.prompt_tokens + cost.completion_tokens, price_of(question.model)
    money = dollars(price.of(cost.prompt_tokens, cost.completion_tokens)) if price else "price unknown"
    cached = f", {cost.cached:,} in the store" if cost.cached else ""
    calls = quantity(cost.calls, "call")
    return (
        f"About {calls}{cached}, {tokens:,} tokens, {literal(money)}, at {address_text(question.connection)}."
    )
