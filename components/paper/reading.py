"""A reader's own paper, read: the paper on the left, the picks and what to do with them on the right."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app.choices import Choice
from components.app.session import open_later
from components.app.state import PageState
from components.models.calls import draw_calls
from components.paper.downloads import draw_downloads
from components.paper.keeping import draw_keep, keep_hypothesis, open_paper
from components.paper.opened import OpenPaper
from components.paper.pages import text_or_pages
from components.paper.picks import draw_agreement, draw_picks, draw_wording_change
from components.paper.recognised import draw_doubts, draw_recognised, facts_line
from components.paper.short_answer import draw_short_answer
from components.widgets.answers import active_system, answers_to, words_to_underline
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.retriever_picker import retriever_picker
from components.widgets.sentence_note import LETTERS
from evidencebench_core.retrievers import RETRIEVERS
from evidencebench_core.runs import DEFAULT_BUDGET

LONGEST: Final = 2000  # characters of a hypothesis
_MOST: Final = 100


def draw_reading(state: PageState, opened: OpenPaper) -> None:
    """Everything about one paper."""
    left, right = st.columns([58, 42], gap="medium", vertical_alignment="bottom")
    with left, st.container(gap="xsmall"):
        with st.container(key="paper-head", gap=None):
            st.markdown(f"# {literal(opened.title, 300)}")
            st.caption(facts_line(opened))
        draw_doubts(opened.paper)
        hypothesis = _hypothesis_field(state, opened)
    with right:
        _bar(state, opened)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
            _hypothesis_buttons(state, opened, hypothesis)
            choices = retriever_picker(state, "r", has_gold=False)
            budget = budget_field(state, "How many sentences each retriever may pick.")
    _server_notice(choices)
    answers, questions = answers_to(opened.reading(hypothesis, budget), choices)
    active = active_system(state, answers)
    paper, side = st.columns([58, 42], gap="medium")
    with paper:
        instance = opened.instance(hypothesis)
        words = words_to_underline(state, instance, hypothesis, choices, answers, active)
        text_or_pages(state, opened, hypothesis, answers, active, words=words)
    with side:
        if active is None:
            _nothing_yet(hypothesis, choices)
            return
        draw_picks(state, opened, hypothesis, answers, active, budget)
        for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
            draw_calls(label, letter, answer, questions.get(label))
        if state["h0"] and state["h0"] != hypothesis:
            free = [c for c in choices if c.label in answers and not RETRIEVERS[c.name].asks_server]
            then, _ = answers_to(opened.reading(state["h0"], budget), free)
            draw_wording_change(state, opened, answers, then)
        draw_agreement(state, opened, answers)
        draw_short_answer(state, opened, hypothesis)
        st.markdown("## Take it away")
        draw_downloads(opened, hypothesis, budget, choices, answers, active)


def _bar(state: PageState, opened: OpenPaper) -> None:
    """Another paper, keeping, marking, presenting, and the link."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if state["over"] and st.button("All papers", help="Back to the question over several papers."):
            open_paper(state, None, h=state["h"])
            st.rerun()
        if st.button("Another paper"):
            open_paper(state, None, over="")
            st.rerun()
        draw_keep(state, opened)
        draw_recognised(opened)
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
        if opened.origin != "memory":
            copy_link(state.link("paper", "k", "r"))


def budget_field(state: PageState, help_text: str) -> int:
    """Draw the field of K, and return it."""
    budget = budget_of(state)
    st.number_input(
        "Sentences (K)",
        1,
        _MOST,
        help=help_text,
        width=140,
        **state.widget("k", budget, lambda k: k),
    )
    return budget


def budget_of(state: PageState) -> int:
    """K: how many sentences may be picked."""
    return min(max(state.number("k") or DEFAULT_BUDGET, 1), _MOST)


def _server_notice(choices: tuple[Choice, ...]) -> None:
    entries = RETRIEVERS
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


def asked_hypothesis(state: PageState, opened: OpenPaper) -> str:
    """The hypothesis of the address, else the one that the paper came with; may be empty."""
    return " ".join(state["h"].split())[:LONGEST] or opened.hypothesis[:LONGEST]


def _hypothesis_field(state: PageState, opened: OpenPaper) -> str:
    """Draw the hypothesis; returns what is to be asked, empty where nothing was written."""
    asked = asked_hypothesis(state, opened)
    st.text_area(
        "Hypothesis",
        height="content",
        max_chars=LONGEST,
        placeholder="Write what to look for in this paper: one claim in one sentence works best.",
        help="Ctrl+Enter, or a click anywhere else, searches again.",
        **state.widget("h", asked, lambda words: _read(words, opened), reset=("h0",)),
    )
    return asked


def _hypothesis_buttons(state: PageState, opened: OpenPaper, asked: str) -> None:
    """Searching, other wordings and the way back, and keeping the hypothesis."""
    st.button("Find evidence", type="primary")  # leaving the field is what searches
    with st.popover("Other wordings", disabled=not asked):
        _wordings(state, opened, asked)
    is_other = state["h0"] and state["h0"] != asked
    if is_other and st.button("Back to the wording before", help=literal(state["h0"], 300)):
        state.put(h=_read(state["h0"], opened), h0=None)
        st.rerun()
    keep_hypothesis(opened, asked)


def _read(words: str, opened: OpenPaper) -> str | None:
    words = " ".join(words.split())
    return None if words == opened.hypothesis else words


def _wordings(state: PageState, opened: OpenPaper, asked: str) -> None:
    """The wordings that came with a sample; a click asks it and compares."""
    choices = {name: text for name, text in opened.wordings.items() if text != asked}
    if opened.hypothesis and opened.hypothesis != asked:
        choices = {"original": opened.hypothesis, **choices}
    st.caption("Ask it in other words, and see which sentences are found again.")
    for name, text in choices.items():
        if st.button(f"{literal(name)}: {literal(text)}", key=f"wording.{name}", width="stretch"):
            state.put(h=_read(text, opened), h0=asked)
            st.rerun()
