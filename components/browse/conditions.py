"""Conditions on the instances of the table: a run's score on a task, a slice; each a chip that goes by a click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import local_widget
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.analyses.conditions import (
    MOST,
    RELATIONS,
    Condition,
    ScoreCondition,
    SliceCondition,
    conditions_from,
    conditions_text,
)
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import task_named
from evidencebench_core.words import quantity

_KINDS: Final = {"score": "Score of a run", "slice": "Slice"}
_SLICE_HELP: Final = (
    "The slices of Compare, made of the whole dataset: thirds of about the same size, and the like"
)


def valid_conditions(
    state: PageState, dataset: DatasetInfo, runs: Sequence[RunInfo]
) -> tuple[tuple[Condition, ...], tuple[str, ...]]:
    """The conditions of the address that this dataset and its runs can meet, and what is wrong with the others."""
    asked, problems = conditions_from(state["if"])
    by_id, found, wrong = {run.id: run for run in runs}, [], list(problems)
    for condition in asked:
        try:
            if isinstance(condition, SliceCondition):
                condition.holds(resources.slices(dataset)[0])
            elif condition.run not in by_id:
                raise SettingError(f"run {condition.run}", "is not here", "It may have been deleted.")
            elif not by_id[condition.run].tasks.get(condition.task):
                label = by_id[condition.run].label
                raise SettingError(f"run {label}", f"has no answers for {condition.task}", "Run it again.")
            found.append(condition)
        except SettingError as error:
            wrong.append(f"A condition is left out: {error}")
    return tuple(found), tuple(wrong)


def condition_words(condition: Condition, runs: Sequence[RunInfo]) -> str:
    """``bm25 (ab12c3), ER@10 is above 50%``; ``Sentences: 12 to 30``."""
    if isinstance(condition, SliceCondition):
        return f"{condition.family[:1].upper()}{condition.family[1:]}: {condition.name}"
    label = next((run_label(run) for run in runs if run.id == condition.run), condition.run)
    upper = "" if condition.upper is None else f" and {condition.upper:g}%"
    words = f"{RELATIONS[condition.relation]} {condition.value:g}%{upper}"
    return f"{label}, {task_named(condition.task).title} {words}"


def run_label(run: RunInfo) -> str:
    """A run's label with the beginning of its id, which tells it from others of its name."""
    return f"{run.label} ({run.id[:6]})"


def draw_chips(state: PageState, conditions: Sequence[Condition], runs: Sequence[RunInfo]) -> None:
    """The conditions as buttons that take them away."""
    if not conditions:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        for condition in conditions:
            words = literal(condition_words(condition, runs), 90)
            key = f"condition.{conditions_text([condition])}"
            if st.button(f"✕ {words}", key=key, help="Take this condition away", wrap=True):
                _put(state, [other for other in conditions if other != condition])


def draw_adding(
    state: PageState, dataset: DatasetInfo, runs: Sequence[RunInfo], conditions: Sequence[Condition]
) -> None:
    """The controls by which a condition is made."""
    answered = [run for run in runs if run.tasks]
    with st.popover("Add a condition"):
        kind = st.segmented_control(
            "Condition on",
            list(_KINDS) if answered else ["slice"],
            format_func=_KINDS.__getitem__,
            required=True,
            **local_widget(
                "condition.kind" if answered else "condition.slices", "score" if answered else "slice"
            ),
        )
        new = _score(answered) if kind == "score" else _slice(dataset)
        full = len(conditions) >= MOST
        if st.button(
            "Add",
            type="primary",
            disabled=new is None or full,
            help=f"There are {MOST} already" if full else None,
            key="condition.add",
        ):
            _put(state, [*conditions, *([new] if new else [])])


def _score(runs: Sequence[RunInfo]) -> Condition | None:
    by_id = {run.id: run for run in runs}
    run_id = st.selectbox(
        "Run", list(by_id), format_func=lambda run_id: run_label(by_id[run_id]), key="condition.run"
    )
    tasks = list(by_id[run_id].tasks)
    task = st.selectbox(
        "Task", tasks, format_func=lambda name: task_named(name).title, key=f"condition.task.{run_id}"
    )
    relation = st.selectbox(
        "Aspect Recall", list(RELATIONS), format_func=RELATIONS.__getitem__, key="condition.relation"
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        value = _percent("%", "condition.value", 50.0)
        upper = _percent("and, %", "condition.upper", 100.0) if relation == "between" else None
    if upper is not None and upper < value:
        st.caption("The second value is below the first.")
        return None
    return ScoreCondition(run_id, task, relation, value, upper)


def _percent(label: str, key: str, start: float) -> float:
    return float(
        st.number_input(label, 0.0, 100.0, step=10.0, format="%.1f", width=130, **local_widget(key, start))
    )


def _slice(dataset: DatasetInfo) -> Condition | None:
    families, left_out = resources.slices(dataset)
    if not families:
        st.caption("All instances are alike: there are no slices.")
        return None
    family = st.selectbox(
        "Slices by",
        list(families),
        format_func=lambda name: f"{name[:1].upper()}{name[1:]}",
        help=_SLICE_HELP,
        key="condition.family",
    )
    sizes = {name: int(members.sum()) for name, members in families[family].items()}
    name = st.selectbox(
        "Slice",
        list(sizes),
        format_func=lambda name: f"{name} ({quantity(sizes[name], 'instance')})",
        key=f"condition.slice.{family}",
    )
    for line in left_out:
        st.caption(literal(line))
    return SliceCondition(family, name)


def _put(state: PageState, conditions: Sequence[Condition]) -> None:
    state.put(**{"if": conditions_text(conditions), "page": None})
    st.rerun()
