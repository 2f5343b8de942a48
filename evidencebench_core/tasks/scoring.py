"""Selections in, `Score` out: the mean Aspect Recall with all that is needed to read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.gold import Gold, Numbers
from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.metrics import Denominator, ceiling_range, expected_recall, random_expectations
from evidencebench_core.metrics.coverage import check_budget, n_counted
from evidencebench_core.stats import bootstrap_interval, standard_error
from evidencebench_core.tasks.selection import validated_selections
from evidencebench_core.words import range_text

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.tasks.task import Task


Missing = Literal["report", "zero"]
_MOST_OPEN: Final = 20  # instances whose ceiling is searched for in vain; after them none is searched for


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
    ceiling_range : (low, high) or None
        Mean over the same instances of the best recall that is possible within the budget: at least and at
        most so much. The two are equal but where the best selection of an instance takes too long to find.
    random_expectation : float or None
        Mean over the same instances of the expected recall of as many sentences drawn at random;
        ``None`` where the task has no limit.
    per_instance : mapping of str to float
        Aspect Recall of every scored instance, in the order of the dataset.
    denominator : {"all", "coverable"}
        Which aspects count.
    sufficient : bool
        Whether the gold is sufficient, not complete: the mean is a lower bound then.
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
    ceiling_range: tuple[float, float] | None
    random_expectation: float | None
    per_instance: Mapping[str, float]
    denominator: Denominator = "all"
    sufficient: bool = False

    @property
    def ceiling(self) -> float | None:
        """The ceiling where it is one number."""
        low, high = self.ceiling_range or (None, None)
        return low if low == high else None

    @property
    def ceiling_text(self) -> str:
        """``99.8%``, or ``at least 84.1%, at most 91.0%``; empty without any."""
        return "" if self.ceiling_range is None else range_text(*self.ceiling_range)

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values; the keys are a contract of the command line, ``sufficient_gold`` where it is true."""
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
            "ceiling_range": None if self.ceiling_range is None else list(self.ceiling_range),
            "random_expectation": self.random_expectation,
            "skipped": dict(self.skipped),
            "missing": list(self.missing),
            "per_instance": dict(self.per_instance),
        } | ({"sufficient_gold": True} if self.sufficient else {})

    def to_pandas(self) -> pd.DataFrame:
        """One row an instance: ``instance``, ``aspect_recall``, and why it is ``left_out``, or ``""``."""
        import pandas as pd  # here: most commands print a score without it

        left_out = {name: f"skipped: {reason}" for name, reason in self.skipped.items()}
        left_out |= {name: "no selection" for name in self.missing if name not in self.per_instance}
        rows = [(name, recall, "") for name, recall in self.per_instance.items()]
        rows += [(name, float("nan"), why) for name, why in left_out.items()]
        return pd.DataFrame(rows, columns=["instance", "aspect_recall", "left_out"])


def score(
    task: Task,
    gold: Gold | Iterable[tuple[str, EvidenceSet]],
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
    gold : Gold, or iterable of (instance id, EvidenceSet)
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
    if isinstance(task.budget, int):
        check_budget(task.budget)
    gold = (gold if isinstance(gold, Gold) else Gold.of(gold)).focused(task.focus)
    rows = {name: row for row, name in enumerate(gold.ids)}
    if len(rows) < len(gold.ids):
        name = next(name for row, name in enumerate(gold.ids) if rows[name] != row)
        raise SettingError("gold", f"repeats instance {shown(name)}", "Give every instance once.")
    picks = validated_selections(selections, gold)
    _check_known(selections, rows)
    of_instance = _counted(gold, denominator)
    answered = np.array([one is not None for one in picks], dtype=bool)
    scored = (of_instance > 0) & (answered | (missing == "zero"))
    recalls = recalls_of(task, gold, picks, denominator)[scored]
    names = np.array(gold.ids, dtype=object)
    n_aspects = gold.per_instance()
    skipped = {
        gold.ids[row]: task.skip_reason(n_aspects[row] > 0) for row in np.flatnonzero(of_instance == 0)
    }
    left_out = tuple(names[(of_instance > 0) & ~answered])
    n_empty = sum(picks[row] == () for row in np.flatnonzero(scored))
    return Score(
        task=task,
        n_scored=recalls.size,
        n_skipped=len(skipped),
        n_missing=len(left_out),
        n_empty=n_empty,
        skipped=MappingProxyType(skipped),
        missing=left_out,
        aspect_recall=_mean(recalls),
        standard_error=standard_error(recalls),
        ci95=bootstrap_interval(recalls, np.random.default_rng(seed)),
        ceiling_range=_ceiling_range(task, gold, scored, denominator),
        random_expectation=_mean(_expectations(task, gold, scored, denominator)),
        per_instance=MappingProxyType(dict(zip(names[scored], recalls.tolist(), strict=True))),
        denominator=denominator,
        sufficient=gold.sufficient,
    )


def recalls_of(
    task: Task, gold: Gold, picks: Sequence[Sequence[int] | None], denominator: Denominator = "all"
) -> NDArray[np.float64]:
    """The `expected_recall` of the picks for each instance of the task's gold; 0 without any, or anything to cover."""
    sizes = np.array([len(one) if one else 0 for one in picks], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(filter(None, picks)), dtype=np.int64, count=int(sizes.sum()))
    found = gold.found(np.repeat(np.arange(sizes.size), sizes), flat)
    recalls: NDArray[np.float64] = gold.per_instance(found) / np.maximum(_counted(gold, denominator), 1)
    budgets = task.budgets_for(gold)
    for row in np.flatnonzero((sizes > budgets) & (budgets >= 0)).tolist():
        recalls[row] = (
            expected_recall(picks[row] or (), gold.covers(row), int(budgets[row]), denominator) or 0.0
        )
    return recalls


def _counted(gold: Gold, denominator: Denominator) -> Numbers:
    """How many aspects stand in each instance's denominator."""
    n_counted((), denominator)  # an error if it is unknown
    return gold.per_instance(None if denominator == "all" else gold.n_covering > 0)


def _ceiling_range(
    task: Task, gold: Gold, scored: NDArray[np.bool_], denominator: Denominator
) -> tuple[float, float] | None:
    n_coverable, budgets, optimal = (
        gold.per_instance(gold.n_covering > 0),
        task.budgets_for(gold),
        gold.optimal_for(task.focus),
    )
    low: NDArray[np.float64] = n_coverable / np.maximum(_counted(gold, denominator), 1)
    high = low.copy()
    # The solver is not asked where the optimal number of sentences is within the budget.
    within = (budgets < 0) | (budgets >= n_coverable) | ((optimal >= 0) & (optimal <= budgets))
    n_open = 0
    for row in np.flatnonzero(scored & ~within).tolist():
        search = n_open < _MOST_OPEN
        low[row], high[row] = ceiling_range(gold.covers(row), int(budgets[row]), denominator, search) or (
            0,
            0,
        )
        n_open += bool(low[row] < high[row])
    if not scored.any():
        return None
    return fsum(low[scored]) / np.count_nonzero(scored), fsum(high[scored]) / np.count_nonzero(scored)


def _expectations(
    task: Task, gold: Gold, scored: NDArray[np.bool_], denominator: Denominator
) -> NDArray[np.float64]:
    """Of the scored instances with a budget."""
    chosen = scored & (task.budgets_for(gold) >= 0)
    if not chosen.any():
        return np.empty(0)
    part = gold.part(chosen, np.ones(gold.instance.size, dtype=bool))
    return random_expectations(
        part.n_sentences,
        task.budgets_for(part),
        _counted(part, denominator),
        part.instance,
        part.n_covering,
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
