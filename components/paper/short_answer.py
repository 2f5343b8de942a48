"""A model's short answer to the hypothesis from the reader's paper, each sentence with those that it rests on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial

import streamlit as st

from components.app.state import PageState
from components.models.server import session_connection, session_model
from components.paper.opened import OpenPaper
from components.paper.verdicts import found_or_button
from components.widgets.chips import go_to, sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.cited import CitedAnswer, cited_answer
from evidencebench_core.answers.verdicts import verdict_request
from evidencebench_core.llm import Connection, Conversation

_COLUMNS = (
    Column("says", "Answer"),
    Column("cites", "Rests on", "chips", "Sentences of the paper; a click shows one"),
)
NO_ANSWER = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off.",
}


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A paper, and what is asked of it."""

    hypothesis: str
    sentences: tuple[str, ...]
    model: str
    connection: Connection

    @property
    def subject(self) -> str:
        """Tells it from other questions; no key is in it."""
        asked = repr(("answer", self.hypothesis, self.sentences, self.model, self.connection.address))
        return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()

    @property
    def title(self) -> str:
        """What a list of jobs says."""
        return f"{self.model} answers from {len(self.sentences):,} sentences"

    def conversation(self) -> Conversation[CitedAnswer]:
        """The conversation with the model."""
        return cited_answer(verdict_request(self.model), self.hypothesis, self.sentences)


def draw_short_answer(state: PageState, opened: OpenPaper, hypothesis: str) -> None:
    """The answer, or the button that asks for it; nothing where the session has no model."""
    model = session_model()
    if not model or not hypothesis:
        return
    st.markdown("## A short answer")
    question = AnswerQuestion(hypothesis, tuple(opened.paper.sentences), model, session_connection())
    words = "What does this paper find on the hypothesis, and in which sentences?"
    answer = found_or_button(question, words, "Ask for an answer")
    if answer is None:
        return
    if answer.verdict:
        st.markdown(f"**{answer.verdict.capitalize()}**, says {literal(model)}.")
    if answer.outcome != "answer":
        st.info(NO_ANSWER[answer.outcome])
        return
    rows = [
        Row(
            str(place),
            (one.text, tuple(sentence_chip(index, opened.paper.sentences[index]) for index in one.citations)),
        )
        for place, one in enumerate(answer.sentences)
    ]
    table(
        _COLUMNS,
        rows,
        key="short-answer",
        action="none",
        on_event=partial(go_to, state),
        caption="The answer, and the sentences that it rests on",
    )
    unknown = f" It also names {answer.n_unknown:,} that the paper does not have." if answer.n_unknown else ""
    st.caption(f"Written by {literal(model)} from this paper; nobody has checked it.{unknown}")
