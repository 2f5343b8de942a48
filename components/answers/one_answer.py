"""One answer beside what it cites, with people's labels and a judge's."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import resources
from components.answers.labels import UNCHECKED, Badge, badge, citation_badge, people_badges, worst
from components.answers.prose import Citation, Sentence, answer_prose
from components.answers.view import answers_of, judge_picker, labels_of, words_of
from components.controls import option_box
from components.markdown import literal
from components.state import PageState
from evidencebench_core.answers.model import Answer, AnswerSentence, Document, unit_id
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.runs import RunInfo


def draw_answer(state: PageState, info: AnswerSetInfo) -> None:
    answers = answers_of(info.name, info.sha256)
    if not answers.answers:
        st.info("This set has clusters alone: there is no answer to read.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = {row.question_id: row.question or row.question_id for row in answers.questions}
        reset = ("sentence", "document")
        question = option_box(state, "question", "Question", texts, noun="question", reset=reset)
        systems = {system: system for name, system in answers.answer if name == question}
        if not systems:
            st.info("No system has answered this question.")
            return
        system = option_box(state, "system", "System", systems, noun="system", reset=reset)
        answer = answers.answer[question, system]
        run = judge_picker(state, info, "")
    st.markdown(f"## {literal(texts[question])}")
    if answer.accurate is not None:
        unlabelled = "Judged inaccurate: its sentences were not labelled."
        st.caption("Judged accurate." if answer.accurate else unlabelled)
    left, right = st.columns((3, 2), gap="large")
    sentence, document = _in_hand(state, answer)
    with left:
        labels = labels_of(run) if run else {}
        answer_prose(
            [_prose(answer, part, labels) for part in answer.sentences],
            key=f"prose-{info.sha256[:8]}",
            chosen=sentence.id if sentence else "",
            document=document,
            on_choice=lambda place, cited: state.put(sentence=place, document=cited or None),
        )
        st.caption(
            "● required, ◐ borderline, ○ unnecessary, ✕ inappropriate. A cited document: ✓ says so, ✕ says the "
            "opposite, ○ does not say so, ? not checked."
        )
        reference = answers.question[question]
        if reference.reference or reference.nuggets:
            with st.expander("The expert's answer and its facts"):
                st.markdown(literal(reference.reference))
                st.markdown("\n".join(f"- {literal(nugget)}" for nugget in reference.nuggets))
    with right:
        if sentence is not None:
            draw_unit(info, answer, sentence, document, run)


def _in_hand(state: PageState, answer: Answer) -> tuple[AnswerSentence | None, str]:
    """The sentence and citation in the address; else the first sentence with a citation, and its first."""
    by_id = {sentence.id: sentence for sentence in answer.sentences}
    citing = next((sentence for sentence in answer.sentences if sentence.citations), None)
    sentence = by_id.get(state["sentence"]) or citing or next(iter(by_id.values()), None)
    known = sentence.citations if sentence else ()
    return sentence, state["document"] if state["document"] in known else next(iter(known), "")


def _prose(answer: Answer, sentence: AnswerSentence, labels: Mapping[str, str | None]) -> Sentence:
    """A sentence with its mark: its relevance, else the label of its worst citation."""

    def by_judge(*document: str) -> Badge | None:
        unit = unit_id(answer.question_id, answer.system, sentence.id, *document)
        return badge(labels[unit]) if unit in labels else None

    citations = tuple(
        Citation(document, citation_badge(sentence, document), by_judge(document))
        for document in sentence.citations
    )
    human, judge = badge(sentence.relevance) if sentence.relevance else None, by_judge()
    cited = [citation.judge or citation.human for citation in citations]
    opinions = [(human, judge), *((citation.human, citation.judge) for citation in citations)]
    is_bad = any(shown.tone in ("plain", "bad") for shown in (human, judge, *cited) if shown)
    is_disputed = any(
        by_people and by_model and by_people.tone not in ("unknown", by_model.tone)
        for by_people, by_model in opinions
    )
    note = f"judge: {judge}" if judge else ""
    mark = human or judge or worst(cited)
    return Sentence(sentence.id, sentence.claim, mark, note, is_bad or is_disputed, citations)


def draw_unit(
    info: AnswerSetInfo, answer: Answer, sentence: AnswerSentence, document: str, run: RunInfo | None
) -> None:
    """The document that a sentence cites, with the labels of people, of the judge, and of whoever decided."""
    labels = labels_of(run) if run else {}
    of_sentence = unit_id(answer.question_id, answer.system, sentence.id)
    of_citation = unit_id(answer.question_id, answer.system, sentence.id, document)
    unit = of_citation if document and of_citation in labels else of_sentence
    mark = marks(resources.store(), info.sha256).get(unit)
    with st.container(border=True, key="answers-unit"):
        cited = f" cites **{literal(document)}**" if document else ""
        st.markdown(f"Sentence {literal(sentence.id)}{cited}")
        people = people_badges(sentence, document) if document else []
        if not document and sentence.relevance:
            people = [badge(sentence.relevance)]
        parts = ["People: " + literal(", ".join(map(str, people)) or str(UNCHECKED))]
        if unit in labels:
            parts.append(f"judge: {literal(str(badge(labels[unit])))}")
        if mark:
            by = f" by {literal(mark.author)}" if mark.author else ""
            parts.append(f"decided{by}: {badge(mark.label)}")
        st.markdown(" · ".join(parts))
        if run and unit in labels:
            with st.expander("The judge's words"):
                st.code(words_of(run, unit), language=None, wrap_lines=True)
        if document:
            _draw_document(answers_of(info.name, info.sha256).document.get(document), sentence)


def _draw_document(document: Document | None, sentence: AnswerSentence) -> None:
    if document is None:
        st.caption("The set does not have the text of this document.")
        return
    if document.title:
        st.markdown(f"*{literal(document.title)}*")
    for assessment in sentence.assessments:
        if assessment.document == document.document_id and assessment.excerpt.strip():
            st.markdown(f"Copied out by people: **{literal(assessment.excerpt)}**")
    st.markdown(literal(document.text or " ".join(document.sentences)))
