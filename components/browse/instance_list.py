"""The table of a dataset's instances: search, filter, sort, and each run's recall beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.table import Column, Row, Snippet, TableEvent, table
from components.widgets.table.paging import paging, put_sort
from components.widgets.task_picker import task_picker
from evidencebench_core.data import DatasetInfo, Filter
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

LIST_DEFAULTS: Final = {
    "q": "",
    "s": "",
    "where": "",
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


@dataclass(frozen=True, slots=True)
class Listing:
    """The instances that the address asks for, in its order."""

    ids: tuple[str, ...]
    recalls: Mapping[str, Mapping[str, float]]
    """Aspect Recall on the task, by chosen run and instance id."""
    n_unscored: int = 0
    """Instances left out by a filter or sort on a run's recall, because the run has none for them."""


def chosen_runs(state: PageState, runs: Sequence[RunInfo]) -> tuple[RunInfo, ...]:
    """The runs whose recall is shown, in the order chosen."""
    by_id = {run.id: run for run in runs}
    return tuple(by_id[run_id] for run_id in state.many("runs") if run_id in by_id)


def listing(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> Listing:
    """The instances that the search, the filters and the sort in the address leave."""
    ranges = state.ranges("where")
    sort, descending = state["sort"], state["desc"] == "1"
    wanted = Filter(
        hypothesis=state["q"],
        sentences=state["s"],
        ranges={column: bounds for column, bounds in ranges.items() if column in _RANGES},
        sort=sort if sort in _SORTS else "position",
        descending=descending and sort in _SORTS,
    )
    ids = resources.matching(dataset, wanted)
    recalls = {
        run.id: resources.run_score(run, task.name).per_instance
        for run in chosen_runs(state, runs)
        if task.name in run.tasks
    }
    before = len(ids)
    for run_id in recalls.keys() & ranges.keys():
        (low, high), recall = ranges[run_id], recalls[run_id]
        ids = tuple(i for i in ids if i in recall and low <= 100 * recall[i] <= high)
    if sort in recalls:
        recall, sign = recalls[sort], -1 if descending else 1
        ids = tuple(sorted((i for i in ids if i in recall), key=lambda i: sign * recall[i]))
    return Listing(ids, recalls, before - len(ids))


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
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _filters(state, dataset, chosen_runs(state, runs))
        with st.popover(
            "Recall of runs", disabled=not runs, help=None if runs else "No run on this dataset yet."
        ):
            task = task_picker(state)
            labels = {run.id: f"{run.label} ({run.id[:6]})" for run in runs}
            st.multiselect(
                "Runs to show beside the instances",
                list(labels),
                format_func=lambda run_id: labels[run_id],
                max_selections=4,
                **state.widget("runs", [run.id for run in chosen_runs(state, runs)], tuple),
            )
            for run in chosen_runs(state, runs):
                _range_slider(state, run.id, f"Recall of {labels[run.id]}, %", 100)
        changed = any(state[name] != default for name, default in LIST_DEFAULTS.items() if name != "page")
        if changed and st.button("Clear all", key="clear"):
            state.put(**dict.fromkeys(LIST_DEFAULTS))
            st.rerun()
    found = listing(state, dataset, task, runs)
    _table(state, dataset, found, chosen_runs(state, runs), task)


def _filters(state: PageState, dataset: DatasetInfo, runs: Sequence[RunInfo]) -> None:
    n_active = len(_RANGES.keys() & state.ranges("where").keys())
    with st.popover(f"Filters ({n_active})" if n_active else "Filters"):
        for column, label in _RANGES.items():
            if column == "ends_coverage":
                _range_slider(state, column, label, 100, scale=100, help_text=_ENDS_HELP)
            else:
                _range_slider(state, column, label, resources.largest(dataset, column))
    with st.popover("Sort"):
        options = _SORTS | {run.id: f"Aspect Recall of {run.label}" for run in runs}
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
    ranges = state.ranges("where")
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


def _table(
    state: PageState, dataset: DatasetInfo, found: Listing, runs: Sequence[RunInfo], task: Task
) -> None:
    page = paging(state, len(found.ids))
    shown = resources.store().rows(dataset.name, found.ids[page.rows])
    hits = resources.sentence_hits(dataset, found.ids[page.rows], state["s"])
    _count_line(dataset, found)
    runs = [run for run in runs if run.id in found.recalls]

    def on_event(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            state.put(instance=event.value, sentence=found_sentence(state, dataset, event.value))

    recalls = (
        Column(run.id, run.label, "percent", f"Aspect Recall on {task.title}, run {run.id}", sortable=True)
        for run in runs
    )
    rows = []
    for row in shown:
        counts = (
            row.n_sentences,
            row.n_aspects,
            row.n_result_aspects or None,
            row.optimal,
            row.ends_coverage,
        )
        recall = (found.recalls[run.id].get(row.id) for run in runs)
        snippet = (Snippet(hits[row.id].sentence, hits[row.id].parts),) if row.id in hits else (None,)
        rows.append(Row(row.id, (row.hypothesis, *(snippet if hits else ()), row.id, *counts, *recall)))
    table(
        (_COLUMNS[0], *(_FOUND if hits else ()), *_COLUMNS[1:], *recalls),
        rows,
        key="instances",
        on_event=on_event,
        sort=state["sort"],
        descending=state["desc"] == "1",
        caption=f"Instances of {dataset.name}",
        empty="No instance matches. Use fewer words or wider ranges.",
    )
    page.draw(state)


def _count_line(dataset: DatasetInfo, found: Listing) -> None:
    total = f"{len(found.ids):,} of {dataset.n_instances:,} instances"
    unscored = f"; {found.n_unscored:,} left out by the recall of a run" if found.n_unscored else ""
    st.caption(
        f"{total}{unscored}. "
        + ("Click one to read it. " if found.ids else "")
        + "Optimal K: the smallest number of sentences that cover all aspects. "
        f"Ends coverage: {_ENDS_HELP[0].lower()}{_ENDS_HELP[1:]}."
    )
