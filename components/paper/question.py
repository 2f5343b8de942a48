"""The hypothesis that a paper is searched for, and other wordings of it."""

from __future__ import annotations

import streamlit as st

from components.app.state import PageState
from components.paper.keeping import keep_hypothesis
from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from evidencebench_core.perturb import Refusal, opposite

LONGEST = 2000


def asked_hypothesis(state: PageState, opened: OpenPaper) -> str:
    """The hypothesis of the address, else the one that the paper came with; may be empty."""
    return " ".join(state["h"].split())[:LONGEST] or opened.hypothesis[:LONGEST]


def hypothesis_field(state: PageState, opened: OpenPaper) -> str:
    """Draw the hypothesis with its wordings; returns what is to be asked, empty where nothing was written."""
    asked = asked_hypothesis(state, opened)
    st.text_area(
        "Hypothesis",
        height="content",
        max_chars=LONGEST,
        placeholder="Write what to look for in this paper: one claim in one sentence works best.",
        help="Ctrl+Enter, or a click anywhere else, searches again.",
        **state.widget("h", asked, lambda words: _read(words, opened), reset=("h0",)),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Find evidence", type="primary")  # leaving the field is what searches
        with st.popover("Other wordings", disabled=not asked):
            _wordings(state, opened, asked)
        is_other = state["h0"] and state["h0"] != asked
        if is_other and st.button("Back to the wording before", help=literal(state["h0"], 300)):
            state.put(h=_read(state["h0"], opened), h0=None)
            st.rerun()
        keep_hypothesis(opened, asked)
    return asked


def _read(words: str, opened: OpenPaper) -> str | None:
    words = " ".join(words.split())
    return None if words == opened.hypothesis else words


def _wordings(state: PageState, opened: OpenPaper, asked: str) -> None:
    """The opposite by rule, and what came with a sample; a click asks it and compares."""
    choices = {name: text for name, text in opened.wordings.items() if text != asked}
    if opened.hypothesis and opened.hypothesis != asked:
        choices = {"original": opened.hypothesis, **choices}
    by_rule = opposite(asked)
    if isinstance(by_rule, Refusal):
        st.caption(f"No opposite by rule: {literal(by_rule.reason)}.")
    else:
        choices = {"opposite, by rule": by_rule.text, **choices}
    st.caption("Ask it in other words, and see which sentences are found again.")
    for name, text in choices.items():
        if st.button(f"{literal(name)}: {literal(text)}", key=f"wording.{name}", width="stretch"):
            state.put(h=_read(text, opened), h0=asked)
            st.rerun()
