"""A sentence of an answer or one of its citations: the document, what was said of both, a reader's label and note."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

import streamlit as st

from components.answers import cached
from components.answers.judge import Judge
from components.answers.labels import look_of, said_text
from components.app import resources
from components.app.session import flash, session_text, session_text_widget, widget_value
from components.models.calls import plain_text
from components.widgets.markdown import literal
from evidencebench_core.answers.agreement import LABELS
from evidencebench_core.answers.judged import scale_of
from evidencebench_core.answers.model import Answer, AnswerSentence, AnswerSet, Document, unit_id
from evidencebench_core.answers.set_judging import sentences_in
from evidencebench_core.answers.store import AnswerSetInfo, Mark, What, add_mark, marks
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.runs import Result


def draw_unit(
    info: AnswerSetInfo, answer: Answer, sentence: AnswerSentence, document: str, judge: Judge | None
) -> None:
    """The document that a sentence cites, with all that was said of the two, and fields for a label and a note."""
    answers = cached.answer_set(info)
    unit = judge.unit(answer, sentence, document) if judge else ""
    result = judge.result(unit) if judge and unit else None
    with st.container(border=True, key="answers-unit"):
        if document:
            st.markdown(f"Sentence {literal(sentence.id)} cites **{literal(document)}**")
            people = said_text(sentence, document)
        else:
            st.markdown(f"**Sentence {literal(sentence.id)}**")
            people = f"{look_of(sentence.relevance)}" if sentence.relevance else "? not judged"
        said = [f"People: {literal(people)}"]
        if judge:
            said.append(f"judge: {literal(_judge_text(judge, unit))}")
        st.markdown(" · ".join(said))
        if judge and unit:
            _draw_words(result)
        elif judge:
            st.caption("The judge was not asked about it: there is nothing to read, or not yet.")
        if document:
            _draw_document(answers, sentence, document, judge, result)
        elif not sentence.citations:
            st.caption("This sentence cites nothing.")
        _draw_fields(info, unit or unit_id(answer.question_id, answer.system, sentence.id, *filter(None, [document])),
                     judge if unit else None)  # fmt: skip


def _judge_text(judge: Judge, unit: str) -> str:
    if not unit:
        return "not asked"
    corrected = f" (corrected; it said {judge.labels[unit] or 'nothing to be read'})"
    return f"{look_of(judge.label(unit))}{corrected if unit in judge.corrections else ''}"


def _draw_words(result: Result | None) -> None:
    """The judge's reasons and its whole answer, as they came."""
    facts = (result or {}).get("nuggets", ())
    for name, text in zip(("Facts of the sentence", "Facts of the document"), facts, strict=False):
        st.caption(name)
        plain_text(str(text), 120)
    for part in (result or {}).get("parts", (result,)):
        if not part:
            continue
        for name, text in (("Thoughts", part.get("reasoning")), ("The judge's words", part.get("text"))):
            if text:
                st.caption(name)
                plain_text(str(text), 160)


def _draw_document(
    answers: AnswerSet, sentence: AnswerSentence, name: str, judge: Judge | None, result: Result | None
) -> None:
    """Title and text: what people copied out is bold, what is closest to the sentence, or was read, is shaded."""
    known = answers.documents.get(name)
    if known is None:
        st.caption("The set does not have this document.")
        return
    if known.title:
        st.markdown(f"*{literal(known.title)}*")
    parts = [" ".join(one.split()) for one in sentences_in(known)]
    copied = [" ".join(one.excerpt.split()) for one in sentence.assessments if one.document == name]
    copied = [one for one in copied if one]
    lit, why = _lit(sentence, known, parts, judge, result)
    texts = []
    for place, part in enumerate(parts):
        text = literal(part)
        if any(one in part or part in one for one in copied):
            text = f"**{text}**"
        texts.append(f":primary-background[{text}]" if place in lit else text)
    st.markdown(" ".join(texts))
    for one in copied:
        if not any(one in part or part in one for part in parts):
            st.markdown(f"Copied out by people: **{literal(one)}**")
    keys = ["Bold: copied out by people"] * bool(copied) + [f"Shaded: {why}"] * bool(lit)
    if keys:
        st.caption(f"{'. '.join(keys)}.")


def _lit(
    sentence: AnswerSentence, document: Document, parts: list[str], judge: Judge | None, result: Result | None
) -> tuple[Collection[int], str]:
    """Which sentences of a document are shaded, and what that means."""
    windows = [str(part.get("window", "")) for part in (result or {}).get("parts", ())]
    read = {
        place for place, part in enumerate(parts) if any(part in " ".join(one.split()) for one in windows)
    }
    if read:
        return read, "passages that the judge read"
    closest = cached.closest_sentence(sentence.claim, tuple(parts)) if len(parts) > 1 else None
    if closest is None:
        return (), ""
    by_closest = judge is not None and judge.run.settings.get("source") == "maxsim"
    return {
        closest
    }, "closest to the sentence; the judge read it alone" if by_closest else "closest to the sentence"


def _draw_fields(info: AnswerSetInfo, unit: str, judge: Judge | None) -> None:
    """A person's label in place of the judge's, and a note; both are kept at once."""
    known: Mapping[str, str] = {
        mark.unit: mark.value for mark in marks(resources.store(), info.sha256, "note")
    }
    with st.expander(
        "Correct the label, or write a note" if judge else "Write a note", expanded=unit in known
    ):
        st.text_input("Your name", max_chars=200, placeholder="Initials", **session_text_widget("author"))
        if judge and judge.can_be_corrected:
            key, before = f"correct-{judge.run.id}-{unit}", judge.labels[unit] or "no label"
            choices = ["", *map(str, LABELS[scale_of(judge.run)])]
            corrected = judge.corrections.get(unit, "")
            st.selectbox(
                "Right label",
                choices,
                choices.index(corrected) if corrected in choices else 0,
                format_func=partial(_choice_text, before),
                key=key,
                on_change=_keep,
                args=(info.sha256, "label", unit, key, before),
            )
        key = f"note-{unit}"
        st.text_area(
            "Note",
            known.get(unit, ""),
            max_chars=5_000,
            height=80,
            key=key,
            on_change=_keep,
            args=(info.sha256, "note", unit, key, ""),
        )


def _choice_text(before: str, label: str) -> str:
    return label or f"as judged: {before}"


def keep_mark(subject: str, what: What, unit: str, value: str, before: str = "") -> None:
    """Keep what a person says; a store that cannot be written to is reported."""
    try:
        add_mark(resources.store(), subject, Mark(what, unit, value, session_text("author"), before))
    except EvidenceBenchError as error:
        flash(literal(str(error)))


def _keep(subject: str, what: What, unit: str, key: str, before: str) -> None:
    keep_mark(subject, what, unit, str(widget_value(key)), before)
