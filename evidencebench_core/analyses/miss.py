"""Everything about one miss: what covers the aspect, what was picked instead, who else found it."""

from __future__ import annotations

from dataclasses import dataclass

from evidencebench_core.analyses.missed import content_words, other_runs
from evidencebench_core.data.model import Aspect, Instance
from evidencebench_core.data.sections import SectionClass, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, RunLike, RunStore
from evidencebench_core.tasks import Task, task_named


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence that covers the aspect; ``shared`` are the content words that it has in common with the hypothesis."""

    sentence: int
    rank: int | None  # from 1; None where the ranking does not reach it
    score: float | None
    section: SectionClass
    shared: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pick:
    """One of the run's picks: the labels of the asked aspects that it newly covers, and that it repeats."""

    sentence: int
    score: float | None
    section: SectionClass
    new: tuple[str, ...]
    repeated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run that did not see the gold; ``found`` is ``None`` where it has no answer."""

    run_id: str
    label: str
    found: bool | None
    sentence: int | None  # the covering sentence that it ranks best
    rank: int | None  # of that sentence, from 1
    picks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Miss:
    """One aspect of one instance, as one run saw it; passages come best ranked first."""

    instance: Instance
    aspect: Aspect
    number: int  # 0-based position of the aspect in the instance
    budget: int | None
    passages: tuple[Passage, ...]
    picks: tuple[Pick, ...]
    others: tuple[OtherRun, ...]


def miss(store: Store, run: RunLike, task: str | Task, instance_id: str, aspect_id: str) -> Miss:
    """All there is to know about an aspect that a run missed (or found)."""
    chosen = task_named(task)
    runs = RunStore(store)
    info = runs.run(run)
    instance = store.get(info.dataset, instance_id)
    evidence = instance.evidence
    number = next((n for n, aspect in enumerate(evidence.aspects) if aspect.id == aspect_id), None)
    if number is None:
        known = ", ".join(aspect.id for aspect in evidence.aspects[:5])
        raise UnknownNameError(
            f"aspect {shown(aspect_id)}",
            f"is not in instance {shown(instance_id)}",
            f"There are: {known} ...",
        )
    answer = runs.retrieval(info, chosen, instance_id)
    if answer is None:
        problem = f"has no answer for {shown(instance_id)} on {chosen.name}"
        raise UnknownNameError(f"run {info.id}", problem, "Take another instance.")
    aspect, asked = evidence.aspects[number], evidence.focused(chosen.focus)
    ranks, scores = _ranks(answer), dict(zip(answer.ranking, answer.scores, strict=False))
    classes = section_classes(instance.sentences, instance.sentence_types)
    words = content_words(instance.hypothesis)
    ranked = sorted(aspect.sentence_indices, key=lambda index: ranks.get(index, len(ranks) + 1))
    passages = [
        Passage(
            index,
            ranks.get(index),
            scores.get(index),
            classes[index],
            words & content_words(instance.sentences[index]),
        )
        for index in ranked
    ]
    picks = [
        Pick(
            gain.sentence,
            scores.get(gain.sentence),
            classes[gain.sentence],
            tuple(asked[place].label for place in gain.new),
            tuple(asked[place].label for place in gain.repeated),
        )
        for gain in marginal_gains(answer.selection, evidence.covers(chosen.focus))
    ]
    others = [
        _other(other, runs.retrieval(other, chosen, instance_id), aspect)
        for other in other_runs(runs, info, chosen)
    ]
    budget = chosen.budget_for(evidence)
    return Miss(instance, aspect, number, budget, tuple(passages), tuple(picks), tuple(others))


def _ranks(answer: Retrieval) -> dict[int, int]:
    return {index: rank for rank, index in enumerate(answer.ranking, start=1)}


def _other(run: RunInfo, answer: Retrieval | None, aspect: Aspect) -> OtherRun:
    if answer is None:
        return OtherRun(run.id, run.label, None, None, None)
    ranks = _ranks(answer)
    reached = [index for index in aspect.sentence_indices if index in ranks]
    best = min(reached, key=ranks.__getitem__, default=None)
    found = not set(answer.selection).isdisjoint(aspect.sentence_indices)
    return OtherRun(run.id, run.label, found, best, None if best is None else ranks[best], answer.selection)
