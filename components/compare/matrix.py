"""All systems at once: their means, the matrix of differences, every pair in figures."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, TableEvent, table
from evidencebench_core.analyses import Report

__all__ = ["draw_matrix", "draw_pairs", "points"]

_ALPHA: Final = 0.05
_WIDE: Final = 7  # systems, up to which a matrix has room for intervals


def points(share: float, low: float, high: float, mark: str = "") -> str:
    """``+13.8 (7.4 to 20.4)``: a difference of shares in points with its interval."""
    text = f"{_rounded(share):+.1f}{mark}"
    return f"{text} ({_rounded(low):.1f} to {_rounded(high):.1f})" if low == low else text  # noqa: PLR0124 - NaN


def _rounded(share: float) -> float:
    return round(100 * share, 1) + 0.0  # no minus before a 0


def draw_matrix(report: Report) -> None:
    """A row and a column a system, best first; a cell is row minus column."""
    systems = report.tables["systems"].sort_values("recall", ascending=False, kind="stable")
    narrow = len(systems) > _WIDE
    cells = _cells(report.tables["pairs"], narrow)
    keys = list(systems["system"])
    columns = [
        Column("system", "System"),
        Column("recall", "Aspect Recall (95% interval)", "interval", "Mean over the instances all have"),
        *(
            Column(f"against-{place}", f"minus {label}", help="Row minus column, points")
            for place, label in enumerate(systems["label"])
        ),
    ]
    rows = [
        Row(
            row["system"],
            (
                row["label"],
                Interval(row["recall"], _known(row["low"]), _known(row["high"])),
                *(cells.get((row["system"], other)) for other in keys),
            ),
            muted=True,
        )
        for row in systems.to_dict("records")
    ]
    table(columns, rows, key="matrix", action="none", caption="Differences of all pairs, row minus column")
    where = "their intervals stand with every pair below" if narrow else "with 95% intervals"
    st.caption(
        f"n = {int(systems['n'].iloc[0]):,} instances. Differences in points, row minus column, {where}. "
        f"ns: p above {_ALPHA} after Holm's correction for all {len(report.tables['pairs']):,} pairs."
    )


def _cells(pairs: pd.DataFrame, narrow: bool) -> dict[tuple[str, str], str]:
    """By row and column the difference; in a narrow matrix without its interval."""
    found = {}
    for row in pairs.to_dict("records"):
        mark = "" if row["p_holm"] <= _ALPHA else " ns"
        low, high = (float("nan"),) * 2 if narrow else (row["low"], row["high"])
        found[row["a"], row["b"]] = points(row["difference"], low, high, mark)
        found[row["b"], row["a"]] = points(-row["difference"], -high, -low, mark)
    return found


def draw_pairs(state: PageState, report: Report, chosen: tuple[str, str]) -> None:
    """Every pair in figures; a click takes it as A and B."""
    pairs = report.tables["pairs"].sort_values("p_holm", kind="stable")
    rows = {f"{row['a']} {row['b']}": row for row in pairs.to_dict("records")}
    known = {name: (row["a"], row["b"]) for name, row in rows.items()}

    def heard(event: TableEvent) -> None:
        if event.kind == "tick" and event.value in known:
            state.put(a=known[event.value][0], b=known[event.value][1])

    table(
        (
            Column("a", "A"),
            Column("b", "B"),
            Column("difference", "A − B, points (95%)"),
            Column("p", "p", "number", "Two-sided paired randomisation, for this pair alone", digits=4),
            Column("holm", "p, Holm", "number", "Corrected for all pairs: the one to judge by", digits=4),
            Column(
                "effect", "d_z", "number", "Mean difference / standard deviation of the differences", digits=2
            ),
            Column("wins", "Wins / ties / losses", help="Instances on which A is above, level, below"),
            Column(
                "detectable",
                "Detectable, points",
                "number",
                "A true difference of this size would be found in 80% of such samples (5%, two-sided)",
                digits=1,
            ),
        ),
        [_pair_row(name, row) for name, row in rows.items()],
        key="pairs",
        action="tick",
        chosen=[name for name, pair in known.items() if set(pair) == set(chosen)],
        on_event=heard,
        caption="Every pair of systems; a click looks at it closely",
        height=420,
    )
    n = int(pairs["n"].iloc[0])
    st.caption(f"n = {n:,} instances in every pair. A click looks at a pair closely, below.")
    with st.expander("What this stands on"):
        for note in report.notes:
            st.markdown(f"- {literal(note)}")


def _pair_row(name: str, row: Mapping[Hashable, Any]) -> Row:
    return Row(
        name,
        (
            row["label_a"],
            row["label_b"],
            points(row["difference"], row["low"], row["high"]),
            _known(row["p"]),
            _known(row["p_holm"]),
            _known(row["effect"]),
            f"{row['wins']:,} / {row['ties']:,} / {row['losses']:,}",
            None if pd.isna(row["smallest_detectable"]) else 100 * row["smallest_detectable"],
        ),
    )


def _known(value: float) -> float | None:
    return float(value) if value == value else None  # noqa: PLR0124 - NaN
