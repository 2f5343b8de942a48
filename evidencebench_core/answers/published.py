"""The figures of the BioACE paper (arXiv 2602.04982), to be shown apart: they stand on data that is not public."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from evidencebench_core.errors import UnknownNameError, shown

ALWAYS: Final = (
    "A judge that always says attributable: precision 70.53, recall 100, F1 82.72 over the 9,202 valid assessments of"
    " MedAESQA: above every F1 of tables 4, 5, 8, 10 and 11.",
    "A judge that always says required: accuracy 80.48, weighted F1 71.78 over its 4,918 judged sentences: no row of"
    " table 2 reaches that accuracy.",
    "Table 3: its positives are excerpts that people chose, its negatives windows found by the question, so form can"
    " give them away. A judge that always says the same gives precision p/2, recall 50, F1 p/(1+p) there, with p near"
    " 0.5: fine-tuned Llama-3.3-70B's 24.87, 50.01, 33.22 is that for p = 0.497.",
    "Table 6: the two recalls by people agree to rho 0.965, and the mere number of a system's required or borderline"
    " sentences gives rho 0.966 (SimCSE) and 0.931 (ST), more than nugget recall.",
    "None of these figures can be computed from the data that is public.",
)
"""Notes that must stand beside the figures (spec rules 40, 42 and 52)."""


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """One figure as it is printed, in the words of the paper's tables; ``value`` is text: ``"-"`` where it has none."""

    table: str
    component: str
    method: str
    metric: str
    setting: str
    value: str
    note: str


@cache
def _figures() -> tuple[PublishedFigure, ...]:
    with (
        resources.files("evidencebench_core.answers").joinpath("published.csv").open(encoding="utf-8") as file
    ):
        return tuple(PublishedFigure(**row) for row in csv.DictReader(file))


def published_figures(table: str | None = None) -> tuple[PublishedFigure, ...]:
    """All figures, or those of one table, in the order of the paper."""
    tables = dict.fromkeys(one.table for one in _figures())
    if table is not None and table not in tables:
        remedy = f"There are: {', '.join(tables)}."
        raise UnknownNameError(f"table {shown(table)}", "is not among the published figures", remedy)
    return tuple(one for one in _figures() if table in (None, one.table))
