"""A reader's own paper, read: the paper on the left, the picks and what to do with them on the right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.app.choices import Choice
from components.app.state import PageState, open_later
from components.models.calls import draw_calls
from components.paper.downloads import draw_downloads
from components.paper.keeping import draw_keep, open_paper
from components.paper.opened import OpenPaper
from components.paper.picks import draw_agreement, draw_picks, draw_wording_change
from components.paper.question import hypothesis_field
from components.paper.recognised import draw_doubts, draw_recognised, facts_line
from components.widgets.answers import active_system, answers_to, draw_paper, go_to
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.retriever_picker import retriever_picker
from components.widgets.sentence_note import LETTERS
from evidencebench_core.retrievers import Retrieval, retriever_entries
from evidencebench_core.runs import DEFAULT_BUDGET

_MOST: Final = 100


def draw_reading(state: PageState, opened: OpenPaper) -> None:
    """Everything about one paper."""
    _bar(state, opened)
    st.markdown(f"## {literal(opened.title, 300)}")
    st.caption(facts_line(opened))
    draw_doubts(opened.paper)
    left, right = st.columns([58, 42], gap="medium")
    with left:
        hypothesis = hypothesis_field(state, opened)
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        choices = retriever_picker(state, "r", has_gold=False)
        budget = _budget_field(state)
    _server_notice(choices)
    answers, questions = answers_to(opened.reading(hypothesis, budget), choices)
    active = active_system(state, answers)
    paper, side = st.columns([58, 42], gap="medium")
    with paper:
        draw_paper(state, opened.instance(hypothesis), answers, active)
    with side:
        if active is None:
            _nothing_yet(hypothesis, choices)
            return
        draw_picks(state, opened, answers, active, budget)
        for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
            if label in questions:
                draw_calls(questions[label], letter, answer)
        _wording_change(state, opened, hypothesis, budget, choices, answers)
        draw_agreement(opened, answers, lambda event: go_to(state, event))
        st.markdown("#### Take it away")
        draw_downloads(opened, hypothesis, budget, choices, answers, active)


def _bar(state: PageState, opened: OpenPaper) -> None:
    """Another paper, keeping, marking, presenting, and the link."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Another paper"):
            open_paper(state, None)
            st.rerun()
        draw_keep(state, opened)
        draw_recognised(state, opened)
        st.button(
            "Mark evidence yourself",
            disabled=opened.origin != "kept",
            help="Write study aspects and mark the sentences that cover them, on a page of its own."
            + ("" if opened.origin == "kept" else " Keep the paper first."),
            on_click=open_later,
            args=("annotate", {"paper": opened.ref}),
        )
        if st.button("Presenter mode", help="Large type and plain words, for showing it to others."):
            state.put(present="1")
            st.rerun()
        if opened.origin == "memory":
            st.caption("Not kept yet, so it has no link: keep it to share it.")
        else:
            copy_link(state.link("paper", "k", "r"))


def _budget_field(state: PageState) -> int:
    budget = budget_of(state)
    st.number_input(
        "Sentences (K)",
        1,
        _MOST,
        help="How many sentences each retriever may pick.",
        width=140,
        **state.widget("k", budget, lambda k: k),
    )
    return budget


def budget_of(state: PageState) -> int:
    """K: how many sentences may be picked."""
    return min(max(state.number("k") or DEFAULT_BUDGET, 1), _MOST)


def _server_notice(choices: tuple[Choice, ...]) -> None:
    entries = retriever_entries()
    asking = [choice.name for choice in choices if entries[choice.name].asks_server]
    if asking:
        st.caption(
            f"{literal(' and '.join(asking))} would send the paper's sentences to the server named below, once you "
            "click. What was asked and answered is kept in the store, so that asking again is free."
        )


def _nothing_yet(hypothesis: str, choices: tuple[Choice, ...]) -> None:
    if not hypothesis:
        st.info("Write a hypothesis above: the sentences that bear on it are then marked in the paper.")
    elif not choices:
        st.info("Choose a retriever above; it picks the sentences.")


def _wording_change(
    state: PageState,
    opened: OpenPaper,
    hypothesis: str,
    budget: int,
    choices: tuple[Choice, ...],
    answers: Mapping[str, Retrieval],
) -> None:
    """The picks beside those of the wording before, for retrievers that cost nothing."""
    before = state["h0"]
    if not before or before == hypothesis:
        return
    entries = retriever_entries()
    free = [choice for choice in choices if choice.label in answers and not entries[choice.name].asks_server]
    then, _ = answers_to(opened.reading(before, budget), free)
    draw_wording_change(opened, before, answers, then, lambda event: go_to(state, event))
