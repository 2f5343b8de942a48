"""One annotator at one paper: what stands, edits that are saved at once, undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from components.app import resources
from components.app.session import session_text, set_session_text
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.annotation.marked import MarkedPaper
from evidencebench_core.annotation.model import CONSENSUS, MODEL, Annotation, check_person
from evidencebench_core.annotation.store import Revision
from evidencebench_core.errors import EvidenceBenchError


@dataclass(frozen=True, slots=True)
class Editor:
    """A paper with the marks of one annotator; its edits are made in callbacks, on what stands at that moment."""

    marked: MarkedPaper
    annotator: str
    revision: Revision

    @property
    def annotation(self) -> Annotation:
        """What stands; an empty one, under the paper's hypothesis, before the first edit."""
        return self.revision.annotation or self.blank

    @property
    def blank(self) -> Annotation:
        return Annotation(self.annotator, self.marked.hypothesis, len(self.marked.paper.sentences))

    @property
    def version(self) -> str:
        """Part of the keys of widgets that show the annotation: new after every change of it."""
        return f"{self.marked.key}.{self.annotator}.{self.revision.number}"

    def edit(
        self, change: Callable[[Annotation], Annotation], then: Callable[[], object] = lambda: None
    ) -> None:
        """Save what a change makes of what stands now; ``then`` is called if it could be saved."""
        annotations = resources.paper_annotations()
        self._save(lambda: annotations.edit(self.marked.key, self.blank, change), then)

    def undo(self) -> None:
        self._save(lambda: resources.paper_annotations().undo(self.marked.key, self.annotator))

    def redo(self) -> None:
        self._save(lambda: resources.paper_annotations().redo(self.marked.key, self.annotator))

    @staticmethod
    def _save(save: Callable[[], object], then: Callable[[], object] = lambda: None) -> None:
        try:
            save()
        except EvidenceBenchError as error:
            st.error(literal(f"Not saved. {error}"))
        else:
            then()


def editor_of(marked: MarkedPaper, annotator: str) -> Editor:
    """The annotation as it stands now."""
    return Editor(marked, annotator, resources.paper_annotations().latest(marked.key, annotator))


def annotator_here(state: PageState) -> str:
    """The annotator of the address, else of the session; ``""`` where nobody has given a name, or a link gives another.

    A link may say whose marks to look at. Who writes is who gave a name in this session.
    """
    author = session_text("author")
    name = state["annotator"] or author
    if not name:
        return ""
    if author and name not in (author, CONSENSUS):
        st.info(f"This link leads to the marking of {literal(name, 40)}; here you are {literal(author, 40)}.")
        if st.button(f"Mark as {literal(author, 40)}"):
            _take(state, author)
        return ""
    try:
        name = check_person(name)
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return ""
    if name != CONSENSUS:  # that is nobody's name
        set_session_text("author", name)
    if not state["annotator"]:
        state.put(annotator=name)
    return name


def ask_who(state: PageState, paper: str, key: str) -> None:
    """A field for a new name, and the other people who have marked this paper."""
    with st.form(f"who-{key}", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Your name or initials", max_chars=100, key=f"who-name-{key}", width=260).strip()
        is_sent = st.form_submit_button("Start marking", type="primary")
    if is_sent and name:
        _take(state, name)
    elif is_sent:
        st.warning("Say who marks: initials will do.")
    for other in resources.paper_annotations().annotators(paper):
        is_choice = other != state["annotator"] and not other.startswith(MODEL)
        if is_choice and st.button(literal(other, 40), key=f"who-{key}.{other}"):
            _take(state, other)


def _take(state: PageState, name: str) -> None:
    set_session_text("author", name)
    state.put(annotator=name, view=None, aspect=None)
    st.rerun()
