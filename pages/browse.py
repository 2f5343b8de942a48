"""Browse: the table of instances, or one of them, read."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.browse.answers import System, systems_of
from components.browse.listing import LIST_DEFAULTS, draw_list, found_sentence, listing, set_read
from components.browse.reading import READING_DEFAULTS, draw_reading
from components.carried import InstanceSet
from components.guarded import name_window
from components.markdown import literal
from components.page import Context, context_line, page, read_context, runs_picker
from components.retrievers import draw_live_picker, live_choices
from components.run_links import READ_RUNS
from components.state import PageState, Value
from components.tasks import task_picker
from evidencebench_core.data import Instance
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.export.site import paper_page

ABOUT: Final = "Papers with the evidence that experts marked and what systems picked, sentence by sentence."
OF_INSTANCE: Final = ("aspect", "h", "asif")  # what belongs to one instance only


def draw(state: PageState) -> None:
    if not state["instance"]:
        _draw_list(state)
        return
    context = read_context(state, READ_RUNS)
    try:
        instance = resources.instance(context.dataset, state["instance"])
    except UnknownNameError as error:
        st.warning(literal(str(error)))
        state.put(instance=None)
        _draw_list(state)
        return
    name_window("Browse", instance.id)
    among = set_read(state, context.dataset)
    with st.container(gap="xsmall"):
        systems = _draw_bar(state, context, instance, among)
        draw_reading(state, context, instance, systems, among)


def _draw_list(state: PageState) -> None:
    st.title("Browse")
    context = context_line(state, ABOUT, n_runs=READ_RUNS)
    draw_list(state, context)


def _draw_bar(
    state: PageState, context: Context, instance: Instance, among: InstanceSet | None
) -> list[System]:
    ids = listing(state, context, among)["id"].tolist()
    place = ids.index(instance.id) + 1 if instance.id in ids else None
    live = live_choices(state)
    shown, left_out = systems_of(context.runs, live)

    def read(place: int) -> dict[str, Value]:
        return {"instance": ids[place - 1], "sentence": found_sentence(state, context, ids[place - 1])}

    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.button(
            "All",
            help=f"All of {literal(among.name)}" if among else "All instances",
            on_click=state.put,
            kwargs=dict.fromkeys(("instance", "sentence", *OF_INSTANCE)),
        )
        if place:
            # It counts in the browser: of two clicks on a button that come while the page is drawn Streamlit hears one.
            step = state.widget("instance", place, read, part="place", reset=OF_INSTANCE)
            st.pagination(len(ids), max_visible_pages=0, **step)
        where = f"**{place:,}** of {len(ids):,}" if place else "Outside the current filter"
        st.markdown(where, width="content")
        labels = literal(", ".join(system.label for system in shown), 44)
        count = f" ({len(shown)} of {len(shown) + len(left_out)})" if left_out else ""
        with st.popover(f"{context.task.title}: {labels}{count}", key="systems"):
            task_picker(state)
            runs_picker(state, context)
            draw_live_picker(state, live)
            if left_out:
                names = literal(", ".join(system.label for system in left_out))
                st.caption(
                    f"Not drawn: {names}. The reader shows three systems at most; remove one to see another."
                )
            st.toggle(
                "Underline the words that sentences share with the hypothesis",
                help="With bm25 a thicker line means that the word adds more to the score; otherwise all are alike.",
                **state.widget("words", state["words"] == "1", lambda is_on: "1" if is_on else None),
            )
        marks = " :orange-background[Synthetic paper, not evidence]" * instance.synthetic
        marks += " :orange-background[Gold sufficient, not complete]" * instance.is_sufficient
        if label := instance.kept.get("label"):
            marks += f" :blue-background[{literal(str(label), 40)}]"
        with st.container(key="where"):
            of = literal(among.name, 60) if among else literal(context.dataset.name)
            st.caption(f"Instance {literal(instance.id)} of {of}{_paper(instance)}{marks}")
    return shown


def _paper(instance: Instance) -> str:
    """The paper's title, or its id, with a link where that is known; as Markdown."""
    address = paper_page(instance.paper_id)
    title = literal(str(instance.kept.get("title") or instance.paper_id.replace("pmc_", "PMC")), 90)
    return f", paper [{title}]({literal(address)})" if address else f", paper {title}"


with page(
    "browse", quiet=("sentence",), instance="", among="", draw="", **LIST_DEFAULTS, **READING_DEFAULTS
) as state:
    draw(state)
