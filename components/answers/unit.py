"""A sentence of an answer, or one of its citations beside the document that it names."""

from __future__ import annotations

import streamlit as st

from components.answers.labels import UNCHECKED, badge, people_badges
from components.markdown import literal
from evidencebench_core.answers.model import AnswerSentence, AnswerSet
from evidencebench_core.answers.store import Mark
from evidencebench_core.data.sentences import sentences_of
from evidencebench_core.runs import Result


def draw_unit(
    answers: AnswerSet,
    sentence: AnswerSentence,
    document: str,
    judgement: tuple[str | None, Result] | None,
    mark: Mark | None,
) -> None:
    """The document that a sentence cites, with what people, the judge and who decided said of the two."""
    with st.container(border=True, key="answers-unit"):
        cited = f" cites **{literal(document)}**" if document else ""
        st.markdown(f"Sentence {literal(sentence.id)}{cited}")
        people = people_badges(sentence, document) if document else []
        if not document and sentence.relevance:
            people = [badge(sentence.relevance)]
        parts = ["People: " + literal(", ".join(map(str, people)) or str(UNCHECKED))]
        if judgement:
            parts.append(f"judge: {literal(str(badge(judgement[0])))}")
        if mark:
            by = f" by {literal(mark.author)}" if mark.author else ""
            parts.append(f"decided{by}: {badge(mark.label)}")
        st.markdown(" · ".join(parts))
        if judgement:
            with st.expander("The judge's words"):
                st.code(str(judgement[1].get("text", "")), language=None, wrap_lines=True)
        if document:
            _draw_document(answers, sentence, document)


def _draw_document(answers: AnswerSet, sentence: AnswerSentence, name: str) -> None:
    """Title and text: what people copied out is bold."""
    known = answers.document.get(name)
    if known is None:
        st.caption("The set does not have the text of this document.")
        return
    of_document = [assessment for assessment in sentence.assessments if assessment.document == name]
    copied = [
        " ".join(assessment.excerpt.split()) for assessment in of_document if assessment.excerpt.strip()
    ]
    if known.title:
        st.markdown(f"*{literal(known.title)}*")
    parts = known.sentences or tuple(sentences_of(known.text))
    texts = []
    for part in parts:
        plain = " ".join(part.split())
        is_copied = any(excerpt in plain or plain in excerpt for excerpt in copied)
        texts.append(f"**{literal(part)}**" if is_copied else literal(part))
    st.markdown(" ".join(texts))
    for excerpt in copied:
        if not any(excerpt in " ".join(part.split()) or part in excerpt for part in parts):
            st.markdown(f"Copied out by people: **{literal(excerpt)}**")
    if copied:
        st.caption("Bold: copied out by people.")
