"""One sentence for each figure of *Lost in the middle*, made from its numbers: no more than the interval says.

A difference is called one only where its 95% interval, as it is printed, leaves out 0, and where the groups are
not too small for an interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evidencebench_core.analyses.ends import EndsSplit
from evidencebench_core.stats import bootstrap_interval
from evidencebench_core.words import enumerated, quantity


def coverage_shares(instances: pd.DataFrame, *, n_resamples: int = 10_000) -> pd.DataFrame:
    """How many instances of a `group_frame` are in the groups ``above`` and ``below``.

    Returns
    -------
    DataFrame
        ``group``, ``n``, ``n_all`` (with aspects), ``share`` of those, 0 to 1 (``low``, ``high``: 95%, papers
        being drawn; NaN for fewer than two papers).
    """
    known = instances[instances["group"].notna()]
    rows = []
    for group in ("above", "below"):
        members = (known["group"] == group).to_numpy(float)
        interval = bootstrap_interval(
            members, np.random.default_rng(0), n_resamples, clusters=known["paper"].to_numpy(str)
        )
        low, high = interval or (np.nan, np.nan)
        n = int(members.sum())
        share = n / len(known) if len(known) else np.nan
        rows.append({"group": group, "n": n, "n_all": len(known), "share": share, "low": low, "high": high})
    return pd.DataFrame(rows)


def middle_conclusion(frame: pd.DataFrame) -> str:
    """The conclusion of the rows of one stand in the table *middle* of `position_report`; empty without any."""
    if frame.empty:
        return ""
    rows = frame.to_dict("records")
    first: Mapping[Any, Any] = rows[0]
    where = f"In the middle of papers ({100 * first['from']:.0f} to {100 * first['to']:.0f}%), compared with elsewhere"
    papers = quantity(int(first["n_papers"]), "paper")
    counts = [f"n = {row['n_middle']:,} and {row['n_rest']:,} aspects of {papers}" for row in rows]
    return _sentence(where, rows, counts)


def opportunity_conclusion(opportunity: pd.DataFrame) -> str:
    """Where aspects can be found, by the table of `position_report`: at the start, and in the middle bucket."""
    n_aspects = int(opportunity["n_aspects"].iloc[0])
    if not n_aspects:
        return "No aspect stands anywhere here."
    places = dict.fromkeys((0, len(opportunity) // 2))
    clauses = [
        f"{100 * row['can']:.1f}% ({_interval(row['can_low'], row['can_high'])}) can be found in "
        f"{100 * row['from']:.0f} to {100 * row['to']:.0f}%"
        for row in opportunity.iloc[list(places)].to_dict("records")
    ]
    return f"Of {quantity(n_aspects, 'aspect')}, {' and '.join(clauses)} of the paper."


def coverage_conclusion(shares: pd.DataFrame, split: EndsSplit) -> str:
    """How often the ends cover much and little, by `coverage_shares`."""
    n = int(shares["n_all"].iloc[0])
    if not n:
        return "No instance has an aspect."
    above, below = (
        f"{row['n']:,} ({100 * row['share']:.1f}%, {_interval(row['low'], row['high'])})"
        for row in shares.to_dict("records")
    )
    return (
        f"Of {quantity(n, 'instance')}, {above} have over {100 * split.above:g}% of their aspects covered by the first "
        f"{split.head} and last {split.tail} sentences, and {below} under {100 * split.below:g}%."
    )


def ends_conclusion(difference: pd.DataFrame) -> str:
    """The conclusion of the table *difference* of `ends`."""
    rows = difference.to_dict("records")
    counts = [f"n = {row['n_above']:,} and {row['n_below']:,} instances" for row in rows]
    return _sentence("Where the ends cover much, compared with where they cover little", rows, counts)


def _sentence(head: str, rows: Sequence[Mapping[Any, Any]], counts: Sequence[str], prefix: str = "") -> str:
    """The differences that can be told, then the others by why not; counts that all share come last, once."""
    shared = len(set(counts)) == 1
    of_kind: dict[str, list[str]] = {"": []}
    for row, count in zip(rows, counts, strict=True):
        kind, said = _said(row, "" if shared else f", {count}", prefix)
        of_kind.setdefault(kind, []).append(said)
    clauses = of_kind.pop("") + [f"{kind} {enumerated(said)}" for kind, said in of_kind.items()]
    chance = rows[0].get("chance_difference", math.nan)
    if not math.isnan(chance):
        clauses.append(f"random picks would differ by {_points(chance)}")
    return f"{head}: {'; '.join([*clauses, *(counts[:1] if shared else ())])}."


def _said(row: Mapping[Any, Any], count: str, prefix: str) -> tuple[str, str]:
    """Why a difference cannot be told, empty where it can, and what is to be said of it."""
    label, low, high = row["label"], row[f"{prefix}low"], row[f"{prefix}high"]
    if math.isnan(row["difference"]):
        return "there is nothing to compare for", f"{label}{f' ({count[2:]})' if count else ''}"
    if math.isnan(low):
        return (
            "there are too few papers to tell a difference for",
            f"{label} ({_points(row['difference'])}{count})",
        )
    said = f"95% interval {_points(low)} to {_points(high)}{count}"
    unsure = f"{label} ({_points(row['difference'])}, {said})"
    if row.get("few"):
        return "a group is too small (under 20 instances) to tell a difference for", unsure
    if float(_points(low)) <= 0 <= float(_points(high)):
        return "no clear difference for", unsure
    size = abs(float(_points(row["difference"])))
    return "", f"{label} finds {size:.1f} points {'more' if low > 0 else 'less'} ({said})"


def _points(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:+.1f}"


def _interval(low: float, high: float) -> str:
    return "no interval" if math.isnan(low) else f"95% interval {100 * low:.1f} to {100 * high:.1f}"
