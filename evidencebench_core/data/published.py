"""The figures of the EvidenceBench paper, to set beside one's own.

They stand on other instances than a store usually has: the paper's test set (293 instances, 288
of them with result aspects), or a sample of the test set of EvidenceBench-100k. Say so wherever
they are shown. Source: the tables and appendices of the paper that each row names.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """One figure of the paper."""

    dataset: str  # "evidencebench-test" or "evidencebench-100k-test-sample"
    task: str  # as on the command line, "er@optimal"
    system: str
    kind: str  # "llm", "embedding", "lexical" or "bound"
    strategy: str  # how it was asked, or "best reported"
    aspect_recall: float  # 0 to 1 (the paper prints percent)
    standard_error: float | None  # the same, where the paper gives it
    source: str  # table, section or appendix of the paper


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """All figures, in the order of the paper's tables."""
    table = resources.files("evidencebench_core.data").joinpath("published_results.csv")
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        PublishedResult(
            row["dataset"],
            row["task"],
            row["system"],
            row["kind"],
            row["strategy"],
            round(float(row["aspect_recall_percent"]) / 100, 6),
            round(float(error) / 100, 6) if (error := row["standard_error_percent"]) else None,
            row["source"],
        )
        for row in rows
    )
