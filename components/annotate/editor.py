"""One annotator at one paper: what stands, edits that are saved at once, undo and redo; and who that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import streamlit as st

from components import resources
from components.markdown import literal
from components.state import PageState, flash, session_text, set_session_text
from evidencebench_core.annotation.marked import MarkedPaper
from evidencebench_core.annotation.model import CONSENSUS, GOLD, MODEL, Annotation, check_person
from evidencebench_core.annotation.store import Revision
from evidencebench_core.errors import EvidenceBenchError

_NOBODY: Final = (rf"^(?!\s*({GOLD}|{CONSENSUS}|{MODEL}.*)\s*$)", "This name is reserved. Choose another.")


@dataclass(frozen=True, slots=True)
class Editor:
    """A paper with the marks of one annotator; its edits are made in callbacks, on what stands at that moment."""

    marked: MarkedPaper
    annotator: str
    revision: Revision
    first: Annotation  # what stands before the first edit
    may_write: bool  # else the marks are somebody else's, to be read

    @property
    def annotation(self) -> Annotation:
        """What stands now."""
        return self.revision.annotation or self.first

    @property
    def version(self) -> str:
        """Part of the keys of widgets that show the annotation: new after every change of it."""
        return f"{self.marked.key}.{self.annotator}.{self.revision.number}"

    def edit(
        self, change: Callable[[Annotation], Annotation], then: Callable[[], object] = lambda: None
    ) -> None:
        """Save what a change makes of what stands now; ``then`` is called if it could be saved."""
        annotations = resources.paper_annotations()
        self._save(lambda: annotations.edit(self.marked.key, self.first, change), then)

    def undo(self) -> None:
        self._save(lambda: resources.paper_annotations().undo(self.marked.key, self.annotator))

    def redo(self) -> None:
        self._save(lambda: resources.paper_annotations().redo(self.marked.key, self.annotator))

    @staticmethod
    def _save(save: Callable[[], object], then: Callable[[], object] = lambda: None) -> None:
        try:
            save()
        except EvidenceBenchError as error:
            flash(literal(f"Not saved. {error}"))
        else:
            then()


def editor_of(marked: MarkedPaper, annotator: str, first: Annotation | None = None) -> Editor:
    """The annotation as it stands now; one's own, and a consensus, may be changed. It begins as ``first``, or empty."""
    revision = resources.paper_annotations().latest(marked.key, annotator)
    first = first or Annotation(annotator, marked.hypothesis, len(marked.paper.sentences))
    may_write = bool(own_name()) and annotator in (own_name(), CONSENSUS)
    return Editor(marked, annotator, revision, first, may_write)


def own_name() -> str:
    """Who writes in this session, whatever a link says; ``""`` where nobody has given a name."""
    try:
        name = check_person(session_text("author"))
    except EvidenceBenchError:
        return ""
    return "" if name == CONSENSUS else name


def mark_as(state: PageState, name: str) -> None:
    set_session_text("author", name)
    state.put(annotator=name, view=None, aspect=None, sentence=None, item=None)


def draw_who(state: PageState, editor: Editor) -> None:
    """Who marks; of marks that may only be read the way to one's own."""
    whose, name = literal(editor.annotator, 40), own_name()
    if editor.annotator and not editor.may_write:
        st.markdown(f"The marks of **{whose}**, read only", width="content")
    if name and not editor.may_write:
        st.button(f"Mark as {literal(name, 40)}", type="primary", on_click=mark_as, args=(state, name))
        return
    label = f"Marking as {whose}" if editor.may_write else "Mark evidence in this paper"
    # Under a key of each name it is closed once a name is given.
    with st.popover(label, key=f"who.{own_name()}"), st.form("who", border=False):
        st.caption(
            "Everything you mark is saved under this name as you go. Several people can mark one paper."
        )
        st.text_input("Your name or initials", key="who-name", max_chars=100, required=True, validate=_NOBODY)
        st.form_submit_button(
            "Start marking", on_click=lambda: mark_as(state, st.session_state["who-name"].strip())
        )
