"""Selections in, `Score` out: the mean Aspect Recall with all that is needed to read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.metrics import ceiling_range, expected_recall, random_expectation
from evidencebench_core.stats import Estimate, interval, standard_error
from evidencebench_core.tasks.selection import validated_selection
from evidencebench_core.words import quantity, range_text

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.tasks.task import Task


Missing = Literal["report", "zero"]


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a set of selections on a task. Recalls are shares, 0 to 1.

    Attributes
    ----------
    n_scored, n_skipped, n_missing, n_empty : int
        Instances behind the mean; without anything to cover; without a selection; with a selection of
        no sentence (these are scored 0).
    skipped : mapping of str to str
        Instance id to reason.
    missing : tuple of str
        Ids of the instances without a selection. They are left out, or with ``missing="zero"`` scored 0.
    aspect_recall, standard_error : float or None
        Of the unweighted mean over the scored instances.
    ci95 : (low, high) or None
        Percentile bootstrap interval, papers drawn whole; ``None`` for fewer than two.
    ceiling_range : (low, high) or None
        Mean over the same instances of the best recall that is possible within the budget: at least and at
        most. They differ only where the best selection of an instance takes too long to find.
    random_expectation : float or None
        Mean over the same instances of the expected recall of as many sentences drawn at random;
        ``None`` where the task has no limit.
    per_instance : mapping of str to float
        Aspect Recall of every scored instance, in the order of the dataset.
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
    sufficient: bool = False

    @property
    def estimate(self) -> Estimate:
        """The mean with its interval."""
        low, high = self.ci95 or (None, None)
        return Estimate(self.aspect_recall, low, high, self.n_scored)

    @property
    def ceiling(self) -> float | None:
        """The ceiling where it is one number."""
        low, high = self.ceiling_range or (None, None)
        return low if low == high else None

    @property
    def ceiling_text(self) -> str:
        """``99.8%``, or ``at least 84.1%, at most 91.0%``; empty without any."""
        return "" if self.ceiling_range is None else range_text(*self.ceiling_range)

    @property
    def notes(self) -> list[str]:
        """Which instances were left out and why, a line a reason."""
        by_reason: dict[str, list[str]] = {}
        for instance_id, reason in self.skipped.items():
            by_reason.setdefault(f"skipped, {reason}", []).append(instance_id)
        if self.missing:
            treatment = (
                "scored 0" if set(self.missing) <= self.per_instance.keys() else "left out of the mean"
            )
            by_reason[f"without an answer, {treatment}"] = list(self.missing)
        lines = []
        for reason, ids in by_reason.items():
            more = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
            lines.append(
                f"{self.task.title}: {quantity(len(ids), 'instance')} {reason}: {', '.join(ids[:5])}{more}"
            )
        if self.n_empty:
            lines.append(f"{self.task.title}: {quantity(self.n_empty, 'empty selection')}, scored 0")
        return lines

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
        rows += [(name, float("nan"), reason) for name, reason in left_out.items()]
        return pd.DataFrame(rows, columns=["instance", "aspect_recall", "left_out"])


def score(
    task: Task,
    gold: Iterable[tuple[str, EvidenceSet]],
    selections: Mapping[str, Sequence[int]],
    *,
    missing: Missing = "report",
    papers: Mapping[str, str] | None = None,
    sufficient: bool = False,
) -> Score:
    """Score selections on a task.

    Parameters
    ----------
    task : Task
    gold : iterable of (instance id, EvidenceSet)
        All instances of the dataset, each once.
    selections : mapping of str to sequence of int
        Instance id to sentence indices. Repeated indices are dropped. More than the budget: the expected
        recall of as many of them as the budget allows.
    missing : {"report", "zero"}
        What becomes of an instance without a selection: it is left out of the mean, or scored 0. It is
        named and counted either way.
    papers : mapping of str to str, optional
        Instance id to paper id: instances of one paper are drawn together. Each is alone where not given.

    Returns
    -------
    Score
        An instance without anything to cover is skipped, never scored 0.

    Raises
    ------
    SelectionError
        If a selection belongs to no instance of ``gold``, or is not a list of indices of its paper.
    SettingError
        If ``missing`` is unknown, or ``gold`` repeats an instance.
    """
    if missing not in ("report", "zero"):
        raise SettingError("missing", f"is {shown(missing)}", "Choices are: report, zero.")
    instances = set[str]()
    skipped, recalls = dict[str, str](), dict[str, float]()
    unanswered: list[str] = []
    ceilings: list[tuple[float, float]] = []
    expectations: list[float | None] = []
    n_empty = 0
    for name, evidence in gold:
        if name in instances:
            raise SettingError("gold", f"repeats instance {shown(name)}", "Give every instance once.")
        instances.add(name)
        picks = None
        if name in selections:
            picks = validated_selection(selections[name], evidence.n_sentences, name)
        covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
        if not covers:
            skipped[name] = task.skip_reason(False)
            continue
        if picks is None:
            unanswered.append(name)
            if missing == "report":
                continue
        recalls[name] = expected_recall(picks or (), covers, budget) or 0.0
        n_empty += picks == ()
        ceilings.append(_ceiling(covers, budget, evidence.optimal_for(task.focus)))
        expectations.append(random_expectation(evidence.n_sentences, covers, budget))
    _check_known(selections, instances)
    mean = interval(list(recalls.values()), None if papers is None else [papers[name] for name in recalls])
    known = [expectation for expectation in expectations if expectation is not None]
    return Score(
        task=task,
        n_scored=len(recalls),
        n_skipped=len(skipped),
        n_missing=len(unanswered),
        n_empty=n_empty,
        skipped=MappingProxyType(skipped),
        missing=tuple(unanswered),
        aspect_recall=_mean(list(recalls.values())),
        standard_error=standard_error(list(recalls.values())),
        ci95=None if mean.low is None or mean.high is None else (mean.low, mean.high),
        ceiling_range=_mean_range(ceilings),
        random_expectation=_mean(known),
        per_instance=MappingProxyType(recalls),
        sufficient=sufficient,
    )


def _ceiling(
    covers: Sequence[frozenset[int]], budget: int | None, optimal: int | None
) -> tuple[float, float]:
    """The solver is not asked where the optimal number of sentences is within the budget."""
    if budget is not None and optimal is not None and optimal <= budget:
        budget = None
    return ceiling_range(covers, budget) or (0.0, 0.0)


def _mean_range(ranges: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    if not ranges:
        return None
    return fsum(low for low, _ in ranges) / len(ranges), fsum(high for _, high in ranges) / len(ranges)


def _check_known(selections: Collection[str], instances: Collection[str]) -> None:
    unknown = [name for name in selections if name not in instances]
    if unknown:
        first = ", ".join(map(shown, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        raise SelectionError(
            "selections",
            f"{len(unknown)} of {len(selections)} belong to no instance of the dataset: {first}",
            "Check the ids, and that the dataset is the one that was predicted.",
        )


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
