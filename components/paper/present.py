"""One paper before an audience: no settings, no jargon, the sentences where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import streamlit as st

from components.app.choices import Choice
from components.app.state import PageState
from components.models.server import session_model
from components.paper.downloads import file_stem, report_page
from components.paper.opened import OpenPaper
from components.paper.pages import text_or_pages
from components.paper.picks import picks_list, picks_of
from components.paper.reading import LONGEST, asked_hypothesis, budget_of
from components.paper.verdicts import picked_verdicts
from components.widgets.answers import answers_to
from components.widgets.component import component
from components.widgets.copy_link import BUTTON_STYLE, copy_link
from components.widgets.markdown import literal
from evidencebench_core.export import plain_explanations
from evidencebench_core.retrievers import Retrieval

_HERE: Final = Path(__file__).parent
_MOST: Final = 30
_HOW: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bm25": "by the words that they share with the statement",
        "dense": "by how close they come to the statement in meaning",
        "hybrid": "by the words that they share with the statement, and by how close they come to it in meaning",
        "structure": "by where they stand in the paper, what they look like, and how close they come to the statement",
        "evidence-ranker": "by what it has learnt from evidence marked in other papers",
        "llm": "by having a language model read the paper",
        "embeddings": "by how close they come to the statement in meaning",
        "lead": "in the order of the paper, whatever the statement",
        "random": "at random, whatever the statement",
    }
)
_NOTICE: Final = (
    "It can miss important evidence, and it can show sentences that are not evidence. Read the paper before you rely "
    "on it. This is no medical advice."
)
_BUTTON: Final = '<button type="button"></button>'
_print_button = component("print_page", _HERE, _BUTTON, style=BUTTON_STYLE)
_leave_button = component("leave", _HERE, _BUTTON, style=BUTTON_STYLE)


def draw_presenting(state: PageState, opened: OpenPaper, choices: tuple[Choice, ...]) -> None:
    """The whole page; of several retrievers it asks the one whose picks are marked outside this mode."""
    st.html(_HERE / "present.css")
    with st.container(key="presenter-bar", horizontal=True, vertical_alignment="center"):
        taking_away = st.container(horizontal=True, width="content")
        _leave_button(key="leave", on_event_change=lambda: state.put(present=None), width="content")
    st.markdown(f"# {literal(opened.title, 300)}")
    for note in opened.paper.notes:
        if "synthetic" in note:
            st.caption(literal(note, 300))
    question, many = st.columns([3, 1], gap="medium", vertical_alignment="bottom")
    with question:
        asked = asked_hypothesis(state, opened)
        st.text_area(
            "What would you like to check in this paper?",
            height=100,
            max_chars=LONGEST,
            placeholder="Type a statement, such as: Night work increases the risk of diabetes.",
            **state.widget("h", asked, lambda words: " ".join(words.split()), part="plain", reset=("h0",)),
        )
    with many:
        budget = min(budget_of(state), _MOST)
        st.slider("Sentences to show", 1, _MOST, **state.widget("k", budget, lambda k: k, part="plain"))
        st.button("Show the sentences", type="primary", width="stretch")
    chosen = choices[min(state.number("system") or 0, len(choices) - 1) :][:1]
    answers, _ = answers_to(opened.reading(asked, budget), chosen, plain=True)
    paper, side = st.columns([55, 45], gap="medium")
    with paper:
        text_or_pages(state, opened, asked, answers, 0 if answers else None, plain=True)
    with side:
        _picks(state, opened, asked, chosen, answers)
    if not answers:
        st.caption(f"A computer program chooses the sentences. {_NOTICE}")
    for choice in chosen if answers else ():
        retrieval = answers[choice.label]
        verdicts = picked_verdicts(opened, asked, retrieval.selection, plain=True)
        with taking_away:
            page = report_page(
                opened, asked, budget, choice, retrieval, plain=True, verdicts=verdicts, judge=session_model()
            )
            _draw_taking_away(opened, page)
    if opened.origin != "memory":
        copy_link(state.link("paper", "k", "r"), "Copy link to this page")


def _draw_taking_away(opened: OpenPaper, page: str) -> None:
    """The buttons for the page to take away."""
    st.download_button("Save", page, f"{file_stem(opened)}.html", "text/html", on_click="ignore")
    _print_button(key="print", data={"page": page, "label": "Print"}, width="content")


def _picks(
    state: PageState,
    opened: OpenPaper,
    asked: str,
    chosen: tuple[Choice, ...],
    answers: Mapping[str, Retrieval],
) -> None:
    if not answers:
        if not asked:
            st.info("Type a statement above. The sentences that bear on it are then marked in the paper.")
        return
    (choice,) = chosen
    retrieval = answers[choice.label]
    n_picks = len(retrieval.selection)
    st.markdown(f"## {_heading(n_picks)}")
    how = f" {_HOW[choice.name]}" if choice.name in _HOW else ""
    st.caption(f"A computer program chose these sentences{how}. {_NOTICE}")
    verdicts = picked_verdicts(opened, asked, retrieval.selection, plain=True)
    if verdicts:
        st.caption(
            f"▲ ▼ ● say what the language model {literal(session_model())} thinks of each sentence. It can be wrong."
        )
    picks_list(
        picks_of(opened.paper, retrieval, plain_explanations(opened.paper, asked, retrieval), {}, verdicts),
        key="plain-picks",
        on_pick=lambda index: state.put(sentence=index),
        selected=state.number("sentence"),
        plain=True,
        empty="No sentence was found.",
    )


def _heading(n_picks: int) -> str:
    if n_picks == 1:
        return "The sentence to read first"
    return f"The {n_picks:,} sentences to read first" if n_picks else "No sentence was found"
