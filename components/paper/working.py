"""A reader's own paper, read: the paper on the left, what was found and what to do with it on the right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st

from components.app.state import PageState, open_later
from components.models.calls import draw_calls
from components.paper.answers import answers_to
from components.paper.bring import open_paper
from components.paper.found import draw_agreement, draw_picks, draw_wording_change
from components.paper.keeping import draw_keep
from components.paper.opened import OpenPaper
from components.paper.out import draw_downloads
from components.paper.question import hypothesis_field
from components.paper.recognised import draw_recognised, facts_line
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, PaperView, System, paper_view
from components.widgets.retriever_picker import Choice, retriever_picker
from components.widgets.sentence_note import LETTERS
from components.widgets.table import TableEvent
from evidencebench_core.cli.find import DEFAULT_BUDGET
from evidencebench_core.retrievers import Retrieval, retriever_entries

__all__ = ["MOST", "active_of", "budget_of", "draw_reader", "draw_working"]

MOST: Final = 100
"""Sentences that may be asked for."""
_ANNOTATE: Final = Path(__file__).resolve().parents[2] / "pages" / "annotate.py"


def draw_working(state: PageState, opened: OpenPaper) -> None:
    """Everything about one paper."""
    _bar(state, opened)
    st.markdown(f"## {literal(opened.title, 300)}")
    st.caption(facts_line(opened))
    left, right = st.columns([58, 42], gap="medium")
    with left:
        hypothesis = hypothesis_field(state, opened)
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        choices = retriever_picker(state, "r", has_gold=False)
        budget = _budget_field(state)
    _tell_of_servers(choices)
    answers, questions = answers_to(opened, choices, hypothesis, budget) if hypothesis else ({}, {})
    active = active_of(state, answers)
    paper, side = st.columns([58, 42], gap="medium")
    with paper, st.container(key="paper-stays-in-sight"):
        draw_reader(state, opened, answers, active)
    with side:
        if active is None:
            _nothing_yet(hypothesis, choices)
            return
        draw_picks(state, opened, answers, active, budget)
        for letter, (label, answer) in zip(LETTERS, answers.items(), strict=False):
            if label in questions:
                draw_calls(questions[label], letter, label, answer)
        _wording_change(state, opened, hypothesis, budget, choices, answers)
        draw_agreement(opened, answers, lambda event: _go(state, event))
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
        if _ANNOTATE.exists():
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
        MOST,
        help="How many sentences each retriever may pick.",
        width=140,
        **state.widget("k", budget, lambda k: k),
    )
    return budget


def budget_of(state: PageState) -> int:
    """K, from 1 to `MOST`."""
    return min(max(state.number("k") or DEFAULT_BUDGET, 1), MOST)


def active_of(state: PageState, answers: Mapping[str, Retrieval]) -> int | None:
    """Position of the retriever whose picks are marked; ``None`` without any answer."""
    return min(state.number("system") or 0, len(answers) - 1) if answers else None


def _tell_of_servers(choices: tuple[Choice, ...]) -> None:
    """What a model is asked leaves this machine, and stays in the store."""
    entries = retriever_entries()
    asking = [choice.name for choice in choices if entries[choice.name].asks_server]
    if asking:
        st.caption(
            f"{literal(' and '.join(asking))} would send the paper's sentences to the server named below, once you "
            "click. What was asked and answered is kept in the store, so that asking again is free."
        )


def draw_reader(
    state: PageState,
    opened: OpenPaper,
    answers: Mapping[str, Retrieval],
    active: int | None,
    plain: bool = False,
) -> None:
    """The paper with the picks marked."""

    def heard(event: PaperEvent) -> None:
        state.put(sentence=event.sentence, system=event.system or None)

    systems = tuple(System(label, answer.selection) for label, answer in answers.items())
    view = PaperView(
        paper=opened.ref,
        sentences=opened.paper.sentences,
        sentence_types=opened.paper.sentence_types,
        systems=systems or (System("", ()),),
        active=active or 0,
        selected=state.number("sentence"),
        plain=plain,
    )
    paper_view(view, key="reader", height=780, on_event=heard)


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
    """How the picks differ from those of the wording before, for retrievers that cost nothing."""
    before = state["h0"]
    if not before or before == hypothesis:
        return
    entries = retriever_entries()
    free = [choice for choice in choices if choice.label in answers and not entries[choice.name].asks_server]
    then, _ = answers_to(opened, free, before, budget)
    draw_wording_change(opened, before, answers, then, lambda event: _go(state, event))


def _go(state: PageState, event: TableEvent) -> None:
    kind, _, value = event.value.partition(":")
    if event.kind == "chip" and kind == "sentence":
        state.put(sentence=value)
