"""Who marks: a name, remembered for the session."""

from __future__ import annotations

import streamlit as st

from components.app.state import PageState, session_text, set_session_text
from components.widgets.markdown import literal
from evidencebench_core.analyses.consensus import CONSENSUS
from evidencebench_core.analyses.marked_papers import GOLD
from evidencebench_core.papers.draft import clean_text

__all__ = ["annotator_here", "ask_who", "draw_who"]

_KEPT = "annotator"


def annotator_here(state: PageState) -> str:
    """The annotator of the address, else of the session; ``""`` where nobody has said a name."""
    named = clean_text(state["annotator"])[:100]
    if named == GOLD:
        st.warning('"gold" is what the dataset marked, and cannot be changed. Say another name.')
        return ""
    if not named and session_text(_KEPT):
        state.put(annotator=session_text(_KEPT))
    elif named != CONSENSUS:  # that is nobody's name
        set_session_text(_KEPT, named)
    return named or session_text(_KEPT)


def draw_who(state: PageState, known: tuple[str, ...]) -> None:
    """Ask for the name, as the page's one question."""
    st.markdown("#### Who marks?")
    st.markdown(
        "Everything you mark is kept under this name as you go. Several people can mark one paper, each for "
        "themselves, and compare afterwards."
    )
    ask_who(state, known, "start")


def ask_who(state: PageState, known: tuple[str, ...], key: str) -> None:
    """A field for a new name, and the names that have marked this paper."""
    with st.form(f"who-{key}", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Your name or initials", max_chars=100, key=f"who-name-{key}", width=260)
        said = st.form_submit_button("Start marking", type="primary")
    if said and clean_text(name):
        _take(state, clean_text(name))
    elif said:
        st.warning("Say who marks: initials will do.")
    if known:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Marked it before:", width="content")
            for one in known:
                if st.button(literal(one, 40), key=f"who-{key}.{one}"):
                    _take(state, one)


def _take(state: PageState, name: str) -> None:
    state.put(annotator=name, view=None, aspect=None)
    st.rerun()
