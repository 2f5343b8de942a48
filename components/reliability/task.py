"""One test of one model, and of a second beside it: the figure with all it stands on, charts, flips, answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.page import percent
from components.app.session import open_later
from components.app.state import PageState
from components.charts.reliability import errors_chart, order_chart, parts_chart, parts_text, steps_chart
from components.reliability.answers import draw_answers, draw_item
from components.reliability.start import judge_dialog
from components.reliability.view import View, colours, label_of, title_of
from components.reliability.words import (
    constants_text,
    estimate_text,
    figure_text,
    paired_text,
    standing_text,
)
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import frame_table, intervals
from components.widgets.keeping import draw_delete
from components.widgets.markdown import literal
from components.widgets.table import Chip, Column, Row, TableEvent, table
from evidencebench_core.palette import ASPECTS
from evidencebench_core.reliability.runs import ReliabilityRun, delete_run, judge_runs
from evidencebench_core.reliability.score import TaskScore
from evidencebench_core.reliability.tasks import RELIABILITY_TASKS
from evidencebench_core.runs import ChatRuns
from evidencebench_core.words import quantity

_STATES: Final = ("right", "wrong", "null")
_FLIPS: Final = (
    Column("before", "Baseline ↓ this test →", "id"),
    *(Column(name, f"Then {name}", "chips") for name in _STATES),
)
_CONFUSION: Final = (Column("gold", "Right answer ↓ read as →", "id"),)
_VARIANTS: Final = (
    Column("step", "Variant", "id"),
    Column("n", "n", "number"),
    Column("f1", "Weighted F1 (95% interval)", "interval"),
    Column("yes", "Share of yes (95% interval)", "interval"),
    Column("null", "Null", "percent", "Answers in which no label was found"),
    Column("f1_answered", "F1 of the answered", "percent"),
    Column("points", "To the baseline, points (95%)"),
)

Scores = Mapping[str, TaskScore]  # by the run's label, at most two


def draw_task(state: PageState, view: View) -> None:
    """Pickers, then what the test found; or one item in every test."""
    if state["item"]:
        draw_item(state, view)
        return
    chosen = _pickers(state, view)
    if chosen is None:
        return
    run, beside = chosen
    task = run.task
    st.markdown(f"## {task.title}")
    st.markdown(task.about)
    scores = {label_of(one): view.score(one) for one in (run, beside) if one is not None}
    for label, score in scores.items():
        st.markdown(f"**{literal(label)}**: {figure_text(score)} {constants_text(score)}")
        if said := paired_text(score):
            st.markdown(said)
        if (gap := score.refrain_gap) is not None:
            st.markdown(
                f"Refrains {estimate_text(gap, signed=True)} points more with another item's text than with its own."
            )
        if score.followed is not None:
            flipped, n = score.followed
            st.markdown(
                f"Of {n:,} items right in the baseline and answered here, {flipped:,} turned with the text."
            )
        st.caption(standing_text(score))
        if score.n_unreviewed:
            link = {"items": view.items.name, "part": "review"}
            st.button(
                "Review the wordings", key=f"review-{score.run}", on_click=open_later, args=("wording", link)
            )
    score = view.score(run)
    if run.task.judge_prompt and score.judged is None:
        st.info(
            "These are answers in free text: a judge, another model, has to read them before there is a figure."
        )
        if st.button("Have answers judged", type="primary", disabled=not run.n_answered):
            judge_dialog(view, [run.id])
        return
    _draw_figures(scores, run)
    drawn = [partial(_draw_flips, state, score)] * (score.baseline is not None) + [
        partial(_draw_confusion, score)
    ]
    for column, draw in zip(st.columns(2, gap="large"), drawn, strict=False):
        with column:
            draw()
    draw_answers(state, view, run, score)


def _pickers(state: PageState, view: View) -> tuple[ReliabilityRun, ReliabilityRun | None] | None:
    """The run that the address names, or the fullest of the task, and one to see beside it."""
    tasks = [name for name in RELIABILITY_TASKS if view.of_task(name)]
    if not tasks:
        st.info(
            "Nothing was asked about these questions yet. Start runs above: the page tells first what it takes."
        )
        return None
    named = view.run(state["run"])
    if state["run"] and named is None:
        st.warning(f"There is no run {literal(state['run'], 40)} on these questions; another is shown.")
    task = state["task"] if state["task"] in tasks else named.task.name if named else tasks[0]
    runs = {run.id: run for run in view.of_task(task)}
    run = runs.get(state["run"]) or next(iter(runs.values()))
    others = {one: other for one, other in runs.items() if one != run.id}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        clear = ("beside", "item", "cell", "null", "label", "variant", "differ", "page")
        st.selectbox("Test", tasks, format_func=title_of, **state.widget("task", task, reset=("run", *clear)))
        st.selectbox(
            "Run",
            list(runs),
            format_func=lambda one: label_of(runs[one]),
            **state.widget("run", run.id, reset=clear),
        )
        if others:
            st.selectbox(
                "Beside it",
                ["", *others],
                format_func=lambda one: label_of(others[one]) if one else "none",
                **state.widget("beside", state["beside"] if state["beside"] in others else ""),
            )
        with st.popover("Delete this run", key=f"keeping.{run.id}"):
            _draw_delete(state, run)
    return run, others.get(state["beside"])


def _draw_delete(state: PageState, run: ReliabilityRun) -> None:
    """The run with its judges' runs, or one of those alone."""
    chosen, judges = run, {one.id: one for one in judge_runs(resources.store(), run.id)}
    if judges:
        names = {run.id: "the run and what judges it"} | {
            one: f"only what {label_of(judge)} said of it" for one, judge in judges.items()
        }
        key = f"deleting.{run.id}.{len(judges)}"
        chosen = judges.get(st.selectbox("What", list(names), format_func=names.__getitem__, key=key), run)
    going = ChatRuns(resources.store()).dependents(ChatRuns(resources.store()).run(chosen.id))
    draw_delete(label_of(chosen), going, partial(_delete, state, chosen), chosen.id)


def _delete(state: PageState, run: ReliabilityRun) -> None:
    delete_run(resources.store(), run)
    if not run.judged:
        state.put(run=None, beside=None, item=None)


# -- figures ----------------------------------------------------------------------------------------


def _draw_figures(scores: Scores, run: ReliabilityRun) -> None:
    """The chart of the task, and every variant in figures."""
    frame = _variants(scores)
    if frame.empty or frame["step"].nunique() < 2:
        return
    key = f"reliability-{'-'.join(scores)}-{run.id}"
    if run.task.name == "few-shot":
        shares = frame.assign(
            order=frame["step"], share=frame["yes"], low=frame["yes_low"], high=frame["yes_high"]
        )
        alt = _alt(shares, "share")
        draw_chart(order_chart(shares), key=key, alt=f"Share of yes by order of the examples: {alt}")
        _draw_bias(scores)
    elif run.task.name == "spelling":
        errors = frame.assign(errors=frame["step"].astype(int), null_rate=frame["null"])
        alt = _alt(errors, "f1")
        draw_chart(errors_chart(errors), key=key, alt=f"Weighted F1 by misspelt words: {alt}")
    elif run.task.name == "unknown":
        _draw_parts(scores, key)
    else:
        title = {"distraction": "Place of the text that matters, from 0"}.get(run.task.name, "Variant")
        steps = frame.assign(share=frame["f1"])
        alt = _alt(steps, "share")
        draw_chart(steps_chart(steps, title), key=key, alt=f"Weighted F1: {alt}")
    with st.expander("Every variant in figures"):
        shown = frame.assign(f1=intervals(frame, "f1"), yes=intervals(frame, "yes", "yes_low", "yes_high"))
        columns = (Column("group", "Run"), *_VARIANTS) if len(scores) > 1 else _VARIANTS
        frame_table(columns, shown, key=f"variants-{key}", action="none", caption="The task's variants")


def _alt(frame: pd.DataFrame, value: str) -> str:
    rows = frame.to_dict("records")
    return "; ".join(f"{row['group']}, {row['step']}: {100 * row[value]:.1f}%" for row in rows)


def _variants(scores: Scores) -> pd.DataFrame:
    """A row a run and variant; ``low`` and ``high`` are of ``f1``."""
    hues, rows = colours(list(scores)), []
    for label, score in scores.items():
        for name, one in score.variants.items():
            f1, yes = one.f1_weighted, one.share_of_yes
            difference = score.baseline.variants.get(name) if score.baseline else None
            rows.append(
                {
                    "group": label,
                    "colour": hues[label],
                    "step": name,
                    "n": one.n,
                    "f1": f1.value,
                    "low": f1.ci95[0] if f1.ci95 else None,
                    "high": f1.ci95[1] if f1.ci95 else None,
                    "yes": yes.value,
                    "yes_low": yes.ci95[0] if yes.ci95 else None,
                    "yes_high": yes.ci95[1] if yes.ci95 else None,
                    "null": one.null_rate,
                    "f1_answered": one.f1_answered,
                    "points": estimate_text(difference, signed=True) if difference else None,
                }
            )
    floats = ("f1", "low", "high", "yes", "yes_low", "yes_high", "null", "f1_answered")
    return pd.DataFrame(rows).astype(dict.fromkeys(floats, float)) if rows else pd.DataFrame()


def _draw_bias(scores: Scores) -> None:
    lines = []
    for label, score in scores.items():
        if (bias := score.bias) is None:
            continue
        parts = (("signed", bias.signed), ("first place", bias.primacy), ("last place", bias.recency))
        said = ", ".join(f"{name} {estimate_text(value, signed=True)}" for name, value in parts)
        lines.append(f"- **{literal(label)}**: {said} points.")
    if lines:
        st.markdown("\n".join(lines))
        st.caption(
            "Signed: above 0 the model leans to yes. First and last place: share of yes after a yes there minus after "
            "a no there; a contrast, since the orders are not balanced over places."
        )


def _draw_parts(scores: Scores, key: str) -> None:
    """Refrained, in other words, yes, no, null: with another item's text and with its own."""
    where = {"shuffled": "another item's text", "mirror": "its own text"}
    rows = []
    for label, score in scores.items():
        for name, one in score.variants.items():
            unknown = one.shares.get("unknown", 0.0)
            model = f"{label}: " if len(scores) > 1 else ""
            rows.append(
                {
                    "where": f"{model}{where.get(name, name)}",
                    "n": one.n,
                    "literal": unknown - one.other_words,
                    "other": one.other_words,
                    **{part: one.shares.get(part, 0.0) for part in ("yes", "no", "null")},
                }
            )
    hues = [hue.on(is_dark()) for hue in ASPECTS]
    parts = (
        ("literal", "says Unknown", hues[0], ""),
        ("other", "in other words", hues[5], "/"),
        ("yes", "yes", hues[1], ""),
        ("no", "no", hues[6], "\\"),
        ("null", "null", hues[7], "x"),
    )
    frame = pd.DataFrame(rows)
    alt = parts_text(frame, {column: name for column, name, *_ in parts})
    draw_chart(parts_chart(frame, parts), key=key, alt=f"What the model answers: {alt}")


# -- tables that lead to answers ----------------------------------------------------------------------


def _draw_flips(state: PageState, score: TaskScore) -> None:
    """The baseline's answers by this test's: right, wrong, null; each number leads to its answers."""
    if (paired := score.baseline) is None:
        return
    st.markdown("### Against the baseline, item by item")

    def open_cell(event: TableEvent) -> None:
        if event.kind == "chip":
            state.put(cell=None if state["cell"] == event.value else event.value, page=None)

    total = sum(sum(row.values()) for row in paired.flips.values())
    rows = []
    for before in _STATES:
        counts = [paired.flips.get(before, {}).get(after, 0) for after in _STATES]
        chips = [
            (Chip(f"{before}-{after}", f"{n:,} ({percent(n / total)})"),) if n else None
            for after, n in zip(_STATES, counts, strict=True)
        ]
        rows.append(Row(before, (f"first {before}", *chips)))
    caption = "Baseline by this test; a number shows its answers"
    table(_FLIPS, rows, key="flips", action="none", on_event=open_cell, caption=caption)
    st.caption(
        f"n = {total:,} pairs. Rows: with nothing changed. Columns: in this test. A number shows its answers below. "
        f"Same label in both: {percent(paired.consistency)} of all, {percent(paired.consistency_answered)} of those "
        "answered in both."
    )


def _draw_confusion(score: TaskScore) -> None:
    """Expected label by the label read, nulls with their reasons below."""
    if not score.confusion:
        return
    st.markdown("### What was read")
    labels = list(dict.fromkeys(label for row in score.confusion.values() for label in row))
    columns = (*_CONFUSION, *(Column(label, f"read as {label}", "number") for label in labels))
    rows = [
        Row(gold, (f"right: {gold}", *(row.get(label, 0) for label in labels)))
        for gold, row in score.confusion.items()
    ]
    table(columns, rows, key="confusion", action="none", caption="Expected label by the label that was read")
    st.caption(
        f"{nulls_text(score.nulls)} {score.readers_differ:,} answers are read otherwise by RAmBLA's own reader."
    )


def nulls_text(nulls: Mapping[str, int]) -> str:
    """Why answers have no label."""
    total = sum(nulls.values())
    named = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in nulls.items() if n)
    return f"{quantity(total, 'answer')} without a label: {named}." if total else "Every answer has a label."
