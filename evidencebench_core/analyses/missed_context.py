"""Everything about one miss: what covers the aspect, what was picked instead, who else found it."""

from __future__ import annotations

from dataclasses import dataclass

from evidencebench_core.analyses.missed import other_runs
from evidencebench_core.analyses.missed_text import content_words
from evidencebench_core.data.model import Aspect, Instance
from evidencebench_core.data.sections import SectionClass, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.metrics import marginal_gains
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task, task_named


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence that covers the aspect.

    ``rank`` (from 1) and ``score`` are ``None`` where the run's ranking does not reach the sentence; ``shared``
    are the content words that it has in common with the hypothesis.
    """

    sentence: int
    rank: int | None
    score: float | None
    section: SectionClass
    shared: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pick:
    """One of the run's picks: which asked aspects it newly covers and which it repeats (their labels)."""

    sentence: int
    score: float | None
    section: SectionClass
    new: tuple[str, ...]
    repeated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherRun:
    """Another run over the same instances, that did not see the gold.

    ``found``: whether its picks cover the aspect, ``None`` where it has no answer; ``sentence`` and ``rank``: the
    covering sentence that it ranks best, and its rank from 1.
    """

    run_id: str
    label: str
    found: bool | None
    sentence: int | None
    rank: int | None
    picks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MissContext:
    """One aspect of one instance, as one run saw it.

    ``number`` is its 0-based position in the instance; passages come best ranked first.
    """

    instance: Instance
    aspect: Aspect
    number: int
    budget: int | None
    passages: tuple[Passage, ...]
    picks: tuple[Pick, ...]
    others: tuple[OtherRun, ...]


def missed_context(
    store: Store, run_id: str, task: str | Task, instance_id: str, aspect_id: str
) -> MissContext:
    """All there is to know about an aspect that a run missed (or found)."""
    chosen = task_named(task)
    runs = RunStore(store)
    run = runs.run(run_id)
    instance = store.get(run.dataset, instance_id)
    evidence = instance.evidence
    number = next((n for n, aspect in enumerate(evidence.aspects) if aspect.id == aspect_id), None)
    if number is None:
        raise UnknownNameError(
            f"aspect {shown(aspect_id)}",
            f"is not in instance {shown(instance_id)}",
            f"There are: {', '.join(aspect.id for aspect in evidence.aspects[:5])} ...",
        )
    answer = runs.retrieval(run.id, chosen.name, instance_id)
    if answer is None:
        raise UnknownNameError(
            f"run {run.id}",
            f"has no answer for {shown(instance_id)} on {chosen.name}",
            "Take another instance.",
        )
    aspect, asked = evidence.aspects[number], evidence.focused(chosen.focus)
    ranks, scores = _ranks(answer), dict(zip(answer.ranking, answer.scores, strict=False))
    classes = section_classes(instance.sentences, instance.sentence_types)
    words = content_words(instance.hypothesis)
    passages = [
        Passage(
            sentence=index,
            rank=ranks.get(index),
            score=scores.get(index),
            section=classes[index],
            shared=words & content_words(instance.sentences[index]),
        )
        for index in sorted(aspect.sentence_indices, key=lambda index: ranks.get(index, len(ranks) + 1))
    ]
    picks = [
        Pick(
            gain.sentence,
            scores.get(gain.sentence),
            classes[gain.sentence],
            *(tuple([asked[place].label for place in places]) for places in (gain.new, gain.repeated)),
        )
        for gain in marginal_gains(answer.selection, evidence.covers(chosen.focus))
    ]
    others = [
        _other(other, runs.retrieval(other.id, chosen.name, instance_id), aspect)
        for other in other_runs(runs, run, chosen)
    ]
    budget = chosen.budget_for(evidence)
    return MissContext(instance, aspect, number, budget, tuple(passages), tuple(picks), tuple(others))


def _ranks(answer: Retrieval) -> dict[int, int]:
    return {index: rank for rank, index in enumerate(answer.ranking, start=1)}


def _other(run: RunInfo, answer: Retrieval | None, aspect: Aspect) -> OtherRun:
    if answer is None:
        return OtherRun(run.id, run.label, None, None, None)
    ranks = _ranks(answer)
    best = min(
        (index for index in aspect.sentence_indices if index in ranks), key=ranks.__getitem__, default=None
    )
    found = not set(answer.selection).isdisjoint(aspect.sentence_indices)
    return OtherRun(run.id, run.label, found, best, None if best is None else ranks[best], answer.selection)
