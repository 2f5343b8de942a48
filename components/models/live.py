"""A question to a model on the page of an instance: the estimate and the button, the stream, the answer."""

from __future__ import annotations

from typing import Protocol, TypeVar

import streamlit as st

from components.app.jobs import Job
from components.app.page import guarded_part
from components.app.session import flash
from components.models.asking import Asked, Question, asking_job, start_asking, stored_answer
from components.models.caps import dollars, session_budget
from components.models.server import address_text, draw_model_needed
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.llm import Connection, Cost, price_of
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.words import quantity

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


def answer_or_button(question: Question) -> Retrieval | None:
    """The kept answer; or ``None``, and what there is instead is drawn: the button, the stream, the failure.

    It is never asked by itself, since it may cost.
    """
    label = question.choice.label
    if not question.choice.settings.get("model"):
        draw_model_needed(label)
        return None
    job = asking_job(question)
    if job is not None and not job.status.ended:
        with st.container(border=True):
            st.fragment(draw_stream, run_every=0.4)(job, label)
        return None
    found = stored_answer(question)
    failed = job is not None and job.status.state == "failed"
    if isinstance(found, Retrieval):
        if failed and job is not None:
            _failure(job, label)
        return found
    with st.container(border=True):
        if job is not None and failed:
            _failure(job, label)
        elif job is not None and job.status.state == "cancelled":
            st.caption(f"{literal(label)} was stopped. Answers that had come in full are kept.")
        cost = plan_text(str(question.choice.settings["model"]), question.connection, found)
        with st.container(horizontal=True, vertical_alignment="center"):
            again = "Try again" if job is not None else "Ask the model"
            st.markdown(f"**{literal(label)}** has not answered this yet. {cost}")
            st.button(
                again,
                type="primary",
                key=f"ask.{label}",
                on_click=_start,
                args=(question,),
            )
    return None


class AskedOfModel(Asked[_T_co], Protocol[_T_co]):
    """A question to one model."""

    @property
    def model(self) -> str: ...


def found_or_button(question: AskedOfModel[_T], words: str, button: str) -> _T | None:
    """The stored answer; or ``None``, and the button, the stream or the failure is drawn."""
    job = asking_job(question)
    if job is not None and not job.status.ended:
        with st.container(border=True):
            st.fragment(draw_stream, run_every=0.4)(job, question.model)
        return None
    found = stored_answer(question)
    if not isinstance(found, Cost):
        return found
    if job is not None and job.status.state == "failed":
        st.error(f"{literal(question.model)}: **call failed.** {literal(job.status.note)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{words} {plan_text(question.model, question.connection, found)}")
        st.button(button, key=f"ask.{button}", on_click=_start, args=(question,))
    return None


def ask_again(question: Question, letter: str) -> None:
    """The button that pays for a new answer."""
    st.button(
        "Ask again",
        key=f"again.{letter}",
        help="Asks the server again although the answer is kept, and pays again. The new answer replaces "
        "the old one.",
        on_click=_start,
        args=(question, True),
    )


def _start(question: Asked[object], fresh: bool = False) -> None:
    try:
        start_asking(question, session_budget(), fresh)
    except EvidenceBenchError as error:
        flash(literal(str(error)))


@guarded_part()
def draw_stream(job: Job, label: str) -> None:
    """How far the answer is, and the button that stops it; a fragment that runs again and again."""
    if job.status.ended:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{literal(label)}** is answering …")
        if st.button("Stop", key=f"stop.{job.id}", disabled=job.status.state == "cancelling"):
            job.cancel()
            st.rerun(scope="fragment")
    st.caption(f"{quantity(job.status.done, 'call')} answered.")


def _failure(job: Job, label: str) -> None:
    st.error(f"{literal(label)}: **call failed.** {literal(job.status.note)}")


def plan_text(model: str, connection: Connection, planned: Cost) -> str:
    """The cost of asking, as Markdown."""
    tokens = planned.prompt_tokens + planned.completion_tokens
    price = price_of(model)
    cost = (
        "price unknown"
        if price is None
        else literal(dollars(price.of(planned.prompt_tokens, planned.completion_tokens)))
    )
    calls = quantity(planned.calls, "call")
    cached = f", {planned.cached:,} in the store" if planned.cached else ""
    return f"About {calls}{cached}, {tokens:,} tokens, {cost}, at {address_text(connection)}."
