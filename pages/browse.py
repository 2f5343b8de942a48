"""Browse: the table of instances, or one of them, read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import MOST_CHOICES, Choice, choice_of_run
from components.app.page import name_window
from components.app.state import PageState
from components.browse.listing import LIST_DEFAULTS, draw_list, found_sentence, listing, shared_prefix
from components.browse.reading import READING_DEFAULTS, draw_reading
from components.frame.page import Context, context_line, page, read_context
from components.widgets.markdown import literal
from components.widgets.retriever_picker import choices_of, draw_choices, menu_label
from components.widgets.task_picker import task_picker
from evidencebench_core.data import Instance
from evidencebench_core.errors import UnknownNameError

ABOUT: Final = "Papers with the evidence that experts marked and what systems picked, sentence by sentence."
N_RUNS: Final = 3  # whose recall is shown
FORGOTTEN: Final = dict.fromkeys(("sentence", "aspect", "h", "asif"))  # what belongs to one instance only


def draw(state: PageState) -> None:
    if not state["instance"]:
        _draw_list(state)
        return
    context = read_context(state, N_RUNS)
    try:
        instance = resources.instance(context.dataset, state["instance"])
    except UnknownNameError as error:
        st.warning(literal(str(error)))
        state.put(instance=None)
        _draw_list(state)
        return
    name_window("Browse", instance.id)
    with st.container(gap="xsmall"):
        choices = _draw_bar(state, context, instance)
        draw_reading(state, context, instance, choices)


def _draw_list(state: PageState) -> None:
    st.title("Browse")
    context = context_line(state, ABOUT, n_runs=N_RUNS, most_runs=4)
    draw_list(state, context)


def _draw_bar(state: PageState, context: Context, instance: Instance) -> tuple[Choice, ...]:
    """Back to the table, the neighbours in its order, and which systems mark the paper."""
    ids = listing(state, context).ids
    place = ids.index(instance.id) if instance.id in ids else None
    runs = resources.runs(context.dataset)
    first = [choice_of_run(run) for run in context.runs[:MOST_CHOICES]]
    choices = choices_of(state, "r", runs, first=first)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button("All", help="All instances", on_click=_open, args=(state, context, None))
        st.button("Previous", disabled=not place, on_click=_step, args=(state, context, ids, -1))
        is_last = place is None or place + 1 == len(ids)
        st.button("Next", disabled=is_last, on_click=_step, args=(state, context, ids, 1))
        with st.popover(f"{context.task.title}, {menu_label(choices)}", key="systems"):
            task_picker(state)
            draw_choices(state, "r", choices, runs)
        where = f"{place + 1:,} of {len(ids):,}" if place is not None else "outside the current filter"
        name = instance.id.removeprefix(shared_prefix(resources.first_ids(context.dataset)))
        marks = " :orange-background[Synthetic paper, not evidence]" * instance.synthetic
        marks += " :orange-background[Gold sufficient, not complete]" * instance.is_sufficient
        with st.container(key="where"):
            st.caption(f"{literal(name)} in {literal(context.dataset.name)}, {where}{marks}")
    return choices


def _step(state: PageState, context: Context, ids: Sequence[str], by: int) -> None:
    """Go on from what is open as the click arrives, which a fast one before it has changed."""
    here = state["instance"]
    if here in ids and 0 <= (place := ids.index(here) + by) < len(ids):
        _open(state, context, ids[place])


def _open(state: PageState, context: Context, instance_id: str | None) -> None:
    state.put(instance=instance_id, **FORGOTTEN)
    if instance_id is not None:
        state.put(sentence=found_sentence(state, context, instance_id))


with page("browse", instance="", **LIST_DEFAULTS, **READING_DEFAULTS) as state:
    draw(state)
