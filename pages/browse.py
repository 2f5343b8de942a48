"""Browse: the table of instances, or one of them, read."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.app import resources
from components.app.page import dataset_picker, guard, name_window, tell_of_gold
from components.app.state import PageState
from components.browse.instance_list import LIST_DEFAULTS, draw_list, found_sentence, listing
from components.browse.reading import READING_DEFAULTS, draw_reading
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.retriever_picker import retriever_picker
from components.widgets.task_picker import task_picker
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import UnknownNameError

DEFAULTS = {
    "dataset": "",
    "instance": "",
    "task": "er@optimal",
    **LIST_DEFAULTS,
    **READING_DEFAULTS,
}
FORGOTTEN = ("sentence", "aspect", "h", "asif")  # what belongs to one instance only


def draw(state: PageState) -> None:
    if not state["instance"]:
        st.title("Browse instances")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            dataset = dataset_picker(state)
            if dataset is not None:
                copy_link(state.link(dataset=dataset.name))
        if dataset is not None:
            tell_of_gold(dataset)
            draw_list(state, dataset)
        return
    dataset = resources.named_dataset(state["dataset"])
    try:
        instance = resources.instance(dataset, state["instance"])
    except UnknownNameError as error:
        st.warning(literal(str(error)))
        st.button("Show all instances", type="primary", on_click=lambda: _open(state, dataset, None))
        return
    name_window("Browse", instance.id)
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            _neighbours(state, dataset, instance)
            task = task_picker(state, in_line=True)
            choices = retriever_picker(state, "r", runs=resources.runs(dataset))
        draw_reading(state, dataset, instance, task, choices)


def _neighbours(state: PageState, dataset: DatasetInfo, instance: Instance) -> None:
    """Back to the table, the neighbours in its order, and which this is."""
    ids = listing(state, dataset, resources.runs(dataset)).ids
    here = state["instance"]
    place = ids.index(here) if here in ids else None
    # Opened by callbacks: the page is run once for a click.
    st.button("All instances", on_click=lambda: _open(state, dataset, None))
    st.button("Previous", disabled=not place, on_click=_step, args=(state, dataset, ids, -1))
    is_last = place is None or place + 1 == len(ids)
    st.button("Next", disabled=is_last, on_click=_step, args=(state, dataset, ids, 1))
    where = f"{place + 1:,} of {len(ids):,}" if place is not None else "outside the current filter"
    synthetic = " :orange-background[Synthetic paper, not evidence]" if instance.synthetic else ""
    partial = " :orange-background[Gold sufficient, not complete]" if instance.is_sufficient else ""
    st.caption(f"{literal(here)} in {literal(dataset.name)}, {where}{synthetic}{partial}", width=270)


def _step(state: PageState, dataset: DatasetInfo, ids: Sequence[str], by: int) -> None:
    """Go on from what is open as the click arrives, which a fast one before it has changed."""
    here = state["instance"]  # none after a fast click on "All instances"
    if here in ids and 0 <= (place := ids.index(here) + by) < len(ids):
        _open(state, dataset, ids[place])


def _open(state: PageState, dataset: DatasetInfo, instance_id: str | None) -> None:
    state.put(instance=instance_id, **dict.fromkeys(FORGOTTEN))
    if instance_id is not None:
        state.put(sentence=found_sentence(state, dataset, instance_id))


with guard():
    draw(PageState("browse", DEFAULTS))
