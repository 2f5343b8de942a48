"""Where a judge and people differ: the worst first, one by one, with a note or a correction of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.answers import cached
from components.answers.judge import Judge, judge_from, judges_of, picked_run
from components.answers.labels import look_of
from components.answers.unit import draw_unit
from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from components.widgets.table.paging import ROWS, paging
from evidencebench_core.answers.agreement import LABELS
from evidencebench_core.answers.disagreements import LabelPair
from evidencebench_core.answers.judged import LABELLED, scale_of
from evidencebench_core.answers.model import AnswerSet, unit_parts
from evidencebench_core.answers.store import AnswerSetInfo, marks
from evidencebench_core.words import quantity

NO_LABEL: Final = "none"
_COLUMNS: Final = (
    Column("text", "Sentence", "title", lines=2),
    Column("where", "Of", "id"),
    Column("human", "People"),
    Column("judge", "Judge"),
    Column("note", "Note", lines=1),
)


def draw_queue(state: PageState, info: AnswerSetInfo) -> None:
    """The units by the filters of the address, and the one that is open."""
    runs = judges_of(info, *LABELLED)
    if not runs:
        st.info(
            "Once a model has judged what people labelled, the labels that differ stand here, the worst first."
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        run = picked_run(state, info, runs, reset=("human", "judged", "page", "unit")) or next(
            iter(runs.values())
        )
        labels = [str(one) for one in LABELS[scale_of(run)]]
        human = _label_picker(state, "human", "People say", labels)
        judged = _label_picker(state, "judged", "The judge says", [*labels, NO_LABEL])
    judge = judge_from(info, run)
    pairs = [
        pair
        for pair in cached.judged_pairs(info, run, tuple(judge.corrections.items()))
        if (human or judged or pair.distance > 0)
        and human in ("", pair.human)
        and judged in ("", pair.judged or NO_LABEL)
    ]
    answers = cached.answer_set(info)
    if not pairs:
        st.info("Nothing differs." if not (human or judged) else "There is nothing with these labels.")
        return
    place = next((n for n, pair in enumerate(pairs) if pair.unit == state["unit"]), 0)
    left, right = st.columns((3, 2), gap="large")
    with left:
        _draw_list(state, info, answers, pairs, pairs[place].unit)
    with right:
        _draw_open(state, info, answers, pairs, place, judge)


def _label_picker(state: PageState, param: str, label: str, labels: Sequence[str]) -> str:
    if state[param] not in ("", *labels):
        state.put(**{param: None})
    st.selectbox(
        label,
        ["", *labels],
        format_func=lambda one: (one if one != NO_LABEL else "no label") or "anything, where they differ",
        **state.widget(param, state[param], reset=("page", "unit")),
    )
    return state[param]


def _draw_list(
    state: PageState, info: AnswerSetInfo, answers: AnswerSet, pairs: Sequence[LabelPair], opened: str
) -> None:
    notes = {mark.unit: mark.value for mark in marks(resources.store(), info.sha256, "note")}
    pages = paging(state, len(pairs))
    rows = []
    for pair in pairs[pages.rows]:
        question, system, sentence, *document = unit_parts(pair.unit)
        text = next(one for one in answers.answers[question, system].sentences if one.id == sentence).claim
        where = " · ".join((question, system, *document))
        looks = (str(look_of(pair.human)), str(look_of(pair.judged)))
        rows.append(Row(pair.unit, (text, where, *looks, notes.get(pair.unit))))
    noted = sum(pair.unit in notes for pair in pairs)
    st.caption(f"{quantity(len(pairs), 'unit')}, the worst first; {noted:,} with a note.")
    table(
        _COLUMNS,
        rows,
        key=f"answers-queue-{info.sha256[:8]}",
        on_open=lambda unit: state.put(unit=unit),
        chosen=(opened,),
        caption="Labels of people and of the judge that differ; a click opens one",
        height=640,
    )
    pages.draw(state)


def _draw_open(
    state: PageState,
    info: AnswerSetInfo,
    answers: AnswerSet,
    pairs: Sequence[LabelPair],
    place: int,
    judge: Judge,
) -> None:
    """The unit with its question, the buttons to the next one and to the whole answer."""
    question, system, sentence_id, *document = unit_parts(pairs[place].unit)
    answer = answers.answers[question, system]
    sentence = next(one for one in answer.sentences if one.id == sentence_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{place + 1:,} of {len(pairs):,}", width="content")
        for label, step in (("Previous", -1), ("Next", 1)):
            there = 0 <= place + step < len(pairs)
            if st.button(label, disabled=not there, key=f"queue-{label}"):
                _go(state, pairs, place + step)
        if st.button("Read the whole answer", type="tertiary"):
            state.put(
                part="answers",
                question=question,
                system=system,
                sentence=sentence_id,
                document=document[0] if document else None,
                run=judge.run.id,
            )
            st.rerun()
    asked = literal(answers.questions[question].text or question)
    claim = literal(sentence.claim or sentence.text)
    st.markdown(f"**{asked}**  \n{literal(system)}: {claim}")
    draw_unit(info, answer, sentence, document[0] if document else "", judge)


def _go(state: PageState, pairs: Sequence[LabelPair], place: int) -> None:
    state.put(unit=pairs[place].unit, page=place // ROWS + 1)
    st.rerun()
