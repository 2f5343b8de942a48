"""Browse: the table of instances, or one of them, read."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.choices import MOST_CHOICES, Choice, choice_of_run
from components.app.state import PageState, Value
from components.browse.listing import LIST_DEFAULTS, draw_list, found_sentence, listing, shared_prefix
from components.browse.reading import READING_DEFAULTS, draw_reading
from components.frame.page import Context, context_line, page, read_context
from components.models.retriever_picker import choices_of, draw_choices
from components.widgets.guarded import name_window
from components.widgets.markdown import literal
from components.widgets.task_picker import task_picker
from evidencebench_core.data import Instance
from evidencebench_core.errors import UnknownNameError

ABOUT: Final = "Papers with the evidence that experts marked and what systems picked, sentence by sentence."
N_RUNS: Final = 3  # whose recall is shown
OF_INSTANCE: Final = ("aspect", "h", "asif")  # what belongs to one instance only


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
    """Back to the table, a step to the neighbours in its order, and which systems mark the paper."""
    ids = listing(state, context)["id"].tolist()
    place = ids.index(instance.id) + 1 if instance.id in ids else None
    runs = resources.runs(context.dataset)
    choices = choices_of(state, runs, [choice_of_run(run) for run in context.runs[:MOST_CHOICES]])

    def read(place: int | None) -> dict[str, Value]:
        instance_id = instance.id if place is None else ids[place - 1]
        return {"instance": instance_id, "sentence": found_sentence(state, context, instance_id)}

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button(
            "All",
            help="All instances",
            on_click=state.put,
            kwargs=dict.fromkeys(("instance", "sentence", *OF_INSTANCE)),
        )
        # A field and no buttons: of two clicks on a button that come while the page is drawn Streamlit hears one.
        st.number_input(
            "Instance in the list",
            1,
            len(ids) or 1,
            placeholder="–",
            label_visibility="collapsed",
            width=130,
            **state.widget("instance", place, read, part="place", reset=OF_INSTANCE),
        )
        labels = ", ".join(choice.label for choice in choices) or "none"
        with st.popover(f"{context.task.title}, Retrievers: {literal(labels, 34)}", key="systems"):
            task_picker(state)
            draw_choices(state, choices, runs)
        where = f"{place:,} of {len(ids):,}" if place else "outside the current filter"
        prefix = shared_prefix(resources.instances(context.dataset)["id"].head(50).tolist())
        marks = " :orange-background[Synthetic paper, not evidence]" * instance.synthetic
        marks += " :orange-background[Gold sufficient, not complete]" * instance.is_sufficient
        with st.container(key="where"):
            name = instance.id.removeprefix(prefix)
            st.caption(f"{literal(name)} in {literal(context.dataset.name)}, {where}{marks}")
    return choices


with page("browse", instance="", **LIST_DEFAULTS, **READING_DEFAULTS) as state:
    draw(state)
