"""A paper that people mark: one of the store's own papers, or an instance of a dataset, whose gold is one more
annotator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import PaperError, UnknownNameError, shown
from evidencebench_core.papers.annotation import Annotation, MarkedAspect
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.paper import Paper

GOLD: Final = "gold"
"""The annotator who marked what a dataset has as gold; nobody else may be called so."""


@dataclass(frozen=True, slots=True)
class MarkedPaper:
    """A paper under the key that its annotations have."""

    key: str  # "own:<number>", "instance:<dataset sha256>:<instance id>", or of a build of a construction
    name: str  # for people
    hypothesis: str  # the one that it came with; may be empty
    paper: Paper | Instance
    dataset: str | None = None  # of an instance the name of its dataset
    others: tuple[Annotation, ...] = ()  # that nobody may change here: what a model proposed for it

    @property
    def gold(self) -> Annotation | None:
        """The gold of the dataset as an annotation; ``None`` for an own paper.

        Aspects without a text are called by their label ("A1"); see `gold_has_words`.
        """
        if not isinstance(self.paper, Instance):
            return None
        aspects = tuple(
            MarkedAspect(
                f"aspect_{number}", aspect.text or aspect.label, aspect.is_result, aspect.sentence_indices
            )
            for number, aspect in enumerate(self.paper.evidence.aspects)
        )
        return Annotation(GOLD, self.hypothesis, len(self.paper.sentences), aspects, len(aspects))

    @property
    def gold_has_words(self) -> bool:
        """Whether the dataset says what its aspects are; the released ones do not."""
        return isinstance(self.paper, Instance) and any(a.text for a in self.paper.evidence.aspects)


def instance_key(dataset: DatasetInfo, instance_id: str) -> str:
    """The key of an instance; it stays with the dataset's content, whatever the dataset is called."""
    return f"instance:{dataset.sha256}:{instance_id}"


def marked_paper(store: Store, key: str) -> MarkedPaper:
    """The paper of a key."""
    kind, _, rest = key.partition(":")
    if kind == "own" and rest.isascii() and rest.isdigit() and len(rest) < 15:
        own = OwnPapers(store).get(int(rest))
        return MarkedPaper(key, own.name, own.hypothesis, OwnPapers(store).paper(own.id))
    if kind == "instance":
        sha256, _, instance_id = rest.partition(":")
        dataset = next((info for info in store.datasets() if info.sha256 == sha256), None)
        if dataset is not None:
            instance = store.get(dataset.name, instance_id)
            return MarkedPaper(key, instance_id, instance.hypothesis, instance, dataset.name)
    raise UnknownNameError(
        f"paper {shown(key, 60)}", "is not in the store", "It, or its dataset, may have been removed."
    )


def annotators_of(annotations: Annotations, marked: MarkedPaper) -> tuple[str, ...]:
    """Who has marked a paper, in the order of the alphabet; then its others, and last the gold of an instance."""
    gold = (GOLD,) if marked.gold is not None and marked.gold.aspects else ()
    return (*annotations.annotators(marked.key), *(one.annotator for one in marked.others), *gold)


def annotation_of(annotations: Annotations, marked: MarkedPaper, annotator: str) -> Annotation:
    """The marks of an annotator in a paper."""
    given = {one.annotator: one for one in (*marked.others, *([marked.gold] if marked.gold else []))}
    found = given.get(annotator) or annotations.latest(marked.key, annotator).annotation
    if found is None:
        known = ", ".join(annotators_of(annotations, marked)) or "nobody yet"
        raise PaperError(
            f"{marked.name}, annotator {shown(annotator)}", "has marked nothing", f"Who has: {known}."
        )
    return found


def without_marks(annotation: Annotation, annotator: str) -> Annotation:
    """The same aspects for another annotator to begin with, covered by nothing."""
    aspects = tuple(MarkedAspect(a.id, a.text, a.is_result) for a in annotation.aspects)
    return Annotation(annotator, annotation.hypothesis, annotation.n_sentences, aspects, annotation.n_made)
