"""A model's verdict on each picked sentence: for the hypothesis, against it, or neither. Asked on a click only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.models.asking import stored_answer
from components.models.live import found_or_button
from components.models.server import session_connection, session_model
from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from evidencebench_core.answers.verdicts import Verdicts, verdict_request, verdict_words, verdicts
from evidencebench_core.llm import Connection
from evidencebench_core.llm.conversation import Conversation, Planned


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
    """The model's verdicts so far; empty if it was not asked about all of them."""
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
