"""The table of a dataset's instances: search, filters, sort by heading, and each chosen run's recall beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.browse.notes import NOTED, NOTES, draw_export, has_note, note_cell
from components.frame.filters import Filter, draw_filters, wanted_filters
from components.frame.page import Context
from components.widgets.table import Column, Row, Snippet, TableEvent, table
from components.widgets.table.paging import paging, put_sort
from evidencebench_core.data import Filter as StoreFilter
from evidencebench_core.runs import RunInfo

LIST_DEFAULTS: Final = {
    "q": "",
    "s": "",
    "where": "",
    "noted": "",
    "sort": "position",
    "desc": "",
    "page": "1",
}

_COUNTS: Final = {
    "n_sentences": "Sentences",
    "n_aspects": "Study aspects",
    "n_result_aspects": "Result aspects",
    "optimal": "Optimal K",
}
_SORTS: Final = ("position", "id", "hypothesis", *_COUNTS)
_HYPOTHESIS: Final = Column("hypothesis", "Hypothesis", "title", sortable=True)
_FOUND: Final = Column("found", "Found", "snippet", "The sentence with the most of the words")


@dataclass(frozen=True, slots=True)
class Listing:
    """The instances that the address asks for, in its order."""

    ids: tuple[str, ...]
    n_unscored: int = 0
    """Instances left out because a run that is filtered or sorted by has no score for them."""


def listing(state: PageState, context: Context) -> Listing:
    """The instances that the search, the filters and the sort in the address leave."""
    dataset, sort, descending = context.dataset, state["sort"], state["desc"] == "1"
    wanted = wanted_filters(state, filters_of(context))
    ranges = {
        column: tuple(None if math.isinf(bound) else bound for bound in bounds)
        for column, bounds in wanted.items()
        if column in _COUNTS
    }
    filtered = StoreFilter(
        hypothesis=state["q"],
        sentences=state["s"],
        ranges={column: (low, high) for column, (low, high) in ranges.items()},
        sort=sort if sort in _SORTS else "position",
        descending=descending and sort in _SORTS,
    )
    ids = resources.matching(dataset, filtered)
    if state["noted"] in NOTED and state["noted"]:
        notes = resources.notes(dataset)
        ids = tuple(name for name in ids if has_note(notes.get(name, ()), state["noted"]))
    n = len(ids)
    recalls = {run.id: recalls_of(run, context) for run in context.runs}
    for run_id, recall in recalls.items():
        if run_id in wanted:
            low, high = wanted[run_id]
            ids = tuple(name for name in ids if low <= recall.get(name, math.nan) <= high)
    if sort in recalls:
        recall = recalls[sort]
        scored = [name for name in ids if name in recall]
        ids = tuple(sorted(scored, key=lambda name: recall[name], reverse=descending))
    used = [recall for run_id, recall in recalls.items() if run_id in wanted or run_id == sort]
    everything = resources.matching(dataset, filtered) if used and n else ()
    return Listing(ids, sum(any(name not in recall for recall in used) for name in everything))


def recalls_of(run: RunInfo, context: Context) -> Mapping[str, float]:
    """A run's recall by instance id, of those that it is scored on."""
    return resources.run_score(run, context.task.name).per_instance


def filters_of(context: Context) -> list[Filter]:
    """What the list can be filtered by."""
    counts = [Filter(column, label) for column, label in _COUNTS.items()]
    return [*counts, *(Filter(run.id, f"Recall of {run.label}", "percent") for run in context.runs)]


def found_sentence(state: PageState, context: Context, instance_id: str) -> int | None:
    """The sentence of an instance that the search for sentences has found; ``None`` without one."""
    hit = resources.sentence_hits(context.dataset, (instance_id,), state["s"]).get(instance_id)
    return None if hit is None else hit.sentence


def draw_list(state: PageState, context: Context) -> None:
    """Draw search, filters and table; a click on a row opens its instance."""
    found = listing(state, context)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="filter-bar"):
        st.text_input(
            "Search hypotheses",
            placeholder='Search hypotheses: wine "stomach cancer"',
            label_visibility="collapsed",
            width=330,
            **state.widget("q", state["q"], reset=("page",)),
        )
        st.text_input(
            "Search sentences",
            placeholder='Search sentences: "odds ratio" tequila',
            label_visibility="collapsed",
            width=330,
            **state.widget("s", state["s"], reset=("page",)),
        )
        n_filters = len(wanted_filters(state, filters_of(context))) + bool(state["noted"])
        with st.popover(f"Filters ({n_filters})" if n_filters else "Filters"):
            st.selectbox(
                "Flags and comments",
                list(NOTED),
                format_func=NOTED.__getitem__,
                **state.widget("noted", state["noted"] if state["noted"] in NOTED else "", reset=("page",)),
            )
            draw_filters(state, filters_of(context))
        draw_export(context.dataset, found.ids)
        if any(state[name] != default for name, default in LIST_DEFAULTS.items() if name != "page"):
            st.button("Clear", key="clear", on_click=state.put, kwargs=dict.fromkeys(LIST_DEFAULTS))
        unscored = f", {found.n_unscored:,} not scored" if found.n_unscored else ""
        st.caption(f"{len(found.ids):,} of {context.dataset.n_instances:,}{unscored}", width="content")
    _draw_table(state, context, found)


def shared_prefix(ids: Sequence[str]) -> str:
    """What all ids begin with, up to the last ``_`` or ``-``; nothing of fewer than two."""
    if len(ids) < 2:
        return ""
    first, last = min(ids), max(ids)
    n = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[: max(first.rfind("_", 0, n), first.rfind("-", 0, n)) + 1]


def _draw_table(state: PageState, context: Context, found: Listing) -> None:
    page = paging(state, len(found.ids))
    ids = found.ids[page.rows]
    hits = resources.sentence_hits(context.dataset, ids, state["s"])
    noted = resources.notes(context.dataset)
    prefix = shared_prefix(resources.first_ids(context.dataset))

    def on_event(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            state.put(instance=event.value, sentence=found_sentence(state, context, event.value))

    columns = [
        _HYPOTHESIS,
        *([_FOUND] if hits else []),
        *([NOTES] if noted else []),
        *(
            Column(run.id, run.label, "percent", f"Aspect Recall on {context.task.title}", sortable=True)
            for run in context.runs
        ),
        Column("n_sentences", "Sentences", "number", "Size of the candidate pool", True),
        Column("n_aspects", "Aspects", "number", "Study aspects", True),
        Column("n_result_aspects", "Results", "number", "Result aspects", True),
        Column("optimal", "Optimal K", "number", "Fewest sentences that cover all aspects", True),
        Column("id", "Instance", "id", prefix and f"Ids begin with {prefix}", True),
    ]
    recalls = [recalls_of(run, context) for run in context.runs]
    rows = []
    for row in resources.store().rows(context.dataset.name, ids):
        hit = hits.get(row.id)
        cells = (
            row.hypothesis,
            *([Snippet(hit.sentence, hit.parts) if hit else None] if hits else []),
            *([note_cell(noted.get(row.id, ()))] if noted else []),
            *(recall.get(row.id) for recall in recalls),
            row.n_sentences,
            row.n_aspects,
            row.n_result_aspects or None,
            row.optimal,
            row.id.removeprefix(prefix),
        )
        rows.append(Row(row.id, cells))
    table(
        columns,
        rows,
        key="instances",
        on_event=on_event,
        sort=state["sort"],
        descending=state["desc"] == "1",
        caption=f"Instances of {context.dataset.name}",
        empty="No instance matches. Use fewer words or wider filters.",
    )
    page.draw(state)
