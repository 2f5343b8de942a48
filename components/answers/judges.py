"""Judges against people: how far they agree, and one by one where they differ."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from components import resources
from components.answers.labels import badge
from components.answers.unit import draw_unit
from components.answers.view import (
    JUDGED,
    answers_of,
    judge_picker,
    judgement_of,
    judges_of,
    key_of,
    values_of,
)
from components.desk import Actions, Decision, Item, desk
from components.frame_table import frame_table
from components.markdown import literal
from components.page import percent
from components.state import PageState, session_text
from components.table import Column, Row, table
from evidencebench_core.answers.agreement import JudgeAgreement, judge_agreement
from evidencebench_core.answers.judging import judge_labels
from evidencebench_core.answers.store import AnswerSetInfo, Mark, add_mark, marks
from evidencebench_core.answers.units import order_of_systems
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.words import quantity

_DECIDING: Final = "Accept: the judge is right. Reject: people are."


@resources.cached(entries=16, spinner="Computing …")
def _agreement(name: str, sha256: str, run: str, key: tuple[object, ...]) -> JudgeAgreement:
    store = resources.store()
    info = RunStore(store).run(run)
    return judge_agreement(answers_of(name, sha256), judge_labels(store, info), info.settings["task"])


def _picked_agreement(state: PageState, info: AnswerSetInfo) -> tuple[RunInfo, JudgeAgreement] | None:
    runs = judges_of(info, *JUDGED)
    if not runs:
        st.info("Have a model judge the answers, above: then you see here how far it agrees with people.")
        return None
    run = judge_picker(state, runs) or next(iter(runs.values()))
    agreement = _agreement(info.name, info.sha256, run.id, key_of(info))
    if agreement.pairs.empty:
        st.info("People have labelled nothing of what this judge said.")
        return None
    return run, agreement


def draw_judges(state: PageState, info: AnswerSetInfo) -> None:
    """How far a judge agrees with people, beside one that always gives people's most frequent label."""
    picked = _picked_agreement(state, info)
    if picked is None:
        return
    run, found = picked
    n, model = len(found.pairs), run.settings["model"]
    rows = [
        Row(name, (name, value.text(unit="%"), found.constant_figures[name].text(), value.n))
        for name, value in found.figures.items()
    ]
    columns = (
        Column("measure", "Measure", "title"),
        Column("judge", model),
        Column("constant", f"always “{found.constant}”"),
        Column("n", "n", "number"),
    )
    judge, constant = found.figures["accuracy"], found.constant_figures["accuracy"]
    is_better = (judge.low or 0) > (constant.value or 0)
    st.markdown(
        f"**{literal(model)}** agrees with people on {percent(judge.value)}, "
        f"{'more' if is_better else 'no more, as far as these tell,'} than by always saying "
        f"“{literal(found.constant)}” ({percent(constant.value)})."
    )
    table(columns, rows, key=f"agreement-{run.id}", action="none", caption="Agreement with people")
    st.caption(
        f"{quantity(n, 'label')} of both, questions drawn whole; {quantity(found.n_unlabelled, 'judgement')} "
        f"without a label, taken as wrong; {found.n_missing:,} missing."
    )
    heads = [Column("people", "People ↓ judge →", "title")]
    heads += [Column(name, name, "number") for name in found.table.columns]
    counts = found.table.rename_axis("people").reset_index()
    frame_table(heads, counts, key=f"confusion-{run.id}", action="none", caption="People by judge")
    people, by_judge = (values_of(info.name, info.sha256, name, key_of(info)) for name in ("", model))
    metric = "coverage" if run.settings["task"] == "citations" else "precision"
    order = order_of_systems(people, by_judge)
    taus = order.loc[order["people"] == metric, "tau"].dropna() if len(order) else ()
    for tau in taus:
        st.markdown(
            f"Both put the systems in order of {metric}: Kendall's tau {tau:.2f}, 1 being the same order."
        )


def draw_disagreements(state: PageState, info: AnswerSetInfo) -> None:
    """Where a judge and people differ, the worst first: a person decides who is right."""
    picked = _picked_agreement(state, info)
    if picked is None:
        return
    run, found = picked
    store, answers = resources.store(), answers_of(info.name, info.sha256)
    pairs = found.pairs[found.pairs["distance"] > 0]
    if pairs.empty:
        st.info("Nothing differs.")
        return
    rows: dict[str, Any] = {str(row.unit): row for row in pairs.itertuples()}
    decisions = marks(store, info.sha256)

    def item(row: Any) -> Item:
        mark = decisions.get(row.unit)
        side: Decision = "accepted" if mark and mark.label == row.judged else "rejected"
        opinions = f"People: {badge(row.human)}. The judge: {badge(row.judged)}."
        return Item(row.unit, "Who is right?", "", opinions, side if mark else "waiting", _DECIDING)

    def decide(unit: str, label: str | None, author: str) -> None:
        add_mark(store, info.sha256, Mark(unit, label or "", author=author))

    actions = Actions(
        accept=lambda unit, _, author: decide(unit, rows[unit].judged or rows[unit].human, author),
        reject=lambda unit, author: decide(unit, rows[unit].human, author),
        take_back=lambda unit: decide(unit, "", ""),
        can_edit=False,
    )
    left, right = st.columns((3, 2), gap="large")
    with right:
        if not session_text("author"):
            st.markdown("Give your name or initials first: they stand beside what you decide.")
        current = desk(state, [item(row) for row in rows.values()], actions, param="unit")
    if current is not None:
        row = rows[current.id]
        answer = answers.answer[row.question, row.system]
        sentence = next(part for part in answer.sentences if part.id == row.sentence)
        question = answers.question[row.question].question or row.question
        judgement = judgement_of(judge_labels(store, run), RunStore(store).results(run.id), row.unit)
        with left:
            st.markdown(f"## {literal(question)}")
            st.markdown(f"**{literal(row.system)}:** {literal(sentence.claim)}")
            draw_unit(answers, sentence, row.document, judgement, decisions.get(row.unit))
