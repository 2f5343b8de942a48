"""Selections in, `Score` out: the mean Aspect Recall with all that is needed to read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.metrics import MEASURES, ceiling_range, random_expectation
from evidencebench_core.stats import FEW_PAPERS, Estimate, interval_note, ratios, standard_error
from evidencebench_core.tasks.selection import validated_selection
from evidencebench_core.tasks.task import Task, task_named
from evidencebench_core.words import quantity, range_text

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet

Missing = Literal["report", "zero"]


@dataclass(frozen=True, slots=True, repr=False)
class Score:
    """The score of a set of selections on a task. Recalls are shares, 0 to 1.

    Attributes
    ----------
    n_scored, n_skipped, n_missing, n_empty, n_over_budget, n_papers : int
        Instances behind the mean; without anything to cover; without a selection; with a selection of no sentence
        (scored 0), or of more than the budget (scored by expectation). Papers behind the mean.
    skipped : mapping of str to str
        Instance id to reason.
    missing : tuple of str
        Ids of the instances without a selection: left out, or with ``missing="zero"`` scored 0.
    aspect_recall, standard_error : float or None
        Of the unweighted mean over the scored instances.
    ci95 : (low, high) or None
        95% interval by paper, as `stats.interval` has it: Student's t for fewer than 40 papers and for more than 500,
        percentile bootstrap between; ``None`` for fewer than two, and where all recalls are alike.
    ceiling_range : (low, high) or None
        Mean of the best recall that is possible within the budget, at least and at most: they differ only where the
        best selection of an instance takes too long to find.
    random_expectation : float or None
        Mean of the expected recall of as many random sentences; ``None`` where the task has no limit.
    per_instance : mapping of str to float
        Aspect Recall of every scored instance, in the order of the dataset.
    measures : mapping of str to Estimate
        All of `MEASURES` by name, each over the instances where it is defined.
    sufficient : bool
        Whether the gold is sufficient, not complete: the mean is a lower bound then.
    """

    task: Task
    n_scored: int
    n_skipped: int
    n_missing: int
    n_empty: int
    n_over_budget: int
    n_papers: int
    skipped: Mapping[str, str]
    missing: tuple[str, ...]
    aspect_recall: float | None
    standard_error: float | None
    ci95: tuple[float, float] | None
    ceiling_range: tuple[float, float] | None
    random_expectation: float | None
    per_instance: Mapping[str, float]
    measures: Mapping[str, Estimate]
    sufficient: bool = False

    def __repr__(self) -> str:
        return f"Score({self.task.title}: {self.estimate.text()}, n={self.n_scored})"

    def _repr_html_(self) -> str:
        """One row, for notebooks."""
        import pandas as pd

        row = {"Task": self.task.title}
        for measure in MEASURES:
            estimate = self.measures[measure.name]
            row[measure.title] = estimate.text() if measure.is_share else estimate.text(scale=1, unit="")
        row |= {"Ceiling": self.ceiling_text, "Random": Estimate(self.random_expectation).text()}
        return str(pd.DataFrame([row | {"n": f"{self.n_scored:,}"}]).to_html(index=False, border=0))

    @property
    def estimate(self) -> Estimate:
        """The mean with its interval."""
        return self.measures["aspect_recall"]

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
        """What to know beside the mean: what was left out and why, what was scored otherwise, few papers."""
        is_zero = set(self.missing) <= self.per_instance.keys()
        reasons = {name: f"skipped, {reason}" for name, reason in self.skipped.items()}
        reasons |= dict.fromkeys(
            self.missing, f"without an answer, {'scored 0' if is_zero else 'left out of the mean'}"
        )
        lines = []
        for reason in dict.fromkeys(reasons.values()):
            names = [name for name in reasons if reasons[name] == reason]
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            lines.append(f"{quantity(len(names), 'instance')} {reason}: {', '.join(names[:5])}{more}")
        if self.n_empty:
            lines.append(f"{quantity(self.n_empty, 'empty selection')}, scored 0")
        if self.n_over_budget:
            k = "K" if self.task.budget == "optimal" else self.task.budget
            over = (
                f"{quantity(self.n_over_budget, 'selection')} {'has' if self.n_over_budget == 1 else 'have'}"
            )
            scored = f"scored by the expected recall of {k} of them drawn at random"
            lines.append(
                f"{over} more than {k} sentences: {scored}; a ranking is imported as TREC or as scores"
            )
        few = [interval_note(self.n_papers)] if 0 < self.n_papers < FEW_PAPERS else []
        return [f"{self.task.title}: {line}" for line in lines] + few

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values; the keys are a contract of the command line, ``sufficient_gold`` where it is true."""
        names = (
            *("n_scored", "n_skipped", "n_missing", "n_empty", "n_over_budget", "n_papers"),
            *("aspect_recall", "standard_error", "ceiling", "random_expectation"),
        )
        return {
            "task": self.task.name,
            **{name: getattr(self, name) for name in names},
            "ci95": None if self.ci95 is None else list(self.ci95),
            "ceiling_range": None if self.ceiling_range is None else list(self.ceiling_range),
            "measures": {name: estimate.as_dict() for name, estimate in self.measures.items()},
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
    task: Task | str,
    gold: Iterable[tuple[str, EvidenceSet]],
    selections: Mapping[str, Sequence[int]],
    *,
    missing: Missing = "report",
    papers: Mapping[str, str] | None = None,
    sufficient: bool = False,
) -> Score:
    """Score selections on a task; an instance without anything to cover is skipped, never scored 0.

    Parameters
    ----------
    task : Task or str
        A name as `task_named` takes it.
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

    Raises
    ------
    SelectionError
        If a selection belongs to no instance of ``gold``, or is not a list of indices of its paper.
    SettingError
        If ``task`` or ``missing`` is unknown, or ``gold`` repeats an instance.
    """
    task = task_named(task)
    if missing not in ("report", "zero"):
        raise SettingError("missing", f"is {shown(missing)}", "Choices are: report, zero.")
    instances = set[str]()
    skipped, recalls = dict[str, str](), dict[str, float]()
    unanswered: list[str] = []
    ceilings: list[tuple[float, float]] = []
    expectations: list[float] = []
    figures: list[list[float | None]] = []  # a row an instance, a column a measure
    n_empty = n_over_budget = 0
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
        figures.append([measure.function(picks or (), covers, budget) for measure in MEASURES])
        recalls[name] = figures[-1][0] or 0.0
        n_empty += picks == ()
        n_over_budget += budget is not None and len(picks or ()) > budget
        optimal = evidence.optimal_for(task.focus)
        needs_solver = budget is None or optimal is None or optimal > budget
        ceilings.append(ceiling_range(covers, budget if needs_solver else None) or (0.0, 0.0))
        if budget is not None:
            expectations.append(random_expectation(evidence.n_sentences, covers, budget) or 0.0)
    _check_known(selections, instances)
    clusters = [name if papers is None else papers[name] for name in recalls]
    values = np.array(figures, dtype=float).reshape(-1, len(MEASURES))
    estimates = ratios(np.nan_to_num(values), ~np.isnan(values), clusters)
    mean = estimates[0]
    return Score(
        task=task,
        n_scored=len(recalls),
        n_skipped=len(skipped),
        n_missing=len(unanswered),
        n_empty=n_empty,
        n_over_budget=n_over_budget,
        n_papers=len(set(clusters)),
        skipped=MappingProxyType(skipped),
        missing=tuple(unanswered),
        aspect_recall=mean.value,
        standard_error=standard_error(list(recalls.values())),
        ci95=None if mean.low is None or mean.high is None else (mean.low, mean.high),
        ceiling_range=(fmean(low for low, _ in ceilings), fmean(high for _, high in ceilings))
        if ceilings
        else None,
        random_expectation=fmean(expectations) if expectations else None,
        per_instance=MappingProxyType(recalls),
        measures=MappingProxyType({row.name: value for row, value in zip(MEASURES, estimates, strict=True)}),
        sufficient=sufficient,
    )


def _check_known(selections: Collection[str], instances: Collection[str]) -> None:
    unknown = [name for name in selections if name not in instances]
    if unknown:
        first = ", ".join(map(shown, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        raise SelectionError(
            "selections",
            f"{len(unknown)} of {len(selections)} belong to no instance of the dataset: {first}",
            "Check the ids, and that the dataset is the one that was predicted.",
        )
