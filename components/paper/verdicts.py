"""What a model thinks of each picked sentence: for the hypothesis, against it, or neither. Asked on a click only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import streamlit as st

from components.app.state import flash
from components.models.asking import Asked, asking_job, start_asking, stored_answer
from components.models.caps import session_budget
from components.models.live import draw_stream, plan_text
from components.models.server import draw_agreement, may_ask, session_connection, session_model
from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from evidencebench_core.answers.verdicts import Verdicts, verdict_request, verdict_words, verdicts
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.llm import Connection
from evidencebench_core.llm.conversation import Conversation, Planned

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class VerdictQuestion:
    """The picked sentences of a paper, and what they are held against."""

    hypothesis: str
    sentences: tuple[tuple[int, str], ...]
    model: str
    connection: Connection

    @property
    def subject(self) -> str:
        """Tells it from other questions; no key is in it."""
        asked = repr((self.hypothesis, self.sentences, self.model, self.connection.address))
        return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()

    @property
    def title(self) -> str:
        return f"{self.model} judges {len(self.sentences)} sentences"

    def conversation(self) -> Conversation[Verdicts]:
        """The conversation with the judge."""
        return verdicts(verdict_request(self.model), self.hypothesis, dict(self.sentences))


def verdict_question(opened: OpenPaper, hypothesis: str, picks: Sequence[int]) -> VerdictQuestion | None:
    """The question to the session's model; ``None`` where there is no model, or nothing to ask."""
    model, indices = session_model(), tuple(dict.fromkeys(picks))
    if not model or not indices or not hypothesis:
        return None
    sentences = tuple((index, opened.paper.sentences[index]) for index in indices)
    return VerdictQuestion(hypothesis, sentences, model, session_connection())


def known_verdicts(question: VerdictQuestion | None) -> Verdicts:
    """What the model has said already; empty if it was not asked about all of them."""
    found = None if question is None else stored_answer(question)
    return {} if found is None or isinstance(found, Planned) else found


def picked_verdicts(
    opened: OpenPaper, hypothesis: str, picks: Sequence[int], plain: bool = False
) -> dict[int, str]:
    """The known verdicts in words, by sentence."""
    known = known_verdicts(verdict_question(opened, hypothesis, picks))
    return {index: verdict_words(verdict, plain) for index, verdict in known.items()}


def draw_verdicts(question: VerdictQuestion | None) -> None:
    """Whose opinion the verdicts are; or the button that asks for them, and the answer as it comes."""
    words = "Does each sentence support the hypothesis, or contradict it?"
    if question is not None and found_or_button(question, words, "Judge each sentence") is not None:
        model = literal(question.model)
        st.caption(
            f"▲ ▼ ● are the opinion of {model} on each sentence by itself: no gold, and it can be wrong."
        )


class AskedOfModel(Asked[_T_co], Protocol[_T_co]):
    """A question to one model."""

    @property
    def model(self) -> str: ...


def found_or_button(question: AskedOfModel[_T], words: str, button: str) -> _T | None:
    """What the store knows; or ``None``, and what there is instead is drawn: the button, the stream, the failure."""
    job = asking_job(question)
    if job is not None and not job.status.ended:
        with st.container(border=True):
            st.fragment(draw_stream, run_every=0.4)(job, question.model)
        return None
    found = stored_answer(question)
    if not isinstance(found, Planned):
        return found
    if job is not None and job.status.state == "failed":
        st.error(f"{literal(question.model)}: **call failed.** {literal(job.status.note)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{words} {plan_text(question.model, question.connection, found)}")
        st.button(button, key=f"ask.{button}", disabled=not may_ask(), on_click=_start, args=(question,))
    draw_agreement(button)
    return None


def _start(question: AskedOfModel[object]) -> None:
    try:
        start_asking(question, session_budget())
    except EvidenceBenchError as error:
        flash(literal(str(error)))
