"""Your paper: from a file and a statement to the sentences that bear on it; also before an audience."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import streamlit as st

from components import resources
from components.caps import model_button
from components.controls import option_switch
from components.guarded import drop_missing, guarded_page, name_window
from components.markdown import literal
from components.paper.bring import UNREAD, draw_bring, draw_statement, open_paper, open_what_was_read
from components.paper.findings import draw_files, draw_findings, draw_questions, findings_of
from components.paper.opened import OpenPaper, named_papers
from components.paper.pages import text_or_pages, view_switch
from components.ranker import ranker_text
from components.server import session_model
from components.sets import draw_rename_and_delete
from components.state import PageState, flash, open_later, session_text
from components.table import Column, Row, table
from evidencebench_core.data.model import Focus
from evidencebench_core.export import left_out_text
from evidencebench_core.export.findings import NOTICE, section_of
from evidencebench_core.papers import Paper
from evidencebench_core.papers.find import DEFAULT_BUDGET, DEFAULT_RETRIEVER, Findings
from evidencebench_core.retrievers import RETRIEVERS
from evidencebench_core.words import clipped_text, quantity

DEFAULTS = {
    "paper": "",
    "over": "",  # several papers, of which one question is asked
    "h": "",
    "k": str(DEFAULT_BUDGET),
    "r": DEFAULT_RETRIEVER,
    "focus": "",  # all: not the results alone
    "sentence": "",
    "view": "text",
    "page": "",
    "zoom": "",
    "present": "",
}
_MAX_BUDGET: Final = 100
_PRESENT_CSS: Final = Path(__file__).parents[1] / "components" / "paper" / "present.css"
_SEVERAL: Final = (
    Column("paper", "Paper", "title"),
    Column(
        "best", "Closest", "number", "How close its closest sentence comes to the statement, of 1", digits=2
    ),
    Column("sentence", "First finding"),
    Column("where", "Where"),
)


def draw(state: PageState) -> None:
    open_what_was_read(state)
    if not state["paper"] and not state["over"]:
        draw_bring(state)
        return
    papers = named_papers(state["paper"] or state["over"])
    if not papers:
        st.title("Your paper")
        st.warning("This paper is not here: it was not kept, or has been removed. Please bring it again.")
        _draw_way_back(state, "Bring a paper")
    elif state["paper"]:
        name_window("Your paper", papers[0].title)
        drop_missing(state, len(papers[0].paper.sentences))
        _draw_paper(state, papers[0], is_presenting=state["present"] == "1")
    else:
        name_window("Your paper", "One question over several papers")
        _draw_several(state, papers)


def _draw_way_back(state: PageState, label: str) -> None:
    st.button(label, on_click=open_paper, args=(state, None), kwargs={"h": state["h"]})


def _draw_paper(state: PageState, opened: OpenPaper, *, is_presenting: bool) -> None:
    st.markdown(f"## {literal(opened.title, 300)}")
    if is_presenting:
        st.html(_PRESENT_CSS)
    else:
        _draw_remarks(opened.paper)
    left, right = st.columns([45, 55], gap="medium")
    with left:
        hypothesis = draw_statement(state, opened.hypothesis)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button("Find evidence", type="primary")  # leaving the field is what searches
            view_switch(state, opened)
            st.button(
                "Leave" if is_presenting else "Present",
                help="Large type, for showing it to others.",
                on_click=state.put,
                kwargs={"present": None if is_presenting else "1"},
            )
            saving = st.popover("Save")
            if not is_presenting:
                with st.popover("More"):
                    _draw_menu(state, opened, hypothesis)
                _draw_focus(state)
                model_button()
        findings = _search(state, [opened], hypothesis).get(opened.ref)
        if findings is not None:
            if not is_presenting:
                _draw_notice(findings)
            findings, answer = draw_questions(opened, findings, _focus(state), can_ask=not is_presenting)
            draw_findings(state, findings, answer, large=is_presenting)
            if is_presenting:
                _draw_notice(findings)
    with saving:
        if findings is not None:
            draw_files(opened, findings, _budget(state))
        if opened.origin != "kept":
            _draw_keep(state, opened, hypothesis)
    with right:
        text_or_pages(state, opened, hypothesis, findings, plain=is_presenting)


def _search(state: PageState, papers: Sequence[OpenPaper], hypothesis: str) -> dict[str, Findings]:
    """The findings as the address asks for them; none without a statement."""
    if not hypothesis:
        st.info(
            "Write a statement above and press *Find evidence*: what bears on it is then marked in the paper."
        )
        return {}
    return findings_of(papers, hypothesis, _retriever(state), _budget(state), focus=_focus(state))


def _draw_notice(findings: Findings) -> None:
    head = f"**{quantity(len(findings.passages), 'passage')} to read first.** " if findings.is_close else ""
    st.caption(f"{head}Evidence may be missing, and this is not medical advice.", help=NOTICE)


def _focus(state: PageState) -> Focus:
    return "all" if state["focus"] == "all" else "results"


def _draw_focus(state: PageState) -> None:
    if RETRIEVERS[_retriever(state)].by_focus:
        focuses = {"": "Results", "all": "Methods too"}
        option_switch(state, "focus", "What it looks for", focuses, label_visibility="collapsed")


def _retriever(state: PageState) -> str:
    return state["r"] if state["r"] in _retrievers() else DEFAULT_RETRIEVER


def _retrievers() -> list[str]:
    """Those that need no gold, and work on this machine, or by the model of this session."""
    names = [name for name, entry in RETRIEVERS.items() if not (entry.sees_gold or entry.asks_server)]
    return [*names, "llm"] if session_model() else names


def _budget(state: PageState) -> int:
    return min(max(state.number("k") or DEFAULT_BUDGET, 1), _MAX_BUDGET)


def _draw_menu(state: PageState, opened: OpenPaper, hypothesis: str) -> None:
    _draw_search_settings(state)
    left_out = left_out_text(opened.paper.left_out) or "nothing"
    st.caption(
        f"Left out of the paper: {literal(left_out)}. Licence: {literal(opened.paper.licence or 'none named')}."
    )
    if opened.origin == "kept":
        st.button(
            "Mark evidence yourself",
            on_click=open_later,
            args=("annotate", {"paper": opened.ref}),
            width="stretch",
        )
    _draw_way_back(state, "Another paper")
    if opened.origin == "kept":
        with st.expander("Rename or delete"):
            _draw_kept(state, opened, hypothesis)


def _draw_search_settings(state: PageState) -> None:
    names = _retrievers()
    chosen = _retriever(state)
    st.selectbox("Chosen by", names, **state.widget("r", chosen))
    if chosen == DEFAULT_RETRIEVER:
        st.caption(f"In use: {literal(ranker_text())}. `evidencebench train-ranker` trains another.")
    st.number_input("Sentences", 1, _MAX_BUDGET, **state.widget("k", _budget(state), lambda k: k))


def _draw_remarks(paper: Paper) -> None:
    for note in paper.notes:
        st.caption(literal(note, 400))
    if paper.doubts:
        with st.expander(f"Text to check against the PDF: {quantity(len(paper.doubts), 'place')}"):
            places = [
                f"- **{literal(doubt.place, 120)}**: {literal(doubt.text, 300)}" for doubt in paper.doubts
            ]
            st.markdown("\n".join(places))


def _draw_kept(state: PageState, opened: OpenPaper, hypothesis: str) -> None:
    own, number = resources.own_papers(), int(opened.ref)
    if hypothesis and hypothesis != opened.hypothesis and st.button("Keep this statement"):
        own.set_hypothesis(number, hypothesis)
        st.rerun()
    markings = len(resources.paper_annotations().annotators(own.get(number).key))
    counts = {"sentence": len(opened.paper.sentences), "marking": markings}

    def remove() -> None:
        own.remove(number)
        open_paper(state, None)

    draw_rename_and_delete(opened.name, partial(own.rename, number), remove, counts, opened.ref)


def _draw_keep(state: PageState, opened: OpenPaper, hypothesis: str) -> None:
    name = st.text_input("Name", value=opened.title[:200], max_chars=200, key=f"keep-name.{opened.ref}")
    if st.button(
        "Keep this paper",
        key="keep-paper",
        help="Saves it on this machine, so that it has a link of its own.",
    ):
        kept = resources.own_papers().save(opened.paper, name.strip(), hypothesis, opened.pdf)
        state.put(paper=str(kept.id))
        flash(f"Kept as {literal(kept.name, 80)}.")
        st.rerun()


def _draw_several(state: PageState, papers: Sequence[OpenPaper]) -> None:
    _draw_way_back(state, "Other papers")
    st.markdown(f"# One question over {quantity(len(papers), 'paper')}")
    if session_text(UNREAD):
        st.warning(literal(session_text(UNREAD)))
    hypothesis = draw_statement(state, "")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Find evidence", type="primary")
        with st.popover("More"):
            _draw_search_settings(state)
        _draw_focus(state)
        model_button()
    found = _search(state, papers, hypothesis)
    best = {ref: findings.best or 0.0 for ref, findings in found.items()}
    ordered = sorted(papers, key=lambda opened: -best.get(opened.ref, 0.0))
    table(
        _SEVERAL,
        [Row(opened.ref, _cells(opened, found.get(opened.ref))) for opened in ordered],
        key="several-papers",
        on_open=lambda ref: open_paper(state, ref, h=state["h"]),
        link=lambda ref: state.link(paper=ref, over=""),
        caption="The papers; a click opens one",
        height=560,
    )


def _cells(opened: OpenPaper, findings: Findings | None) -> tuple[str | float | None, ...]:
    title = clipped_text(opened.title, 200)
    if findings is None or not findings.picks:
        return title, None, None, None
    if not findings.is_close:
        return title, findings.best, "No sentence comes close", None
    index = findings.picks[0]
    return title, findings.best, opened.paper.sentences[index], section_of(opened.paper, index)


with guarded_page():
    draw(PageState("paper", DEFAULTS))
