"""A model's short answer to the hypothesis from the reader's paper, each sentence with those that it rests on."""

from __future__ import annotations

import streamlit as st

from components.app.state import PageState
from components.models.server import session_model
from components.models.short_answer import (
    asked_answer,
    citations_question,
    draw_answer,
    draw_judging,
    known_labels,
)
from components.paper.opened import OpenPaper
from components.widgets.chips import sentence_chip
from components.widgets.markdown import literal
from components.widgets.table import Chip
from evidencebench_core.answers.verdicts import citation_words


def draw_short_answer(state: PageState, opened: OpenPaper, hypothesis: str) -> None:
    """The answer, or the button that asks for it; nothing where the session has no model."""
    model, sentences = session_model(), opened.paper.sentences
    if not model or not hypothesis:
        return
    st.markdown("## A short answer")
    answer = asked_answer(hypothesis, sentences)
    if answer is None:
        return
    question = citations_question(answer, sentences)
    labels = known_labels(question)

    def chip(u: int, s: int) -> Chip:
        words = citation_words(None, *([labels[u, s]] if (u, s) in labels else []))
        return sentence_chip(s, sentences[s], f" {words}")

    if not draw_answer(state, answer, chip, "short-answer"):
        return
    unknown = f" It also names {answer.n_unknown:,} that the paper does not have." if answer.n_unknown else ""
    st.caption(f"Written by {literal(model)} from this paper; nobody has checked it.{unknown}")
    draw_judging(question)
