"""Marks as a file, for another store that has the same papers: two people on two machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from evidencebench_core.annotation.marked import MarkedPaper, marked_paper, marked_papers
from evidencebench_core.annotation.model import MODEL, Annotation, check_person
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.files import file_content
from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import EvidenceBenchError, PaperError, UnknownNameError
from evidencebench_core.papers.own import OWN, OwnPapers

_LARGEST: Final = 64 << 20  # bytes
_MOST_ASPECTS: Final = 10_000
_REMEDY: Final = "Give a file that `evidencebench annotate export --marks FILE` has written."


@dataclass(frozen=True, slots=True)
class SharedMarks:
    """An annotation with its paper, which has the same key in every store: an own one that of its sentences."""

    paper: str
    name: str
    annotation: Annotation


_FILE: Final = TypeAdapter(list[SharedMarks])


def marks_json(store: Store, annotator: str = "") -> bytes:
    """What people marked, or one of them, as JSON; `PaperError` where there is nothing."""
    annotations, shared = Annotations(store), []
    for marked in marked_papers(store):
        for name in annotations.annotators(marked.key):
            annotation = annotations.get(marked.key, name)
            if annotation is not None and annotator in ("", name) and not name.startswith(MODEL):
                shared.append(SharedMarks(_shared_key(marked), marked.name, annotation))
    if not shared:
        raise PaperError("the store", f"has no marks by {annotator or 'anybody'}", "Mark evidence first.")
    return _FILE.dump_json(shared, indent=1)


def import_marks(store: Store, path: Path) -> Iterator[tuple[str, str, str]]:
    """Keep the marks of a file; paper, annotator and what became of each. Other marks by that name can be undone to."""
    try:
        file = _FILE.validate_json(file_content(path, _LARGEST, _REMEDY))
    except ValidationError as error:
        problem = f"is no file of marks ({error.errors()[0]['msg']})"
        raise PaperError(str(path), problem, _REMEDY) from error
    annotations = Annotations(store)
    own_papers = [marked_paper(store, own.key) for own in OwnPapers(store).all()]
    keys = {_shared_key(marked): marked.key for marked in own_papers}
    for shared in file:
        name = shared.annotation.annotator
        try:
            marked = marked_paper(store, keys.get(shared.paper, shared.paper))
            annotation = _checked(shared.annotation, marked)
            before = annotations.get(marked.key, name)
            annotations.save(marked.key, annotation)
            outcome = "added" if before is None else "as it was" if before == annotation else "replaced"
        except UnknownNameError:
            outcome = "left out: the paper, or its dataset, is not in this store"
        except EvidenceBenchError as error:
            outcome = f"left out: {error}"
        yield shared.name, name, outcome


def _shared_key(marked: MarkedPaper) -> str:
    return f"sentences:{digest(list(marked.paper.sentences))}" if marked.key.startswith(OWN) else marked.key


def _checked(annotation: Annotation, marked: MarkedPaper) -> Annotation:
    """The annotation as edits would have made it; `PaperError` where none could."""
    check_person(annotation.annotator)
    ids = {aspect.id for aspect in annotation.aspects}
    known = {f"aspect_{number}" for number in range(min(annotation.n_made, _MOST_ASPECTS))}
    if not ids <= known or len(ids) < len(annotation.aspects):
        raise PaperError(marked.name, "has aspects that are not numbered as they were made", _REMEDY)
    if annotation.n_sentences != len(marked.paper.sentences):
        raise PaperError(marked.name, "has marks of another paper", _REMEDY)
    for aspect in annotation.aspects:
        annotation = annotation.rename_aspect(aspect.id, aspect.text).mark(aspect.id, aspect.sentences)
    return annotation.set_hypothesis(annotation.hypothesis)
