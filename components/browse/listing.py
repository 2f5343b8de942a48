"""The table of a dataset's instances: search, filters, sort by heading, and each chosen run's recall beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.browse.notes import NOTES, note_cell, note_kind
from components.frame.filters import Filter, filter_popover, filtered
from components.frame.page import Context
from components.widgets.frame_table import frame_table
from components.widgets.table import Column, TableEvent
from components.widgets.table.paging import paging, put_sort
from evidencebench_core.data.search import best_sentence

LIST_DEFAULTS: Final = {"q": "", "s": "", "where": "", "sort": "", "desc": "", "page": "1"}

_COUNTS: Final = {
    "n_sentences": ("Sentences", "Size of the candidate pool"),
    "n_aspects": ("Aspects", "Study aspects"),
    "n_result_aspects": ("Results", "Result aspects"),
    "optimal": ("Optimal K", "Fewest sentences that cover all aspects"),
}
_HYPOTHESIS: Final = Column("hypothesis", "Hypothesis", "title", sortable=True)


def listing(state: PageState, context: Context) -> pd.DataFrame:
    """The instances that the search, the filters and the sort in the address leave."""
    return _chosen(state, context, _found(state, context))


def _chosen(state: PageState, context: Context, frame: pd.DataFrame) -> pd.DataFrame:
    """What the filters leave of a frame, sorted."""
    frame = filtered(state, frame, _filters(context, frame))
    if state["sort"] in frame:
        frame = frame.sort_values(state["sort"], ascending=state["desc"] != "1", kind="stable")
    return frame


def _found(state: PageState, context: Context) -> pd.DataFrame:
    """What the search leaves, with notes, and with the recall of the runs that sort or filter it."""
    frame = resources.instances(context.dataset)
    if state["q"] or state["s"]:
        ids = resources.matching(context.dataset, state["q"], state["s"])
        frame = frame[frame["id"].isin(ids)]
    notes = resources.notes(context.dataset)
    columns: dict[str, Any] = {
        run.id: frame["id"].map(resources.run_score(run, context.task.name).per_instance)
        for run in context.runs
        if run.id in state["sort"] or run.id in state["where"]
    }
    if notes:
        columns["noted"] = [note_kind(notes.get(name, ())) for name in frame["id"]]
    return frame.assign(**columns)


def found_sentence(state: PageState, context: Context, instance_id: str) -> int | None:
    """The sentence of an instance that the search for sentences has found; ``None`` without one."""
    return best_sentence(resources.instance(context.dataset, instance_id).sentences, state["s"])


def draw_list(state: PageState, context: Context) -> None:
    """Draw search, filters and table; a click on a row opens its instance."""
    matches = _found(state, context)
    frame = _chosen(state, context, matches)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="filter-bar"):
        for param, place, example in (
            ("q", "hypotheses", 'wine "stomach cancer"'),
            ("s", "sentences", '"odds ratio" tequila'),
        ):
            st.text_input(
                f"Search {place}",
                placeholder=f"Search {place}: {example}",
                label_visibility="collapsed",
                width=330,
                **state.widget(param, state[param], reset=("page",)),
            )
        filter_popover(state, matches, _filters(context, matches))
        if any(state[name] != default for name, default in LIST_DEFAULTS.items() if name != "page"):
            st.button("Clear", key="clear", on_click=state.put, kwargs=dict.fromkeys(LIST_DEFAULTS))
        st.caption(f"{len(frame):,} of {context.dataset.n_instances:,}", width="content")
    _draw_table(state, context, frame)


def shared_prefix(ids: Sequence[str]) -> str:
    """What all ids begin with, up to the last ``_`` or ``-``; nothing of fewer than two."""
    if len(ids) < 2:
        return ""
    first, last = min(ids), max(ids)
    n = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[: max(first.rfind("_", 0, n), first.rfind("-", 0, n)) + 1]


def _filters(context: Context, frame: pd.DataFrame) -> list[Filter]:
    """What the list can be filtered by."""
    return [
        *([Filter("noted", "Flags and comments", "choice")] if "noted" in frame else []),
        *(Filter(column, label) for column, (label, _) in _COUNTS.items()),
        *(Filter(run.id, f"Recall of {run.label}", "percent") for run in context.runs),
    ]


def _draw_table(state: PageState, context: Context, frame: pd.DataFrame) -> None:
    page = paging(state, len(frame))
    frame = frame.iloc[page.rows]
    notes = resources.notes(context.dataset)
    prefix = shared_prefix(resources.instances(context.dataset)["id"].head(50).tolist())

    def on_event(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            state.put(instance=event.value, sentence=found_sentence(state, context, event.value))

    note_cells: Any = [note_cell(notes.get(name, ())) for name in frame["id"]]
    recalls = {
        run.id: frame["id"].map(resources.recalls(run, context.task.name, tuple(frame["id"])))
        for run in context.runs
        if run.id not in frame
    }
    cells = frame.assign(notes=note_cells, name=frame["id"].str.removeprefix(prefix), **recalls)
    frame_table(
        (
            _HYPOTHESIS,
            *([NOTES] if notes else []),
            *(
                Column(run.id, run.label, "percent", f"Aspect Recall on {context.task.title}", sortable=True)
                for run in context.runs
            ),
            *(
                Column(column, label, "number", text, sortable=True)
                for column, (label, text) in _COUNTS.items()
            ),
            Column("name", "Instance", "id", prefix and f"Ids begin with {prefix}"),
        ),
        cells,
        key="instances",
        ids="id",
        on_event=on_event,
        sort=state["sort"],
        descending=state["desc"] == "1",
        caption=f"Instances of {context.dataset.name}",
        empty="No instance matches. Use fewer words or wider filters.",
    )
    page.draw(state)
