"""One answer: its sentences with people's labels, and what the documents say that a sentence cites."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from components.answers.judges import corrections_of, judge_name, judges_of
from components.app import resources
from components.app.page import percent
from components.app.state import PageState, session_text, session_text_widget, widget_value
from components.charts.answers import match_squares
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.judged import scale_of
from evidencebench_core.answers.judging import LABELS
from evidencebench_core.answers.matching import THRESHOLD, matches
from evidencebench_core.answers.model import (
    Answer,
    AnswerSentence,
    AnswerSet,
    Document,
    Question,
    Relation,
    unit_id,
)
from evidencebench_core.answers.nugget_scores import NuggetMatrix
from evidencebench_core.answers.set_judging import sentences_in
from evidencebench_core.answers.store import AnswerSetInfo, Mark, add_mark, marks
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import ChatRunInfo, ChatRuns
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
    judge = _picked_judge(state, info)
    left, right = st.columns((3, 2), gap="large")
    with left:
        chosen = _draw_sentences(state, answer, info, judge)
    with right:
        if judge is not None and chosen is not None:
            _draw_correction(info, answer, chosen, judge)
        _draw_documents(answers, chosen)
    _draw_nuggets(state, info, answer)
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


@dataclass(frozen=True, slots=True)
class _Judge:
    """A judge's run with its labels, and those that people corrected."""

    run: ChatRunInfo
    labels: Mapping[str, str | None]
    corrections: Mapping[str, str]

    def said(self, answer: Answer, sentence: AnswerSentence) -> str:
        """Its label of a sentence, or of each of its citations."""
        words = []
        for unit in self.units(answer, sentence):
            if unit in self.corrections:
                words.append(f"{self.corrections[unit]}, corrected")
            else:
                words.append(self.labels[unit] or "no label")
        return "; ".join(words) or "–"

    def units(self, answer: Answer, sentence: AnswerSentence) -> dict[str, str]:
        """What it judged of a sentence, and what that is called."""
        key = (answer.question_id, answer.system, sentence.id)
        if self.run.settings["task"] == "relevance":
            units = {unit_id(*key): "this sentence"}
        else:
            units = {unit_id(*key, document): f"citation {document}" for document in sentence.citations}
        return {unit: name for unit, name in units.items() if unit in self.labels}


def _picked_judge(state: PageState, info: AnswerSetInfo) -> _Judge | None:
    """The judge that the address names; none at first."""
    runs = judges_of(info)
    if not runs:
        return None
    wanted = state["run"] if state["run"] in runs else ""
    st.selectbox(
        "Judge",
        ["", *runs],
        format_func=lambda one: judge_name(runs[one]) if one else "People alone",
        width=360,
        **state.widget("run", wanted, part="reading"),
    )
    if not wanted:
        return None
    return _Judge(runs[wanted], resources.judge_labels(runs[wanted]), dict(corrections_of(info)))


def _draw_correction(info: AnswerSetInfo, answer: Answer, sentence: AnswerSentence, judge: _Judge) -> None:
    """A person's label in place of the judge's, kept at once; and what the judge wrote."""
    units = judge.units(answer, sentence)
    if not units:
        st.caption("The judge was not asked about this sentence.")
        return
    results = ChatRuns(resources.store()).results(judge.run.id)
    with st.expander(f"The judge on sentence {literal(sentence.id)}"):
        st.text_input("Your name", max_chars=200, placeholder="Initials", **session_text_widget("author"))
        for unit, name in units.items():
            key, before = f"correct-{judge.run.id}-{unit}", judge.labels[unit] or "no label"
            choices = ["", *map(str, LABELS[scale_of(judge.run)])]
            known = judge.corrections.get(unit, "")
            st.selectbox(
                f"Label of {literal(name)}",
                choices,
                choices.index(known) if known in choices else 0,
                format_func=partial(_choice_text, before),
                key=key,
                on_change=_keep,
                args=(info.sha256, unit, key, before),
            )
            result = results.get(unit)
            if isinstance(result, Mapping) and result.get("text"):
                st.code(str(result["text"]), language=None, wrap_lines=True)


def _choice_text(before: str, label: str) -> str:
    return label or f"as judged: {before}"


def _keep(subject: str, unit: str, key: str, before: str) -> None:
    add_mark(
        resources.store(),
        subject,
        Mark("label", unit, str(widget_value(key)), session_text("author"), before),
    )


def _draw_nuggets(state: PageState, info: AnswerSetInfo, answer: Answer) -> None:
    """The matrix of the answer's nuggets and the gold ones, with a threshold that redraws at once."""
    if not (answer.nuggets and resources.answer_set(info).questions[answer.question_id].nuggets):
        return
    matrix = resources.nugget_matrix(info, answer.question_id, answer.system)
    st.markdown("## Nuggets")
    hundredths = state.number("threshold")
    threshold = min(100, round(100 * THRESHOLD) if hundredths is None else hundredths) / 100
    st.slider(
        "Cosine from which two are the same",
        0.0,
        1.0,
        step=0.01,
        width=360,
        **state.widget("threshold", threshold, lambda now: round(100 * now)),
    )
    found = matches(matrix.p, matrix.similarity, threshold)
    matched = {(one.predicted, one.gold) for one in found}
    n_predicted, n_gold = len(matrix.predicted), len(matrix.gold)
    figure = match_squares(
        matrix.similarity, matched, (matrix.predicted, matrix.gold), SYSTEMS[0].on(is_dark())
    )
    pairs = "; ".join(f"{matrix.predicted[i]} = {matrix.gold[j]}" for i, j in sorted(matched))
    event = draw_chart(
        figure,
        key=f"answers-nuggets-{info.sha256[:8]}-{answer.id}-{threshold}-{is_dark()}",
        alt=f"{len(matched)} of {n_gold} gold nuggets matched: {pairs}",
        clickable=True,
    )
    st.caption(
        f"Recall {percent(len(matched) / n_gold)} ({len(matched)} of {n_gold} gold nuggets), precision "
        f"{percent(len(matched) / n_predicted)} (of {n_predicted}). Were every pair the same, recall would be "
        f"{percent(min(n_predicted, n_gold) / n_gold)}. An outline is a match; click a square for its texts."
    )
    if point := picked_point(event):
        _draw_pair(info, matrix, int(point["customdata"][0]), int(point["customdata"][1]))


def _draw_pair(info: AnswerSetInfo, matrix: NuggetMatrix, i: int, j: int) -> None:
    """Two nuggets, and a person's word on whether they are the same."""
    pair = (matrix.predicted[i], matrix.gold[j])
    unit = json.dumps(pair)
    known = {mark.unit: mark.value for mark in marks(resources.store(), info.sha256, "nuggets")}.get(unit, "")
    with st.container(border=True):
        st.markdown(
            f"Answer: {literal(pair[0])}  \nGold: {literal(pair[1])}  \nCosine {matrix.similarity[i, j]:.2f}"
        )
        st.segmented_control(
            "Do they say the same?",
            ["same", "different"],
            default=known or None,
            key=f"pair-{unit}",
            on_change=_keep_pair,
            args=(info.sha256, unit),
        )


def _keep_pair(subject: str, unit: str) -> None:
    value = widget_value(f"pair-{unit}") or ""
    add_mark(resources.store(), subject, Mark("nuggets", unit, value, session_text("author")))


def _draw_sentences(
    state: PageState, answer: Answer, info: AnswerSetInfo, judge: _Judge | None
) -> AnswerSentence | None:
    """The sentences; returns the one that is chosen, else the first that cites something."""
    by_id = {one.id: one for one in answer.sentences}
    cites = next((one.id for one in answer.sentences if one.citations), next(iter(by_id), ""))
    chosen = state["sentence"] if state["sentence"] in by_id else cites
    rows = []
    for one in answer.sentences:
        citations = "; ".join(_said(one, document) for document in one.citations) or "no citation"
        cells = (one.id, one.text, one.relevance or "not judged", citations)
        rows.append(Row(one.id, (*cells, judge.said(answer, one)) if judge else cells))
    table(
        (*_COLUMNS, Column("judge", "Judge")) if judge else _COLUMNS,
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
