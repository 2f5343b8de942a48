"""The printed figures of the RAmBLA paper: neighbours of one's own, not targets.

The prompts and the models' dates were others. Intervals are of 1,000 resamples of items; n is never printed; it
is what the construction gives.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One figure of the paper."""

    source: str  # "Table 1", "Section 4"
    task: str  # a name of `RELIABILITY_TASKS`
    variant: str  # order, number of errors, or data set other than PubMedQA; else empty
    figure: str  # "weighted_f1", "bias", "share_of_yes", "null_rate", ...
    model: str
    value: float  # a share, 0 to 1
    ci95: tuple[float, float] | None
    n: int | None
    remark: str  # "misprint 0.87": the upper bound does not fit n, 0.87 would


@cache
def published_figures(task: str | None = None) -> tuple[PublishedFigure, ...]:
    """All figures in the order of the paper, or those of a task."""
    table = resources.files("evidencebench_core.reliability").joinpath("published_figures.csv")
    with table.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if task in (None, row["task"])]
    return tuple(
        PublishedFigure(
            **{name: row[name] for name in ("source", "task", "variant", "figure", "model", "remark")},
            value=float(row["value"]),
            ci95=(float(row["low"]), float(row["high"])) if row["low"] else None,
            n=int(row["n"]) if row["n"] else None,
        )
        for row in rows
    )


def neighbours(task: str) -> tuple[PublishedFigure, ...]:
    """The figures beside the one of a task: of each model and data set that the paper has, with its interval."""
    return tuple(one for one in published_figures(task) if one.source in ("Table 2", "Table 3", "Table 8"))
