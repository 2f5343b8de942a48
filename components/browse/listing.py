"""The table of a dataset's instances: search, filters, sort by heading, and each chosen run's recall beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.browse.matches import best_sentence
from components.browse.notes import NOTES, note_cell, note_kind
from components.carried import PARAM, InstanceSet, draw_set_button, read_set
from components.filters import Filter, filter_popover, filtered_rows, filters_text
from components.frame_table import HYPOTHESIS, INSTANCE, frame_table
from components.markdown import literal
from components.page import Context
from components.run_links import run_name
from components.state import PageState
from components.table import Column, TableEvent
from components.table.paging import paging, put_sort
from evidencebench_core.data import DatasetInfo
from evidencebench_core.words import clipped_text, quantity

LIST_DEFAULTS: Final = {"q": "", "s": "", "where": "", "sort": "", "desc": "", "page": "1"}

_COUNTS: Final = {
    "n_sentences": ("Sentences", "Size of the candidate pool"),
    "n_aspects": ("Aspects", "Study aspects"),
    "n_result_aspects": ("Results", "Result aspects"),
    "optimal": ("Optimal K", "Fewest sentences that cover all aspects"),
}
_NARROWS: Final = ("q", "s", "where")
_MOST_RUNS: Final = 4  # with a column
_PAPER: Final = Column("paper_id", "Paper", "id")
_MATCHED: Final = Column("matched", "Sentence found", lines=3)


def set_read(state: PageState, dataset: DatasetInfo) -> InstanceSet | None:
    """The set of the address; one of other data is let go of, and that is said."""
    among = read_set(state[PARAM], dataset)
    if state[PARAM] and among is None:
        st.warning(
            "The link's set of instances was made from other data than is here now, so all instances are shown. "
            "Make the set again where it came from."
        )
        state.put(**{PARAM: None})
    return among


def listing(state: PageState, context: Context, among: InstanceSet | None) -> pd.DataFrame:
    """The instances of the set that the search, the filters and the sort in the address leave."""
    return _chosen(state, context, _found(state, context, among))


def _chosen(state: PageState, context: Context, frame: pd.DataFrame) -> pd.DataFrame:
    frame = filtered_rows(state, frame, _filters(context, frame))
    if state["sort"] in frame:
        frame = frame.sort_values(state["sort"], ascending=state["desc"] != "1", kind="stable")
    return frame


def _found(state: PageState, context: Context, among: InstanceSet | None) -> pd.DataFrame:
    """What the search leaves of a set, with notes, and with the recall of the runs that sort or filter it."""
    frame = resources.instances(context.dataset)
    if among:
        frame = frame[frame["id"].isin(among.ids)]
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
    dataset = context.dataset
    among = set_read(state, dataset)
    matches = _found(state, context, among)
    frame = _chosen(state, context, matches)
    if among:
        with st.container(horizontal=True, vertical_alignment="center", key="set"):
            st.markdown(f"**{literal(among.name)}**: {quantity(len(among.ids), 'instance')}", width="content")
            st.button(
                "All instances",
                icon=":material/close:",
                on_click=state.put,
                kwargs={PARAM: None, "page": None},
            )
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
        if any(state[name] for name in _NARROWS):
            words = [f"“{state[param]}”" for param in ("q", "s") if state[param]]
            name = ", ".join([*words, filters_text(state, _filters(context, matches))]).strip(", ")
            draw_set_button(dataset, name, frame["id"].tolist(), "Keep as a set")
        st.caption(f"{len(frame):,} of {len(among.ids) if among else dataset.n_instances:,}", width="content")
    if len(context.runs) > _MOST_RUNS:
        names = literal(", ".join(map(run_name, context.runs[_MOST_RUNS:])))
        st.caption(f"Only the first {_MOST_RUNS} of the chosen runs have a column; these have none: {names}.")
    _draw_table(state, context, frame)


def _filters(context: Context, frame: pd.DataFrame) -> list[Filter]:
    return [
        *([Filter("noted", "Flags and comments", "choice")] if "noted" in frame else []),
        *(Filter(column, label) for column, (label, _) in _COUNTS.items()),
        *(Filter(run.id, f"Recall of {run_name(run)}", "percent") for run in context.runs[:_MOST_RUNS]),
    ]


def _draw_table(state: PageState, context: Context, frame: pd.DataFrame) -> None:
    page = paging(state, len(frame))
    frame = frame.iloc[page.rows]
    notes = resources.notes(context.dataset)

    def on_event(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "open":
            state.put(instance=event.value, sentence=found_sentence(state, context, event.value))

    note_cells: Any = [note_cell(notes.get(name, ())) for name in frame["id"]]
    runs = context.runs[:_MOST_RUNS]
    recalls = {
        run.id: frame["id"].map(resources.recalls(run, context.task.name, tuple(frame["id"])))
        for run in runs
        if run.id not in frame
    }
    matched: Any = _matched_sentences(context.dataset, frame["id"].tolist(), state["s"])
    cells = frame.assign(notes=note_cells, matched=matched, **recalls)
    frame_table(
        (
            replace(HYPOTHESIS, sortable=True),
            *([_MATCHED] if state["s"] else []),
            *([NOTES] if notes else []),
            *(
                Column(
                    run.id,
                    clipped_text(run_name(run), 32),
                    "percent",
                    f"Aspect Recall of {run_name(run)} on {context.task.title}",
                    sortable=True,
                )
                for run in runs
            ),
            *(
                Column(column, label, "number", text, sortable=True)
                for column, (label, text) in _COUNTS.items()
            ),
            INSTANCE,
            *([] if frame["paper_id"].equals(frame["id"]) else [_PAPER]),
        ),
        cells,
        key="instances",
        ids="id",
        on_event=on_event,
        action="open",
        link=lambda name: state.link(instance=name),
        sort=state["sort"],
        descending=state["desc"] == "1",
        caption=f"Instances of {context.dataset.name}",
        empty="No instance matches. Use fewer words or wider filters.",
    )
    page.draw(state)


def _matched_sentences(dataset: DatasetInfo, ids: Sequence[str], words: str) -> list[str | None]:
    """Of each instance the sentence that fits the search for sentences best."""
    if not words:
        return [None] * len(ids)
    matched = []
    for instance in resources.store().get_many(dataset, ids):
        index = best_sentence(instance.sentences, words)
        matched.append(None if index is None else f"{index}  {clipped_text(instance.sentences[index], 240)}")
    return matched
