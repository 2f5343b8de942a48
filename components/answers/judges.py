"""Judges against people: how far they agree, and one by one where they differ."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

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
from components.app import resources
from components.app.state import PageState
from components.charts.figures import scatter
from components.frame.desk import Actions, Item, desk
from components.widgets.chart import draw_chart, is_dark
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.answers.judging import judge_labels
from evidencebench_core.answers.store import AnswerSetInfo, Mark, add_mark, marks
from evidencebench_core.answers.units import JudgeAgreement, judge_agreement, same_order
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.words import quantity


@st.cache_resource(max_entries=16, show_spinner="Computing …")
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
    n = len(found.pairs)
    rows = [
        Row(name, (name, value.text(unit="%"), found.constant_figures[name].text(), value.n))
        for name, value in found.figures.items()
    ]
    columns = (Column("measure", "Measure", "title"), Column("judge", run.settings["model"]),
               Column("constant", f"always “{found.constant}”"), Column("n", "n", "number"))  # fmt: skip
    table(columns, rows, key=f"agreement-{run.id}", action="none", caption="Agreement with people")
    st.caption(
        f"{quantity(n, 'label')} of both, questions drawn whole; {quantity(found.n_unlabelled, 'judgement')} "
        f"without a label, taken as wrong; {found.n_missing:,} missing."
    )
    left, right = st.columns(2, gap="large")
    with left:
        labels = list(found.table.columns)
        counts = found.table.T.to_dict("list")
        confusion = [Row(str(name), (str(name), *row)) for name, row in counts.items()]
        heads = [
            Column("people", "People ↓ judge →", "title"),
            *(Column(name, name, "number") for name in labels),
        ]
        table(heads, confusion, key=f"confusion-{run.id}", action="none", caption="People by judge")
    with right:
        _draw_order(info, run)


def _draw_order(info: AnswerSetInfo, run: RunInfo) -> None:
    """The systems' means by people against those by the judge."""
    key = key_of(info)
    people, judge = (values_of(info.name, info.sha256, model, key) for model in ("", run.settings["model"]))
    metric = "coverage" if run.settings["task"] == "citations" else "precision"
    means = [
        values[values["metric"] == metric].groupby("system")["value"].mean() for values in (people, judge)
    ]
    frame = (
        pd.concat(means, axis=1, keys=["x", "y"], join="inner").rename_axis("name").reset_index().assign(n=1)
    )
    if frame.empty:
        return
    tau = same_order(people, judge, metric)
    chart = scatter(frame, f"{metric} by people, %", f"{metric} by the judge, %", SYSTEMS[0].on(is_dark()))
    draw_chart(
        chart, key=f"order-{run.id}", alt=f"{metric} of {len(frame)} systems by people and by the judge"
    )
    st.caption(f"Kendall's tau of the systems' order: {'–' if tau is None else f'{tau:.2f}'}.")


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
        side = "accepted" if mark and mark.label == row.judged else "rejected"
        heading = " · ".join(
            filter(None, (row.question, row.system, f"sentence {row.sentence}", row.document))
        )
        people, judge = f"People: {badge(row.human)}", f"Judge: {badge(row.judged)}"
        return Item(row.unit, heading, people, judge, side if mark else "waiting")  # type: ignore[arg-type]

    def decide(unit: str, label: str | None, author: str) -> None:
        add_mark(store, info.sha256, Mark(unit, label or "", author=author))

    st.caption("Accept: the judge is right. Reject: people are.")
    actions = Actions(
        accept=lambda unit, _, author: decide(unit, rows[unit].judged or rows[unit].human, author),
        reject=lambda unit, author: decide(unit, rows[unit].human, author),
        take_back=lambda unit: decide(unit, "", ""), can_edit=False,
    )  # fmt: skip
    current = desk(state, [item(row) for row in rows.values()], actions, param="unit")
    if current is not None:
        row = rows[current.id]
        answer = answers.answer[row.question, row.system]
        sentence = next(part for part in answer.sentences if part.id == row.sentence)
        question = answers.question[row.question].question or row.question
        st.markdown(f"**{literal(question)}**  \n{literal(row.system)}: {literal(sentence.claim)}")
        results = RunStore(store).results(run.id)
        judgement = judgement_of(judge_labels(store, run), results, row.unit)
        draw_unit(answers, sentence, row.document, judgement, decisions.get(row.unit))
