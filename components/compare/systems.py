"""All systems at once: choosing them, the matrix of differences, every pair in figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app.page import points, tell_of_gold
from components.app.state import PageState
from components.compare.pair_map import draw_map, map_data, map_width
from components.widgets.chart import is_dark
from components.widgets.frame_table import csv_button, draw_notes, frame_table, intervals
from components.widgets.runs import run_picker
from components.widgets.table import Column, TableEvent
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task
from evidencebench_core.words import WARNING

CHOICE_DEFAULTS: Final = {"runs": "", "a": "", "b": ""}
_MOST: Final = 20
_AT_FIRST: Final = 10
_LARGE: Final = 5_000  # instances, from which on scoring ten runs takes a while
_PAIR: Final = ("a", "b")
_ALPHA: Final = 0.05
_WIDE: Final = 7  # systems, up to which a matrix has room for intervals
_SYSTEM_COLUMNS: Final = (
    Column("name", "System"),
    Column("interval", "Aspect Recall (95% interval)", "interval", "Mean over the instances all have"),
)
_PAIR_COLUMNS: Final = (
    Column("label_a", "A"),
    Column("label_b", "B"),
    Column("points", "A − B, points (95%)"),
    Column("p", "p", "number", "Two-sided paired randomisation, for this pair alone", digits=4),
    Column("p_holm", "p, Holm", "number", "Corrected for all pairs: the one to judge by", digits=4),
    Column(
        "effect", "Effect size", "number", "Mean difference / standard deviation of the differences", digits=2
    ),
    Column("record", "Wins / ties / losses", help="Instances on which A is above, level, below"),
    Column(
        "detectable",
        "Detectable, points",
        "number",
        "A true difference of this size would be found in 80% of such samples (5%, two-sided)",
        digits=1,
    ),
)


def chosen_runs(state: PageState, dataset: DatasetInfo, task: Task) -> tuple[RunInfo, ...]:
    """The runs that the address names, else the first ten that have answers for the task (of many: three)."""
    runs = run_picker(
        state,
        dataset,
        task,
        most=_MOST,
        at_first=_AT_FIRST if dataset.n_instances < _LARGE else 3,
        reset=_PAIR,
        empty="This page sets runs against each other, pair by pair: differences with intervals, corrected "
        "p-values, and the aspects that only one of them found. The Leaderboard starts runs.",
    )
    tell_of_gold(dataset, runs)
    if not runs and st.button("Go to the Leaderboard", type="primary"):
        st.switch_page("pages/leaderboard.py", query_params={"dataset": dataset.name})
    return runs


def chosen_pair(state: PageState, keys: Sequence[str]) -> tuple[str, str]:
    """The two systems to look at closely, A and B, of at least two: those of the address, else the first two."""
    a = state["a"] if state["a"] in keys else keys[0]
    others = [key for key in keys if key != a]
    return a, state["b"] if state["b"] in others else others[0]


def draw_pair_picker(state: PageState, labels: Mapping[str, str], chosen: tuple[str, str]) -> None:
    """Draw the choice of A and B among systems, whose labels are by key."""
    a, b = chosen
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("A", list(labels), format_func=labels.__getitem__, **state.widget("a", a))
        others = [key for key in labels if key != a]
        st.selectbox("B", others, format_func=labels.__getitem__, **state.widget("b", b))


def both_ways(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of a comparison, and each turned round."""
    swapped = {"a": "b", "label_a": "label_b", "low": "high", "wins": "losses"}
    turned = pairs.rename(columns=swapped | {new: old for old, new in swapped.items()})
    signed = ["difference", "low", "high", "effect"]
    return pd.concat([pairs, turned.assign(**{name: -turned[name] for name in signed})], ignore_index=True)


def record(row: Mapping[Any, int]) -> str:
    """Wins, ties and losses of a comparison."""
    return f"{row['wins']:,} / {row['ties']:,} / {row['losses']:,}"


def draw_matrix(state: PageState, report: Report, chosen: tuple[str, str]) -> None:
    """The differences of all pairs as a map, best system first; a click on a square takes its pair as A and B."""
    systems = report.tables["systems"].sort_values("recall", ascending=False, kind="stable")
    pairs, labels = report.tables["pairs"], list(systems["label"])
    keys = list(zip(systems["system"], labels, strict=True))
    squares = map_data(both_ways(pairs), keys, chosen=chosen, alpha=_ALPHA, dark=is_dark())

    def choose(row: int, column: int) -> None:
        state.put(a=keys[row][0], b=keys[column][0])

    with st.container(horizontal=True, vertical_alignment="center", gap="large"):
        with (
            st.container(key="wide-matrix", width="content"),
            st.container(width=map_width(keys)),
        ):
            draw_map(squares, "Differences of all pairs in points, row minus column", choose)
        with st.container(width=480):
            names = [f"{number}. {label}" for number, label in enumerate(labels, start=1)]
            numbered = systems.assign(name=names, interval=intervals(systems, "recall"))
            caption = "Systems by Aspect Recall, with their numbers on the map"
            frame_table(_SYSTEM_COLUMNS, numbered, key="systems", muted=True, action="none", caption=caption)
    seen = any(WARNING in label for label in labels)
    trained = f" {WARNING}: its model has learnt from instances that it is scored on." if seen else ""
    of_papers = pd.notna(systems["n_papers"].iloc[0])
    drawn = "papers (on the Leaderboard: over instances)" if of_papers else "instances"
    st.caption(
        f"n = {int(systems['n'].iloc[0]):,} instances; intervals are over {drawn}. "
        "Aspect Recall in points, row minus column: blue is ahead, orange behind. "
        f"Bold in a frame: p of at most {_ALPHA} after Holm's correction for all {len(pairs):,} pairs. "
        f"Outer frame: the pair below; click a square for another.{trained}"
    )
    with st.container(horizontal=True):
        csv_button("Export the matrix (CSV)", "matrix", lambda: _differences(systems, pairs))
        csv_button("Export every pair (CSV)", "pairs", lambda: pairs)
    with st.expander("The map in figures", on_change="rerun") as fold:
        if fold.open:
            _draw_matrix_table(systems, pairs)


def _draw_matrix_table(systems: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """A row and a column a system; a cell is row minus column."""
    narrow = len(systems) > _WIDE
    cells: dict[tuple[str, str], str] = {}
    for row in both_ways(pairs.assign(low=math.nan, high=math.nan) if narrow else pairs).to_dict("records"):
        cells[row["a"], row["b"]] = points(row, "" if row["p_holm"] <= _ALPHA else " ns")
    frame = systems.copy()
    for place, other in enumerate(systems["system"]):
        frame[f"against-{place}"] = [cells.get((key, other)) for key in systems["system"]]
    columns = [
        Column("label", "System"),
        *(
            Column(f"against-{place}", f"minus {label}", help="Row minus column, points")
            for place, label in enumerate(systems["label"])
        ),
    ]
    caption = "Differences of all pairs, row minus column"
    frame_table(columns, frame, key="matrix", ids="system", muted=True, action="none", caption=caption)
    where = "their intervals stand with every pair below" if narrow else "with 95% intervals"
    st.caption(f"Row minus column, in points, {where}. ns: p above {_ALPHA} after Holm's correction.")


def _differences(systems: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The matrix as numbers: shares, row minus column."""
    cells = both_ways(pairs).pivot(index="a", columns="b", values="difference")
    minus = cells.reindex(systems["system"], columns=systems["system"])
    minus.columns = pd.Index([f"minus {label}" for label in systems["label"]])
    return systems.join(minus, on="system")


def draw_pairs(state: PageState, report: Report, chosen: tuple[str, str]) -> None:
    """Every pair in figures; a click takes it as A and B."""
    pairs = report.tables["pairs"].sort_values("p_holm", kind="stable")
    known = {f"{a} {b}": (a, b) for a, b in zip(pairs["a"], pairs["b"], strict=True)}

    def choose(event: TableEvent) -> None:
        if event.kind == "tick" and event.value in known:
            a, b = known[event.value]
            state.put(a=a, b=b)

    rows = pairs.to_dict("records")
    frame_table(
        _PAIR_COLUMNS,
        pairs.assign(
            id=list(known),
            points=[points(row) for row in rows],
            record=[record(row) for row in rows],
            detectable=100 * pairs["smallest_detectable"],
        ),
        key="pairs",
        ids="id",
        action="tick",
        chosen=[name for name, pair in known.items() if set(pair) == set(chosen)],
        on_event=choose,
        caption="Every pair of systems; a click looks at it closely",
        height=420,
    )
    n = int(pairs["n"].iloc[0])
    st.caption(f"n = {n:,} instances in every pair. A click looks at a pair closely, below.")
    with st.expander("What this stands on"):
        draw_notes(report.notes)
