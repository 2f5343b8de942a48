"""One answer: its sentences with people's labels, and what the documents say that a sentence cites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.model import Answer, AnswerSentence, AnswerSet, Document, Question, Relation
from evidencebench_core.answers.set_judging import sentences_in
from evidencebench_core.answers.store import AnswerSetInfo
from evidencebench_core.words import quantity

_COLUMNS: Final = (
    Column("n", "", "id"),
    Column("text", "Sentence", "title"),
    Column("relevance", "Relevance"),
    Column("citations", "What people say of its citations"),
)
_SAID: Final[Mapping[Relation, str]] = {
    "supporting": "✓ says so",
    "contradicting": "✕ says the opposite",
    "neutral": "○ does not say so",
    "not relevant": "○ is about something else",
    "invalid citation": "? there is no such document",
}
_UNSAID: Final = "? not checked"


def draw_reading(state: PageState, info: AnswerSetInfo) -> None:
    answers = resources.answer_set(info)
    if not answers.answers:
        st.info("This set has clusters alone: there is no answer to read.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        titles = {one.id: one.text or one.id for one in answers.questions.values()}
        question = answers.questions[_picked(state, "question", list(titles), titles)]
        systems = [system for asked, system in answers.answers if asked == question.id]
        if not systems:
            st.info("No system has answered this question.")
            return
        answer = answers.answers[question.id, _picked(state, "system", systems, {})]
    st.markdown(f"## {literal(question.text or question.id)}")
    verdict = {
        True: "Judged accurate. ",
        False: "Judged inaccurate: its sentences were not labelled. ",
        None: "",
    }
    n_citations = sum(len(one.citations) for one in answer.sentences)
    counted = f"{quantity(len(answer.sentences), 'sentence')}, {quantity(n_citations, 'citation')}."
    st.caption(verdict[answer.accurate] + counted)
    left, right = st.columns((3, 2), gap="large")
    with left:
        chosen = _draw_sentences(state, answer, info)
    with right:
        _draw_documents(answers, chosen)
    _draw_gold(question)


def _picked(state: PageState, name: str, known: list[str], titles: Mapping[str, str]) -> str:
    """The question or system that the address names, with a picker; the first where it is not there."""
    wanted = state[name] or known[0]
    if wanted not in known:
        st.warning(f"There is no {name} {literal(wanted, 80)} here; the first is shown.")
        wanted = known[0]
    st.selectbox(
        name.capitalize(),
        known,
        format_func=lambda one: titles.get(one, one),
        **state.widget(name, wanted, reset=("sentence",)),
    )
    return wanted


def _draw_sentences(state: PageState, answer: Answer, info: AnswerSetInfo) -> AnswerSentence | None:
    """The sentences; returns the one that is chosen, else the first that cites something."""
    by_id = {one.id: one for one in answer.sentences}
    cites = next((one.id for one in answer.sentences if one.citations), next(iter(by_id), ""))
    chosen = state["sentence"] if state["sentence"] in by_id else cites
    rows = []
    for one in answer.sentences:
        citations = "; ".join(_said(one, document) for document in one.citations) or "no citation"
        rows.append(Row(one.id, (one.id, one.text, one.relevance or "not judged", citations)))
    table(
        _COLUMNS,
        rows,
        key=f"answers-sentences-{info.sha256[:8]}-{answer.id}",
        on_open=lambda sentence: state.put(sentence=sentence),
        chosen=(chosen,),
        caption=f"Sentences of the answer of {answer.system}; a click shows what one cites",
        empty="The answer has no sentence.",
    )
    return by_id.get(chosen)


def _said(sentence: AnswerSentence, document: str) -> str:
    """Every relation that people named of a citation, in words: one may be supporting and neutral."""
    return ", ".join(_SAID[one] for one in dict.fromkeys(sentence.relations(document))) or _UNSAID


def _draw_documents(answers: AnswerSet, sentence: AnswerSentence | None) -> None:
    if sentence is None or not sentence.citations:
        st.caption("This sentence cites nothing.")
        return
    st.markdown(f"**Cited by sentence {literal(sentence.id)}**")
    for document in sentence.citations:
        with st.container(border=True):
            st.markdown(f"**{literal(document)}** · {literal(_said(sentence, document))}")
            known = answers.documents.get(document)
            if known is None:
                st.caption("The set does not have this document.")
            else:
                _draw_document(
                    known, [one.excerpt for one in sentence.assessments if one.document == document]
                )


def _draw_document(document: Document, excerpts: list[str]) -> None:
    """Title and text; what people copied out of it is in bold."""
    if document.title:
        st.markdown(f"*{literal(document.title)}*")
    copied = [" ".join(one.split()) for one in excerpts if one.strip()]
    parts = [" ".join(one.split()) for one in sentences_in(document)]
    st.markdown(
        " ".join(
            f"**{literal(part)}**" if any(one in part or part in one for one in copied) else literal(part)
            for part in parts
        )
    )
    missing = [one for one in copied if not any(one in part or part in one for part in parts)]
    for one in missing:
        st.markdown(f"Copied out by people: **{literal(one)}**")


def _draw_gold(question: Question) -> None:
    if not question.reference and not question.nuggets:
        return
    with st.expander("The expert's answer and its nuggets"):
        if question.reference:
            st.markdown(literal(question.reference))
        st.markdown("\n".join(f"- {literal(one)}" for one in question.nuggets or ()))
