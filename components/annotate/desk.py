"""One annotator at one paper: who, what stands, edits that are saved at once, and the ways out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from components.app import resources
from components.app.session import flash, open_later, session_text, set_session_text
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.paper_view import PaperEvent, paper_view
from evidencebench_core.annotation.export import annotated_raw
from evidencebench_core.annotation.marked import MarkedPaper
from evidencebench_core.annotation.model import CONSENSUS, GOLD, MODEL, Annotation, MarkedAspect
from evidencebench_core.annotation.store import Annotations, Revision
from evidencebench_core.data import Aspect, Instance, add_instance
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.export import write_benchmark
from evidencebench_core.export.reader import PaperView
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.words import quantity

_EDITS: Final = "annotate.edits"
_NAME: Final = "annotator"


@dataclass(frozen=True, slots=True)
class Desk:
    """A paper with the marks of one annotator.

    Edits are made in callbacks: these have the desk as it was drawn, so that it shows what another window has changed
    since. Where nothing can be saved, that is said, and widgets keep what was typed.
    """

    marked: MarkedPaper
    annotator: str
    revision: Revision  # as it stood when the page was drawn

    @property
    def annotation(self) -> Annotation:
        """The annotation as it stands; an empty one, under the paper's hypothesis, before the first edit."""
        return self.revision.annotation or _blank(self.marked, self.annotator)

    @property
    def version(self) -> str:
        """Part of the keys of widgets that show the annotation: new after every change of it."""
        return f"{self.marked.key}.{self.annotator}.{self.revision.number}.{session_text(_EDITS)}"

    def labels(self) -> dict[str, str]:
        """ "A1", "A2", ... by aspect id, in the annotator's order."""
        return {aspect.id: f"A{number}" for number, aspect in enumerate(self.annotation.aspects, start=1)}

    def chosen(self, aspect_id: str) -> MarkedAspect | None:
        """The aspect of this id, if it is still there."""
        return next((aspect for aspect in self.annotation.aspects if aspect.id == aspect_id), None)

    def edit(
        self, change: Callable[[Annotation], Annotation], then: Callable[[], object] = lambda: None
    ) -> None:
        """Save what a change makes of what stands *now*, which another window may have changed meanwhile.

        What is to be done ``then`` is done if it could be saved.
        """
        blank = _blank(self.marked, self.annotator)
        self._act(lambda annotations: annotations.edit(self.marked.key, blank, change), then)

    def put(self, annotation: Annotation) -> None:
        """Save an annotation in the place of what stands."""
        self.edit(lambda _: annotation)

    def undo(self) -> None:
        """One revision back."""
        self._act(lambda annotations: annotations.undo(self.marked.key, self.annotator))

    def redo(self) -> None:
        """One revision on."""
        self._act(lambda annotations: annotations.redo(self.marked.key, self.annotator))

    def _act(self, act: Callable[[Annotations], Revision], then: Callable[[], object] = lambda: None) -> None:
        try:
            act(resources.paper_annotations())
        except EvidenceBenchError as error:
            st.error(literal(f"Not saved. {error}"))
            return
        _count_edit()
        then()


def draw_marks(
    state: PageState,
    marked: MarkedPaper,
    aspects: tuple[Aspect, ...],
    lit: int | None,
    on_event: Callable[[PaperEvent], None],
    *,
    by: str,
    key: str = "reader",
) -> None:
    """The paper with what ``by`` marked in it, and no picks."""
    paper, selected = marked.paper, state.number("sentence")
    types = paper.sentence_types
    view = PaperView(
        marked.key, paper.sentences, types, aspects, active=None, selected=selected, aspect=lit, by=by
    )
    paper_view(view, key=key, height=780, on_event=on_event)


def desk_of(marked: MarkedPaper, annotator: str) -> Desk:
    """The annotation as it stands now."""
    return Desk(marked, annotator, resources.paper_annotations().latest(marked.key, annotator))


def _blank(marked: MarkedPaper, annotator: str) -> Annotation:
    return Annotation(annotator, marked.hypothesis, len(marked.paper.sentences))


def _count_edit() -> None:
    set_session_text(_EDITS, str(int(session_text(_EDITS, "0")) + 1))


def annotator_here(state: PageState) -> str:
    """The annotator of the address, else of the session; ``""`` where nobody has said a name."""
    named = clean_text(state["annotator"])[:100]
    if named == GOLD:
        st.warning('"gold" is what the dataset marked, and cannot be changed. Say another name.')
        return ""
    if named.startswith(MODEL):
        st.warning('A name that begins with "model:" is no person\'s. Say another name.')
        return ""
    if not named and session_text(_NAME):
        state.put(annotator=session_text(_NAME))
    elif named != CONSENSUS:  # that is nobody's name
        set_session_text(_NAME, named)
    return named or session_text(_NAME)


def draw_who(state: PageState, known: tuple[str, ...]) -> None:
    """Ask for the name, as the page's one question."""
    st.markdown("## Who marks?")
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


def missing(annotation: Annotation) -> str:
    """The parts that an instance still lacks, as a sentence; ``""`` where it is complete."""
    lacks = []
    if not annotation.hypothesis.strip():
        lacks.append("a hypothesis")
    if not annotation.aspects:
        lacks.append("a study aspect")
    n_bare = len(annotation.uncovered)
    if n_bare:
        lacks.append(f"a sentence for {quantity(n_bare, 'aspect')}")
    return f"It still lacks {' and '.join(lacks)}." if lacks else ""


def _raw_instance(desk: Desk, instance_id: str) -> dict[str, Any]:
    """The instance as the benchmark's files have it; ``PaperError`` where it is not complete."""
    return annotated_raw(resources.paper_annotations(), desk.marked, desk.annotator, instance_id)[1]


def dataset_file(desk: Desk, instance_id: str) -> bytes:
    """A dataset of one instance as the benchmark's files have it; ``PaperError`` where it is not complete."""
    stream = io.BytesIO()
    write_benchmark([(instance_id, _raw_instance(desk, instance_id))], stream)
    return stream.getvalue()


def draw_saving(state: PageState, desk: Desk) -> None:
    """The two ways out; before it is complete, what is missing."""
    if not desk.annotation.aspects:
        return
    st.markdown("## Save as an instance")
    lacks = missing(desk.annotation)
    st.caption(
        lacks
        or "Complete: hypothesis, aspects, and a sentence for each. Optimal selections are computed as it is saved."
    )
    paper = desk.marked.paper
    start = paper.id if isinstance(paper, Instance) else paper.paper_id
    instance_id = st.text_input(
        "Id of the instance", value=start, max_chars=200, key=f"instance-id.{desk.marked.key}"
    ).strip()
    ready = not lacks and bool(instance_id)
    with st.container(horizontal=True):
        st.download_button(
            "Download dataset (JSON)",
            lambda: dataset_file(desk, instance_id),
            f"{_file_stem(desk)}.json",
            "application/json",
            on_click="ignore",
            disabled=not ready,
            help="In the benchmark's format: its tools and the authors' code read it.",
        )
        with st.popover("Add to my datasets", disabled=not ready):
            _draw_add(desk, instance_id)


def _file_stem(desk: Desk) -> str:
    words = f"{desk.marked.name} marked by {desk.annotator}"
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-").lower()[:80]


def _draw_add(desk: Desk, instance_id: str) -> None:
    st.markdown(
        "To the instances that were marked by hand, so that it can be read, searched and scored in Browse with every "
        "retriever."
    )
    name = st.text_input(
        "Name of the dataset", value="Marked by hand", max_chars=200, key=f"dataset-name.{desk.version}"
    ).strip()
    if not st.button("Add it", type="primary", key="add-dataset", disabled=not name):
        return
    try:
        add_instance(resources.store(), name, instance_id, _raw_instance(desk, instance_id))
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    flash(f"Added to the dataset {literal(name, 80)}.")
    open_later("browse", {"dataset": name, "instance": instance_id})
    st.rerun()
