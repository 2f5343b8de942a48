"""A paper that people mark: one of the store's own papers, or an instance of a dataset, whose gold is one more
annotator."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from evidencebench_core.annotation.model import GOLD, MODEL, Annotation, gold_annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import PaperError, UnknownNameError, shown
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.paper import Paper


@dataclass(frozen=True, slots=True)
class MarkedPaper:
    """A paper under the key that its annotations have."""

    key: str  # "own:<number>" or "instance:<dataset sha256>:<instance id>"
    name: str  # for people
    hypothesis: str  # the one that it came with; may be empty
    paper: Paper | Instance
    dataset: str | None = None  # of an instance the name of its dataset

    @property
    def gold(self) -> Annotation | None:
        """The gold of the dataset as an annotation; ``None`` for an own paper."""
        return gold_annotation(self.paper) if isinstance(self.paper, Instance) else None

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
        for dataset in store.datasets():
            if dataset.sha256 == sha256:
                instance = store.get(dataset.name, instance_id)
                return MarkedPaper(key, instance_id, instance.hypothesis, instance, dataset.name)
    remedy = "It, or its dataset, may have been removed."
    raise UnknownNameError(f"paper {shown(key, 60)}", "is not in the store", remedy)


def marked_papers(store: Store, dataset: str | None = None) -> list[MarkedPaper]:
    """The papers on which anybody's marks stand, or the instances of a dataset; those that are gone are left out."""
    prefix = "" if dataset is None else instance_key(store.dataset(dataset), "")
    papers = []
    for key in Annotations(store).papers():
        if key.startswith(prefix):
            with suppress(UnknownNameError):
                papers.append(marked_paper(store, key))
    return papers


def annotators_of(annotations: Annotations, marked: MarkedPaper) -> tuple[str, ...]:
    """Who has marked a paper: people, then models, and last the gold of an instance."""
    names = sorted(annotations.annotators(marked.key), key=lambda name: name.startswith(MODEL))
    gold = (GOLD,) if marked.gold is not None and marked.gold.aspects else ()
    return (*names, *gold)


def annotation_of(annotations: Annotations, marked: MarkedPaper, annotator: str) -> Annotation:
    """The marks of an annotator in a paper; `PaperError` where there are none."""
    annotation = marked.gold if annotator == GOLD else annotations.get(marked.key, annotator)
    if annotation is None:
        known = ", ".join(annotators_of(annotations, marked)) or "nobody yet"
        place = f"{marked.name}, annotator {shown(annotator)}"
        raise PaperError(place, "has marked nothing", f"Who has: {known}.")
    return annotation
