"""Agreement of judges with people, and their disagreements one by one."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from components import resources
from components.answers.labels import badge
from components.answers.one_answer import draw_unit
from components.answers.view import answers_of, judge_picker, key_of, labels_of, report_of
from components.desk import Actions, Decision, Item, desk
from components.frame_table import bounded_columns, frame_table, intervals
from components.markdown import literal
from components.page import percent
from components.state import PageState
from components.table import Column
from evidencebench_core.answers.agreement import JudgeAgreement, judge_agreement
from evidencebench_core.answers.store import AnswerSetInfo, Mark, add_mark, marks
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

_ORDER: Final = (
    Column("people", "By people"),
    Column("judge", "By the model"),
    *bounded_columns("tau", "Tau", "tau_low", "tau_high"),
    Column("systems", "Systems", "number"),
)
_DECIDING: Final = "Accept: the judge is right. Reject: people are."


@resources.cached(entries=16, spinner="Computing …")
def _agreement(name: str, sha256: str, run: RunInfo) -> JudgeAgreement:
    return judge_agreement(answers_of(name, sha256), labels_of(run), run.settings["task"])


def _picked_agreement(state: PageState, info: AnswerSetInfo) -> tuple[RunInfo, JudgeAgreement] | None:
    run = judge_picker(state, info)
    if run is None:
        st.info("Have a model judge the answers, above: then you see here how far it agrees with people.")
        return None
    agreement = _agreement(info.name, info.sha256, run)
    if agreement.pairs.empty:
        st.info("People have labelled nothing of what this judge said.")
        return None
    return run, agreement


def draw_judges(state: PageState, info: AnswerSetInfo) -> None:
    """A judge's agreement with people, compared with always giving people's most frequent label."""
    picked = _picked_agreement(state, info)
    if picked is None:
        return
    run, agreement = picked
    model = run.settings["model"]
    figures = agreement.figures.assign(judge=intervals(agreement.figures, "value"))
    accuracy = figures.iloc[0]
    is_better = (accuracy["low"] or 0) > accuracy["always the same"]
    st.markdown(
        f"**{literal(model)}** agrees with people on {percent(accuracy['value'])}, "
        f"{'more' if is_better else 'no more, as far as these tell,'} than by always saying "
        f"“{literal(accuracy['always'])}” ({percent(accuracy['always the same'])})."
    )
    columns = (
        Column("measure", "Measure", "title"),
        Column("judge", model, "interval"),
        Column("always the same", f"always “{accuracy['always']}”", "percent"),
    )
    frame_table(columns, figures, key=f"agreement-{run.id}", caption="Agreement with people")
    st.caption(
        f"{quantity(len(agreement.pairs), 'label')} of both, questions drawn whole; "
        f"{quantity(agreement.pairs['judged'].isna().sum(), 'judgement')} without a label, taken as wrong; "
        f"{agreement.n_missing:,} missing."
    )
    counts = agreement.table.rename_axis("people").reset_index()
    heads = [Column(name, name, "number") for name in agreement.table.columns]
    heads = [Column("people", "People ↓ judge →", "title"), *heads]
    frame_table(heads, counts, key=f"confusion-{run.id}", caption="People by judge")
    order = report_of(info.name, model, "", key_of(info)).tables["order of systems"]
    if len(order):
        st.markdown(
            "**The order of the systems**, by people and by this model: Kendall's tau, 1 the same order."
        )
        frame_table(_ORDER, order, key=f"order-{run.id}", caption="Order of the systems")


def draw_disagreements(state: PageState, info: AnswerSetInfo) -> None:
    """Disagreements of a judge with people, the worst first: a person decides who is right."""
    picked = _picked_agreement(state, info)
    if picked is None:
        return
    run, agreement = picked
    store, answers = resources.store(), answers_of(info.name, info.sha256)
    pairs = agreement.pairs[agreement.pairs["distance"] > 0]
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
        current = desk(state, [item(row) for row in rows.values()], actions, param="unit")
    if current is not None:
        row = rows[current.id]
        answer = answers.answer[row.question, row.system]
        sentence = next(part for part in answer.sentences if part.id == row.sentence)
        question = answers.question[row.question].question or row.question
        with left:
            st.markdown(f"## {literal(question)}")
            st.markdown(f"**{literal(row.system)}:** {literal(sentence.claim)}")
            draw_unit(info, answer, sentence, row.document, run)
