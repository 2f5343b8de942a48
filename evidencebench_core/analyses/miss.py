"""One miss closely: what covers the aspect, and who else found it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from evidencebench_core.analyses.missed import content_words, other_runs, ranks_of
from evidencebench_core.data.model import Aspect, Instance
from evidencebench_core.data.sections import SectionClass, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence that covers the aspect; ``shared`` are the content words that it has in common with the hypothesis."""

    sentence: int
    rank: int | None  # from 1; None where the ranking does not reach it
    section: SectionClass
    shared: frozenset[str]


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run that did not see the gold; ``found`` is ``None`` where it has no answer."""

    run: RunInfo
    found: bool | None
    sentence: int | None  # the covering sentence that it ranks best
    rank: int | None  # of that sentence, from 1


@dataclass(frozen=True, slots=True)
class Miss:
    """An aspect of an instance as a run and the others saw it; passages come best ranked first."""

    instance: Instance
    passages: tuple[Passage, ...]
    others: tuple[OtherRun, ...]


def miss(store: Store, run: RunInfo, task: Task, instance: Instance, aspect: Aspect) -> Miss:
    """What stands around an aspect that a run missed (or found)."""
    runs = RunStore(store)
    answer = runs.retrieval(run, task, instance.id)
    ranks = {} if answer is None else ranks_of(answer)
    classes = section_classes(instance.sentences, instance.sentence_types)
    words = content_words(instance.hypothesis)
    passages = [
        Passage(index, ranks.get(index), classes[index], words & content_words(instance.sentences[index]))
        for index in sorted(aspect.sentence_indices, key=lambda index: ranks.get(index, inf))
    ]
    others = [
        _outcome(other, runs.retrieval(other, task, instance.id), aspect)
        for other in other_runs(runs, run, task)
    ]
    return Miss(instance, tuple(passages), tuple(others))


def _outcome(run: RunInfo, answer: Retrieval | None, aspect: Aspect) -> OtherRun:
    if answer is None:
        return OtherRun(run, None, None, None)
    ranks = ranks_of(answer)
    reached = [index for index in aspect.sentence_indices if index in ranks]
    best = min(reached, key=ranks.__getitem__, default=None)
    is_found = not set(answer.selection).isdisjoint(aspect.sentence_indices)
    return OtherRun(run, is_found, best, None if best is None else ranks[best])
