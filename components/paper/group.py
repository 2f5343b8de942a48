"""Several papers that are asked together: uploads of this session, kept ones, or those of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from components.app import resources
from components.paper import cached
from components.paper.keeping import named_paper
from components.paper.opened import OF_DATASET, OpenPaper
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.runs import MOST_PAPERS
from evidencebench_core.words import quantity

KEPT: Final = "kept"


@dataclass(frozen=True, slots=True)
class PaperGroup:
    """The papers behind the address' ``over``, and what is not among them, a line each."""

    name: str
    papers: tuple[OpenPaper, ...]
    problems: tuple[str, ...] = ()


def group_of(over: str) -> PaperGroup:
    """The group of ``kept``, of ``dataset:NAME``, else of refs of papers with commas between them."""
    if over == KEPT:
        own = resources.own_papers().all()
        papers = tuple(cached.own_paper(one) for one in own[:MOST_PAPERS])
        return PaperGroup("kept papers", papers, tuple(_rest(len(own))))
    if over.startswith(OF_DATASET):
        try:
            dataset = resources.named_dataset(over.removeprefix(OF_DATASET))
        except UnknownNameError as error:
            return PaperGroup("papers", (), (str(error),))
        papers = cached.dataset_papers(dataset, MOST_PAPERS)
        return PaperGroup(f"papers of {dataset.name}", papers, tuple(_rest(dataset.n_papers)))
    refs = list(dict.fromkeys(filter(None, over.split(","))))
    found = {ref: named_paper(ref) for ref in refs[:MOST_PAPERS]}
    problems = [
        cached.open_papers().problem(ref) or "A paper that is no longer in this server's memory."
        for ref, opened in found.items()
        if opened is None
    ]
    papers = tuple(opened for opened in found.values() if opened is not None)
    return PaperGroup("papers", papers, (*dict.fromkeys(problems), *_rest(len(refs))))


def _rest(n_papers: int) -> Iterator[str]:
    if n_papers > MOST_PAPERS:
        yield f"{quantity(n_papers - MOST_PAPERS, 'paper')} beyond the first {MOST_PAPERS}."
