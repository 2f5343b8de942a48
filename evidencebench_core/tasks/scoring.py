"""Selections in, `Score` out: the mean Aspect Recall with all that is needed to read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.metrics import Denominator, ceiling, expected_recall, random_expectation
from evidencebench_core.stats import bootstrap_interval, standard_error
from evidencebench_core.tasks.selection import validated_selection

if TYPE_CHECKING:
    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.tasks.task import Task


Missing = Literal["report", "zero"]


@dataclass(frozen=True, slots=True)
class Score:
    """What a set of selections scores on a task. Recalls are shares, 0 to 1.

    Attributes
    ----------
    task : Task
    n_scored, n_skipped, n_missing, n_empty : int
        Instances behind the mean; without anything to cover; without a selection; with a selection of
        no sentence (these are scored 0).
    skipped : mapping of str to str
        Instance id to reason.
    missing : tuple of str
        Ids of the instances without a selection. They are left out, or with ``missing="zero"`` scored 0.
    aspect_recall : float or None
        Unweighted mean over the scored instances; ``None`` without any.
    standard_error : float or None
        ``None`` for fewer than two instances.
    ci95 : (low, high) or None
        Percentile bootstrap interval over instances; ``None`` for fewer than two.
    ceiling : float or None
        Mean over the same instances of the best recall that is possible within the budget.
    random_expectation : float or None
        Mean over the same instances of the expected recall of as many sentences drawn at random;
        ``None`` where the task has no limit.
    per_instance : mapping of str to float
        Aspect Recall of every scored instance, in the order of the dataset.
    denominator : {"all", "coverable"}
        Which aspects count.
    """

    task: Task
    n_scored: int
    n_skipped: int
    n_missing: int
    n_empty: int
    skipped: Mapping[str, str]
    missing: tuple[str, ...]
    aspect_recall: float | None
    standard_error: float | None
    ci95: tuple[float, float] | None
    ceiling: float | None
    random_expectation: float | None
    per_instance: Mapping[str, float]
    denominator: Denominator = "all"

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values; the keys are a contract of the command line."""
        return {
            "task": self.task.name,
            "n_scored": self.n_scored,
            "n_skipped": self.n_skipped,
            "n_missing": self.n_missing,
            "n_empty": self.n_empty,
            "aspect_recall": self.aspect_recall,
            "standard_error": self.standard_error,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "ceiling": self.ceiling,
            "random_expectation": self.random_expectation,
            "skipped": dict(self.skipped),
            "missing": list(self.missing),
            "per_instance": dict(self.per_instance),
        }

    def _repr_html_(self) -> str:
        """A small table, escaped, for notebooks."""
        from evidencebench_core.tasks.html import score_html

        return score_html(self)


def score(
    task: Task,
    gold: Iterable[tuple[str, EvidenceSet]],
    selections: Mapping[str, Sequence[int]],
    *,
    missing: Missing = "report",
    denominator: Denominator = "all",
    seed: int = 0,
) -> Score:
    """Score selections on a task.

    Parameters
    ----------
    task : Task
    gold : iterable of (instance id, EvidenceSet)
        All instances of the dataset, each once.
    selections : mapping of str to sequence of int
        Instance id to sentence indices. Repeated indices are dropped. More than the budget: the expected
        recall of as many of them as the budget allows (spec rule 10).
    missing : {"report", "zero"}
        What becomes of an instance without a selection: it is left out of the mean, or scored 0. It is
        named and counted either way.
    denominator : {"all", "coverable"}
        All aspects (the paper's), or those that a sentence covers (the authors' code's).
    seed : int
        Of the bootstrap.

    Returns
    -------
    Score
        An instance without anything to cover is skipped, never scored 0 (spec rule 4).

    Raises
    ------
    SelectionError
        If a selection belongs to no instance of ``gold``, or is not a list of indices of its paper.
    SettingError
        If ``missing`` or ``denominator`` is unknown, or ``gold`` repeats an instance.
    """
    if missing not in ("report", "zero"):
        raise SettingError("missing", f"is {shown(missing)}", "Choices are: report, zero.")
    tally = _Tally(task, denominator)
    for instance_id, evidence in gold:
        tally.add(instance_id, evidence, selections, missing)
    unknown = [instance_id for instance_id in selections if instance_id not in tally.seen]
    if unknown:
        first = ", ".join(map(shown, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        raise SelectionError(
            "selections",
            f"{len(unknown)} of {len(selections)} belong to no instance of the dataset: {first}",
            "Check the ids, and that the dataset is the one that was predicted.",
        )
    return tally.score(seed)


class _Tally:
    """Gathers what the means are made of, one instance after the other."""

    def __init__(self, task: Task, denominator: Denominator) -> None:
        self.task, self.denominator = task, denominator
        self.seen: set[str] = set()
        self.skipped: dict[str, str] = {}
        self.missing: list[str] = []
        self.n_empty = 0
        self.recalls: dict[str, float] = {}
        self.ceilings: list[float] = []
        self.expectations: list[float] = []

    def add(
        self, instance_id: str, evidence: EvidenceSet, selections: Mapping[str, object], missing: Missing
    ) -> None:
        if instance_id in self.seen:
            raise SettingError("gold", f"repeats instance {shown(instance_id)}", "Give every instance once.")
        self.seen.add(instance_id)
        picks: tuple[int, ...] | None = None
        if instance_id in selections:
            picks = validated_selection(selections[instance_id], evidence.n_sentences, instance_id)
        covers, budget = evidence.covers(self.task.focus), self.task.budget_for(evidence)
        top = self._ceiling(covers, budget, evidence)
        if top is None:
            self.skipped[instance_id] = self._reason(covers)
            return
        if picks is None:
            self.missing.append(instance_id)
            if missing == "report":
                return
        elif not picks:
            self.n_empty += 1
        recall = expected_recall(picks or (), covers, budget, self.denominator)
        expectation = random_expectation(evidence.n_sentences, covers, budget, self.denominator)
        self.recalls[instance_id] = 0.0 if recall is None else recall
        self.ceilings.append(top)
        if expectation is not None:
            self.expectations.append(expectation)

    def _ceiling(
        self, covers: tuple[frozenset[int], ...], budget: int | None, evidence: EvidenceSet
    ) -> float | None:
        """The ceiling, without the solver where the optimal number of sentences is within the budget."""
        optimal = evidence.optimal_for(self.task.focus)
        within = budget is None or (optimal is not None and optimal <= budget)
        return ceiling(covers, None if within else budget, self.denominator)

    def _reason(self, covers: tuple[frozenset[int], ...]) -> str:
        if covers:
            return "no sentence covers any of its aspects"
        return "it has no result aspects" if self.task.focus == "results" else "it has no aspects"

    def score(self, seed: int) -> Score:

        values = np.fromiter(self.recalls.values(), dtype=np.float64, count=len(self.recalls))
        return Score(
            task=self.task,
            n_scored=len(self.recalls),
            n_skipped=len(self.skipped),
            n_missing=len(self.missing),
            n_empty=self.n_empty,
            skipped=MappingProxyType(self.skipped),
            missing=tuple(self.missing),
            aspect_recall=_mean(values),
            standard_error=standard_error(values),
            ci95=bootstrap_interval(values, np.random.default_rng(seed)),
            ceiling=_mean(self.ceilings),
            random_expectation=_mean(self.expectations),
            per_instance=MappingProxyType(self.recalls),
            denominator=self.denominator,
        )


def _mean(values: Sequence[float] | Any) -> float | None:
    from math import fsum

    return fsum(values) / len(values) if len(values) else None
