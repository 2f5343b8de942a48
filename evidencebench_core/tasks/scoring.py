"""Selections in, `Score` out: the mean Aspect Recall with all that is needed to read it, and the paper's figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from numbers import Integral
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.metrics import MEASURES, ceiling_range, random_expectation
from evidencebench_core.notebook import table_html
from evidencebench_core.stats import FEW_PAPERS, Estimate, interval_note, ratios, standard_error
from evidencebench_core.tasks.task import Task, task_named
from evidencebench_core.words import quantity, range_text

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet

Missing = Literal["report", "zero"]


@dataclass(frozen=True, slots=True, repr=False)
class Score:
    """The score of a set of selections on a task. Recalls are shares, 0 to 1."""

    task: Task
    n_scored: int  # instances behind the mean
    n_skipped: int  # without anything to cover
    n_missing: int  # without a selection
    n_empty: int  # with a selection of no sentence: scored 0
    n_over_budget: int  # with a selection of more than the budget: scored by expectation
    n_papers: int  # behind the mean
    skipped: Mapping[str, str]  # instance id to reason
    missing: tuple[str, ...]  # ids: left out, or with ``missing="zero"`` scored 0
    aspect_recall: float | None  # unweighted mean over the scored instances
    standard_error: float | None
    ci95: tuple[float, float] | None  # papers drawn whole, as `stats.ratios` says; None where that has none
    ceiling_range: tuple[float, float] | None  # mean of the best within the budget, at least and at most
    random_expectation: float | None  # of as many random sentences; None where the task has no limit
    per_instance: Mapping[str, float]  # Aspect Recall of every scored instance, in the order of the dataset
    measures: Mapping[str, Estimate]  # all of `MEASURES` by name, each over the instances where it is defined
    sufficient: bool = False  # whether the gold is sufficient, not complete: the mean is a lower bound then

    def __repr__(self) -> str:
        return f"Score({self.task.title}: {self.estimate.text()}, n={self.n_scored})"

    def _repr_html_(self) -> str:
        import pandas as pd

        return table_html(pd.DataFrame([self.texts()]))

    def texts(self) -> dict[str, str]:
        """One row for people, by heading."""
        row = {"Task": self.task.title}
        for measure in MEASURES:
            estimate = self.measures[measure.name]
            row[measure.title] = estimate.text() if measure.is_share else estimate.text(scale=1, unit="")
        row |= {"Ceiling": self.ceiling_text, "Random": Estimate(self.random_expectation).text()}
        return row | {"n": f"{self.n_scored:,}"}

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
        """Caveats for the mean: what was left out and why, what was scored differently, few papers."""
        fate = "scored 0" if set(self.missing) <= self.per_instance.keys() else "left out of the mean"
        reasons = {name: f"skipped, {reason}" for name, reason in self.skipped.items()}
        reasons |= dict.fromkeys(self.missing, f"without an answer, {fate}")
        lines = []
        for reason in dict.fromkeys(reasons.values()):
            names = [name for name in reasons if reasons[name] == reason]
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            lines.append(f"{quantity(len(names), 'instance')} {reason}: {', '.join(names[:5])}{more}")
        if self.n_empty:
            lines.append(f"{quantity(self.n_empty, 'empty selection')}, scored 0")
        if self.n_over_budget:
            k = "K" if self.task.budget == "optimal" else self.task.budget
            verb = "has" if self.n_over_budget == 1 else "have"
            lines.append(
                f"{quantity(self.n_over_budget, 'selection')} {verb} more than {k} sentences: scored by the expected "
                f"recall of {k} of them drawn at random; a ranking is imported as TREC or as scores"
            )
        few = [interval_note(self.n_papers)] if 0 < self.n_papers < FEW_PAPERS else []
        return [f"{self.task.title}: {line}" for line in lines] + few

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able values; the keys are a contract of the command line, ``sufficient_gold`` where it is true."""
        names = (
            "n_scored", "n_skipped", "n_missing", "n_empty", "n_over_budget", "n_papers", "aspect_recall",
            "standard_error", "ceiling", "random_expectation",
        )  # fmt: skip
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

    def row(self) -> dict[str, Any]:
        """The figures as a row of a table of scores: shares 0 to 1, a ceiling that is not proven as text."""
        return {
            "task": self.task.title,
            "recall": self.aspect_recall,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "standard_error": self.standard_error,
            **{measure.name: self.measures[measure.name].value for measure in MEASURES[1:]},
            "ceiling": self.ceiling or self.ceiling_text.replace("%", ""),
            "random": self.random_expectation,
            "n_papers": self.n_papers,
            "n": self.n_scored,
            "n_skipped": self.n_skipped,
            "n_missing": self.n_missing,
        }

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
    selections: Mapping[str, Sequence[int]] | Mapping[str, float],
    *,
    missing: Missing = "report",
    papers: Mapping[str, str] | None = None,
    sufficient: bool = False,
) -> Score:
    """Score selections on a task; an instance without anything to cover is skipped, never scored 0.

    ``gold`` has all instances of the dataset, each once. Of ``selections``, by instance id, repeated indices are
    dropped, and of more than the budget the expected recall of as many as it allows counts; instead they may be Aspect
    Recalls that were measured elsewhere. An instance without one is left out of the mean, or with ``missing="zero"``
    scored 0. ``papers`` are paper ids by instance id: instances of one paper are drawn together.

    `SelectionError` for a selection of an unknown instance, or one that is not a list of indices of its paper.
    """
    task = task_named(task)
    if missing not in ("report", "zero"):
        raise SettingError("missing", f"cannot be {shown(missing)}", "Choices are: report, zero.")
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
        answer, picks = selections.get(name), None
        if name in selections and not isinstance(answer, float):
            picks = validated_selection(answer, evidence.n_sentences, name)
        covers, budget = evidence.covers(task.focus), task.budget_for(evidence)
        if not covers:
            skipped[name] = task.skip_reason
            continue
        if name not in selections:
            unanswered.append(name)
            if missing == "report":
                continue
        if isinstance(answer, float):
            figures.append([answer, *[None] * (len(MEASURES) - 1)])
        else:
            figures.append([measure.function(picks or (), covers, budget) for measure in MEASURES])
        recalls[name] = figures[-1][0] or 0.0
        n_empty += picks == ()
        n_over_budget += budget is not None and len(picks or ()) > budget
        optimal = evidence.optimal_for(task.focus)
        needs_solver = budget is None or optimal is None or optimal > budget
        ceilings.append(ceiling_range(covers, budget if needs_solver else None) or (0.0, 0.0))
        if budget is not None:
            expectations.append(random_expectation(evidence.n_sentences, covers, budget) or 0.0)
    if unknown := [name for name in selections if name not in instances]:
        first = ", ".join(map(shown, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        raise SelectionError(
            "selections",
            f"have {len(unknown)} of {len(selections)} ids that no instance of the dataset has: {first}",
            "Check the ids, and that the dataset is the one that was predicted.",
        )
    clusters = [name if papers is None else papers[name] for name in recalls]
    values = np.array(figures, dtype=float).reshape(-1, len(MEASURES))
    estimates = ratios(np.nan_to_num(values), ~np.isnan(values), clusters)
    mean, ceiling = estimates[0], None
    if ceilings:
        ceiling = (fmean(low for low, _ in ceilings), fmean(high for _, high in ceilings))
    return Score(
        task=task,
        n_scored=len(recalls),
        n_skipped=len(skipped),
        n_missing=len(unanswered),
        n_empty=n_empty,
        n_over_budget=n_over_budget,
        n_papers=len(set(clusters)),
        skipped=skipped,
        missing=tuple(unanswered),
        aspect_recall=mean.value,
        standard_error=standard_error(list(recalls.values())),
        ci95=None if mean.low is None or mean.high is None else (mean.low, mean.high),
        ceiling_range=ceiling,
        random_expectation=fmean(expectations) if expectations else None,
        per_instance=recalls,
        measures={measure.name: value for measure, value in zip(MEASURES, estimates, strict=True)},
        sufficient=sufficient,
    )


def validated_selection(picks: object, n_sentences: int, place: str) -> tuple[int, ...]:
    """The picks as sentence indices of a paper of so many, each once (where it came first).

    A list, tuple or numpy array of integers is accepted; ``True``, ``3.0`` and ``"3"`` are not integers here. Anything
    else is a `SelectionError` for this ``place``.
    """
    if hasattr(picks, "tolist"):
        picks = picks.tolist()
    if not isinstance(picks, list | tuple):
        problem = f"has {shown(picks)} for a selection"
        raise SelectionError(place, problem, "Give a list of 0-based sentence indices.")
    for pick in picks:
        if type(pick) is not int and (isinstance(pick, bool) or not isinstance(pick, Integral)):
            problem = f"selects {shown(pick)}, not an integer"
            raise SelectionError(place, problem, "Sentence indices are integers from 0 up.")
        if not 0 <= int(pick) < n_sentences:
            problem = f"selects sentence {pick}, but the paper has {n_sentences} sentences"
            raise SelectionError(place, problem, f"Indices run from 0 to {n_sentences - 1}.")
    return tuple(dict.fromkeys(map(int, picks)))


@cache
def published_results() -> pd.DataFrame:
    """All figures, in the order of the paper's tables, with the table or appendix they stand in as ``source``.

    They stand on other instances than a store usually has: the paper's test set (293 instances, 288 of them with
    result aspects), or a sample of the test set of EvidenceBench-100k. ``aspect_recall`` and ``standard_error``
    (missing where the paper gives none) are shares.
    """
    import pandas as pd

    with resources.files("evidencebench_core.tasks").joinpath("published_results.csv").open("rb") as file:
        frame = pd.read_csv(file)
    for name in ("aspect_recall", "standard_error"):
        frame[name] = frame.pop(f"{name}_percent").div(100).round(6)
    return frame
