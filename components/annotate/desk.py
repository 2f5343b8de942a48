"""One annotator at one paper: what stands, and edits that are saved at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from components.app import resources
from components.app.state import flash, session_text, set_session_text
from components.widgets.markdown import literal
from evidencebench_core.analyses.marked_papers import MarkedPaper
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.papers.annotation import Annotation, MarkedAspect
from evidencebench_core.papers.annotations import Revision

__all__ = ["Desk", "desk_of"]

_EDITS = "annotate.edits"


@dataclass(frozen=True, slots=True)
class Desk:
    """What an annotator has before them.

    Attributes
    ----------
    marked : MarkedPaper
    annotator : str
    revision : Revision
        As it stood when the page was drawn.
    """

    marked: MarkedPaper
    annotator: str
    revision: Revision

    @property
    def annotation(self) -> Annotation:
        """What stands; nothing yet, under the paper's hypothesis, before the first edit."""
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

    def edit(self, change: Callable[[Annotation], Annotation]) -> bool:
        """Save what a change makes of what stands *now*, which another window may have changed meanwhile.

        What cannot be done is said when the page is drawn next.
        """
        annotations = resources.paper_annotations()
        try:
            standing = annotations.latest(self.marked.key, self.annotator).annotation
            annotations.save(self.marked.key, change(standing or _blank(self.marked, self.annotator)))
        except EvidenceBenchError as error:
            flash(literal(str(error)))
            return False
        _changed()
        return True

    def put(self, annotation: Annotation) -> bool:
        """Save an annotation in the place of what stands."""
        return self.edit(lambda _: annotation)

    def undo(self) -> None:
        """One revision back."""
        resources.paper_annotations().undo(self.marked.key, self.annotator)
        _changed()

    def redo(self) -> None:
        """One revision on."""
        resources.paper_annotations().redo(self.marked.key, self.annotator)
        _changed()


def desk_of(marked: MarkedPaper, annotator: str) -> Desk:
    """What stands now."""
    return Desk(marked, annotator, resources.paper_annotations().latest(marked.key, annotator))


def _blank(marked: MarkedPaper, annotator: str) -> Annotation:
    return Annotation(annotator, marked.hypothesis, len(marked.paper.sentences))


def _changed() -> None:
    set_session_text(_EDITS, str(int(session_text(_EDITS, "0")) + 1))
