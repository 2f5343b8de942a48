"""The table of a dataset's instances: search, filter, sort, and each run's recall beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.browse.conditions import draw_adding, draw_chips, run_label, valid_conditions
from components.browse.notes import NOTED, NOTES, draw_export, note_cell, noted_rows
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, Snippet, TableEvent, table
from components.widgets.table.paging import paging, put_sort
from components.widgets.task_picker import task_picker
from evidencebench_core.analyses.conditions import Condition, ScoreCondition, meeting
from evidencebench_core.data import DatasetInfo, Filter
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task, task_named

LIST_DEFAULTS: Final = {
    "q": "",
    "s": "",
    "where": "",
    "if": "",
    "noted": "",
    "sort": "position",
    "desc": "",
    "page": "1",
    "runs": "",
}

_RANGES: Final = {
    "n_sentences": "Sentences",
    "n_aspects": "Study aspects",
    "n_result_aspects": "Result aspects",
    "optimal": "Optimal K",
    "ends_coverage": "Ends coverage, %",
}
_SORTS: Final = {
    "position": "File order",
    "id": "Instance id",
    "hypothesis": "Hypothesis",
    "n_sentences": "Sentences",
    "n_aspects": "Study aspects",
    "n_result_aspects": "Result aspects",
    "optimal": "Optimal K",
    "results_optimal": "Optimal K, result aspects",
    "ends_coverage": "Ends coverage",
}
_ENDS_HELP: Final = (
    "Share of the aspects that the first 10 and the last 10 sentences of the paper cover together"
)
_COLUMNS: Final = (
    Column("hypothesis", "Hypothesis", "title", sortable=True),
    Column("id", "Instance", "id", sortable=True),
    Column("n_sentences", "Sentences", "number", "Size of the candidate pool", True),
    Column("n_aspects", "Aspects", "number", "Study aspects", True),
    Column("n_result_aspects", "Results", "number", "Result aspects; – where the data has none", True),
    Column("optimal", "Optimal K", "number", "Smallest number of sentences that cover all aspects", True),
    Column("ends_coverage", "Ends coverage", "percent", _ENDS_HELP, True),
)
_FOUND: Final = (
    Column(
        "found", "Found", "snippet", "The sentence with the most of the words; a click opens the paper there"
    ),
)


_NO_FILTER: Final = (
    "A range in this link is no filter here and is left out. For a run's recall use “Add a condition”; "
    "“Clear all” removes the range."
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The instances that the address asks for, in its order."""

    ids: tuple[str, ...]
    columns: Mapping[str, tuple[RunInfo, str]]
    """Runs and tasks whose recall is shown, by the key of the column."""
    conditions: tuple[Condition, ...] = ()
    problems: tuple[str, ...] = ()
    """Problems of the conditions of the address."""
    n_unscored: int = 0
    """Instances left out by a condition or sort on a run's recall, because the run has none for them."""


def _ranges(state: PageState) -> dict[str, tuple[float, float]]:
    """The address's ``n_aspects:5-9,optimal:2-4`` as ranges; what is none is left out."""
    ranges = {}
    for part in state["where"].split(","):
        column, _, span = part.partition(":")
        low, _, high = span.partition("-")
        with suppress(ValueError):
            ranges[column] = (float(low), float(high))
    return ranges


def chosen_runs(state: PageState, runs: Sequence[RunInfo]) -> tuple[RunInfo, ...]:
    """The runs whose recall is shown, in the order chosen."""
    by_id = {run.id: run for run in runs}
    return tuple(by_id[run_id] for run_id in state.many("runs") if run_id in by_id)


def listing(state: PageState, dataset: DatasetInfo, runs: Sequence[RunInfo]) -> Listing:
    """The instances that the search, the filters and the sort in the address leave."""
    sort, descending = state["sort"], state["desc"] == "1"
    wanted = Filter(
        hypothesis=state["q"],
        sentences=state["s"],
        ranges={column: bounds for column, bounds in _ranges(state).items() if column in _RANGES},
        sort=sort if sort in _SORTS else "position",
        descending=descending and sort in _SORTS,
    )
    conditions, problems = valid_conditions(state, dataset, runs)
    if _ranges(state).keys() - _RANGES.keys():
        problems += (_NO_FILTER,)
    columns = _recall_columns(state, runs, conditions)
    noted = noted_rows(dataset, state["noted"])
    if not conditions and noted is None and sort not in columns:
        return Listing(resources.matching(dataset, wanted), columns, conditions, problems)
    rows, by_id = resources.matching_rows(dataset, wanted), {run.id: run for run in runs}
    met, unscored = meeting(
        conditions,
        dataset.n_instances,
        lambda condition: resources.recalls(dataset, by_id[condition.run], condition.task),
        lambda: resources.slices(dataset)[0],
    )
    if noted is not None:
        met, unscored = met & noted, unscored & noted
    n_unscored, rows = int(unscored[rows].sum()), rows[met[rows]]
    if sort in columns:
        values = resources.recalls(dataset, *columns[sort])[rows]
        n_unscored += int(np.isnan(values).sum())
        order = np.argsort(-values if descending else values, kind="stable")
        rows = rows[order][: int((~np.isnan(values)).sum())]  # those without one come last
    ids = resources.ids(dataset)[rows]
    return Listing(tuple(ids.tolist()), columns, conditions, problems, n_unscored)


def _recall_columns(
    state: PageState, runs: Sequence[RunInfo], conditions: Sequence[Condition]
) -> dict[str, tuple[RunInfo, str]]:
    """The chosen runs on the page's task, and what conditions are on beside them."""
    by_id, task = {run.id: run for run in runs}, _task(state).name
    columns = {run.id: (run, task) for run in chosen_runs(state, runs) if task in run.tasks}
    for one in conditions:
        if isinstance(one, ScoreCondition) and (by_id[one.run], one.task) not in columns.values():
            columns[f"{one.run} {one.task}"] = (by_id[one.run], one.task)
    return columns


def _task(state: PageState) -> Task:
    """The task of the address, or the default where that is none."""
    try:
        return task_named(state["task"])
    except SettingError:
        return task_named(state.defaults["task"])


def found_sentence(state: PageState, dataset: DatasetInfo, instance_id: str) -> int | None:
    """The sentence of an instance that the search for sentences has found; ``None`` without one."""
    hit = resources.sentence_hits(dataset, (instance_id,), state["s"]).get(instance_id)
    return None if hit is None else hit.sentence


def draw_list(state: PageState, dataset: DatasetInfo) -> None:
    """Draw search, filters and table; a click on a row opens its instance."""
    left, right = st.columns(2)
    left.text_input(
        "Search hypotheses",
        placeholder="wine stomach cancer",
        help="All words must occur; the last may be the beginning of one. Put a phrase in double quotes.",
        **state.widget("q", state["q"], reset=("page",)),
    )
    right.text_input(
        "Search sentences",
        placeholder='"odds ratio" tequila',
        help="Papers in which all words occur, in any sentence. Put a phrase in double quotes.",
        **state.widget("s", state["s"], reset=("page",)),
    )
    runs = resources.runs(dataset)
    found = listing(state, dataset, runs)
    for problem in found.problems:
        st.warning(literal(problem, 400))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _filters(state, dataset)
        draw_adding(state, dataset, runs, found.conditions)
        _shown_recalls(state, runs)
        _sorting(state, found.columns)
        draw_export(dataset, found.ids)
        changed = any(state[name] != default for name, default in LIST_DEFAULTS.items() if name != "page")
        if changed and st.button("Clear all", key="clear"):
            state.put(**dict.fromkeys(LIST_DEFAULTS))
            st.rerun()
    draw_chips(state, found.conditions, runs)
    _table(state, dataset, found)


def _filters(state: PageState, dataset: DatasetInfo) -> None:
    n_active = len(_RANGES.keys() & _ranges(state).keys()) + (
        state["noted"] in NOTED and state["noted"] != ""
    )
    with st.popover(f"Filters ({n_active})" if n_active else "Filters"):
        st.selectbox(
            "Flags and comments",
            list(NOTED),
            format_func=NOTED.__getitem__,
            **state.widget("noted", state["noted"] if state["noted"] in NOTED else "", reset=("page",)),
        )
        for column, label in _RANGES.items():
            if column == "ends_coverage":
                _range_slider(state, column, label, 100, scale=100, help_text=_ENDS_HELP)
            else:
                _range_slider(state, column, label, resources.largest(dataset, column))


def _shown_recalls(state: PageState, runs: Sequence[RunInfo]) -> None:
    why_not = None if runs else "No run on this dataset yet."
    with st.popover("Recall of runs", disabled=not runs, help=why_not):
        task_picker(state)
        labels = {run.id: run_label(run) for run in runs}
        st.multiselect(
            "Runs to show beside the instances",
            list(labels),
            format_func=labels.__getitem__,
            max_selections=4,
            **state.widget("runs", [run.id for run in chosen_runs(state, runs)], tuple),
        )


def _sorting(state: PageState, columns: Mapping[str, tuple[RunInfo, str]]) -> None:
    with st.popover("Sort"):
        recalls = {
            key: f"{task_named(task).title} of {run_label(run)}" for key, (run, task) in columns.items()
        }
        options = _SORTS | recalls
        sort = state["sort"] if state["sort"] in options else "position"
        st.selectbox(
            "Sort by",
            list(options),
            format_func=options.__getitem__,
            **state.widget("sort", sort, reset=("page",)),
        )
        st.checkbox(
            "Descending",
            **state.widget("desc", state["desc"] == "1", lambda on: "1" if on else "", reset=("page",)),
        )


def _range_slider(
    state: PageState, column: str, label: str, top: int, scale: int = 1, help_text: str | None = None
) -> None:
    ranges = _ranges(state)
    low, high = ranges.get(column, (0.0, top / scale))

    def read(values: tuple[int, int]) -> str:
        changed = {name: bounds for name, bounds in ranges.items() if name != column}
        if values != (0, top):
            changed[column] = (values[0] / scale, values[1] / scale)
        return ",".join(f"{name}:{low:g}-{high:g}" for name, (low, high) in sorted(changed.items()))

    value = (min(round(low * scale), top), min(round(high * scale), top))
    st.slider(
        label, 0, top, help=help_text, **state.widget("where", value, read, part=column, reset=("page",))
    )


def _table(state: PageState, dataset: DatasetInfo, found: Listing) -> None:
    page = paging(state, len(found.ids))
    ids = found.ids[page.rows]
    hits = resources.sentence_hits(dataset, ids, state["s"])
    noted = resources.notes(dataset)
    _count_line(dataset, found)

    def on_event(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            state.put(instance=event.value, sentence=found_sentence(state, dataset, event.value))

    several = len({task for _, task in found.columns.values()}) > 1
    recalls = [
        Column(
            key,
            f"{run.label}, {task_named(task).title}" if several else run.label,
            "percent",
            f"Aspect Recall on {task_named(task).title}, run {run.id}",
            sortable=True,
        )
        for key, (run, task) in found.columns.items()
    ]
    scores = [resources.run_score(run, task).per_instance for run, task in found.columns.values()]
    rows = []
    for row in resources.store().rows(dataset.name, ids):
        counts = (
            row.n_sentences,
            row.n_aspects,
            row.n_result_aspects or None,
            row.optimal,
            row.ends_coverage,
        )
        snippet = (Snippet(hits[row.id].sentence, hits[row.id].parts),) if row.id in hits else (None,)
        beside = (*(snippet if hits else ()), *((note_cell(noted.get(row.id, ())),) if noted else ()))
        rows.append(
            Row(row.id, (row.hypothesis, *beside, row.id, *counts, *(score.get(row.id) for score in scores)))
        )
    table(
        (_COLUMNS[0], *(_FOUND if hits else ()), *((NOTES,) if noted else ()), *_COLUMNS[1:], *recalls),
        rows,
        key="instances",
        on_event=on_event,
        sort=state["sort"],
        descending=state["desc"] == "1",
        caption=f"Instances of {dataset.name}",
        empty="No instance matches. Use fewer words, wider ranges or fewer conditions.",
    )
    page.draw(state)


def _count_line(dataset: DatasetInfo, found: Listing) -> None:
    total = f"{len(found.ids):,} of {dataset.n_instances:,} instances"
    unscored = (
        f"; {found.n_unscored:,} left out because a run has no score for them" if found.n_unscored else ""
    )
    st.caption(
        f"{total}{unscored}. "
        + ("Click one to read it. " if found.ids else "")
        + "Optimal K: the smallest number of sentences that cover all aspects. "
        f"Ends coverage: {_ENDS_HELP[0].lower()}{_ENDS_HELP[1:]}."
    )
