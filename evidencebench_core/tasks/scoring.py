"""Selections in, `Score` out: the mean Aspect Recall with all that is needed to read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

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
    """The score of a set of selections on a task. Recalls are shares, 0 to 1.

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
    seen = set[str]()
    skipped: dict[str, str] = {}
    left_out: list[str] = []
    n_empty = 0
    recalls: dict[str, float] = {}
    ceilings: list[float] = []
    expectations: list[float] = []
    for name, evidence in gold:
        if name in seen:
            raise SettingError("gold", f"repeats instance {shown(name)}", "Give every instance once.")
        seen.add(name)
        picks: tuple[int, ...] = ()
        if name in selections:
            picks = validated_selection(selections[name], evidence.n_sentences, name)
        covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
        # The solver is not asked where the optimal number of sentences is within the budget.
        optimal = evidence.optimal_for(task.focus)
        within = budget is None or (optimal is not None and optimal <= budget)
        top = ceiling(covers, None if within else budget, denominator)
        if top is None:
            skipped[name] = task.skip_reason(bool(covers))
            continue
        if name not in selections:
            left_out.append(name)
            if missing == "report":
                continue
        elif not picks:
            n_empty += 1
        recalls[name] = expected_recall(picks, covers, budget, denominator) or 0.0
        ceilings.append(top)
        expectation = random_expectation(evidence.n_sentences, covers, budget, denominator)
        if expectation is not None:
            expectations.append(expectation)
    _check_known(selections, seen)
    values = np.fromiter(recalls.values(), dtype=np.float64, count=len(recalls))
    return Score(
        task=task,
        n_scored=len(recalls),
        n_skipped=len(skipped),
        n_missing=len(left_out),
        n_empty=n_empty,
        skipped=MappingProxyType(skipped),
        missing=tuple(left_out),
        aspect_recall=_mean(values),
        standard_error=standard_error(values),
        ci95=bootstrap_interval(values, np.random.default_rng(seed)),
        ceiling=_mean(ceilings),
        random_expectation=_mean(expectations),
        per_instance=MappingProxyType(recalls),
        denominator=denominator,
    )


def _check_known(selections: Collection[str], gold: Collection[str]) -> None:
    unknown = [name for name in selections if name not in gold]
    if unknown:
        first = ", ".join(map(shown, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        raise SelectionError(
            "selections",
            f"{len(unknown)} of {len(selections)} belong to no instance of the dataset: {first}",
            "Check the ids, and that the dataset is the one that was predicted.",
        )


def _mean(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    return fsum(values) / len(values) if len(values) else None
