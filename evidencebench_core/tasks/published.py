"""The figures of the EvidenceBench paper, to set beside one's own."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


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
