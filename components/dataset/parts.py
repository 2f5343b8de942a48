"""Parts of the page Dataset: table 1, distributions, where aspects can be found."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.charts.bars import histogram, share_chart
from components.charts.palette import MARKS, SYSTEMS
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo

__all__ = ["draw_distributions", "draw_overview", "draw_places"]

_OF: Final = {"sentences per aspect": "aspects", "aspects per covering sentence": "sentences"}
_COLUMNS: Final = {  # what Browse can filter by
    "sentences": "n_sentences",
    "aspects": "n_aspects",
    "result aspects": "n_result_aspects",
    "optimal K": "optimal",
}
_PUBLISHED: Final = (  # table 1 of the paper: quantity, n, min, mean, max
    ("tokens", 293, 1691, 5578.0, 23980),
    ("sentences", 293, 48, 168.1, 794),
    ("aspects", 293, 2, 9.5, 36),
    ("result aspects", 288, 1, 4.2, 18),
    ("optimal K", 293, 1, 4.6, 18),
    ("result optimal K", 288, 1, 2.1, 7),
)


def draw_overview(report: Report, dataset: DatasetInfo) -> None:
    """The paper's table 1 for this dataset, and the paper's own figures below."""
    columns = (
        Column("quantity", "Quantity"),
        Column("n", "n", "number", "Instances; aspects or sentences where the quantity is of those"),
        Column("min", "Min", "number"),
        Column("mean", "Mean", "number", digits=1),
        Column("median", "Median", "number", digits=1),
        Column("max", "Max", "number"),
    )
    rows = [
        Row(
            row["quantity"],
            (
                row["quantity"],
                row["n"],
                *(row[name] if row["n"] else None for name in ("min", "mean", "median", "max")),
            ),
            muted=True,
        )
        for row in report.tables["overview"].to_dict("records")
    ]
    table(columns, rows, key=f"overview-{dataset.id}", action="none", caption="What the dataset is made of")
    for note in report.notes:
        st.caption(literal(note))
    with st.expander("Table 1 of the paper: other instances, its test set"):
        table(
            tuple(column for column in columns if column.key != "median"),
            [Row(f"paper {row[0]}", row, muted=True) for row in _PUBLISHED],
            key="published-overview",
            action="none",
            caption="Table 1 of the EvidenceBench paper",
        )
        st.caption("The paper does not name its tokenisation; its tokens are smaller than words.")


def draw_distributions(report: Report, dataset: DatasetInfo, quantity: str) -> None:
    """The histogram of a quantity."""
    frame = report.tables["distributions"]
    of_quantity = frame[frame["quantity"] == quantity]
    if not len(of_quantity):
        st.info("No instance has it.")
        return
    of = _OF.get(quantity, "instances")
    colour = SYSTEMS[0].on(is_dark())
    n = int(of_quantity["n"].sum())
    title = quantity[0].upper() + quantity[1:]
    column = _COLUMNS.get(quantity)
    event = draw_chart(
        histogram(of_quantity, title, of, colour),
        key=f"histogram-{dataset.id}-{quantity}",
        alt=f"Histogram of {quantity} over {n:,} {of}, from {of_quantity['value'].min():,} to "
        f"{of_quantity['value'].max():,}",
        clickable=column is not None,
    )
    st.caption(f"n = {n:,} {of}." + (" Click a bar to browse its instances." if column else ""))
    point = picked_point(event) if column else None
    if point and point.get("customdata"):
        low, _, high = str(_first(point["customdata"])).partition(" to ")
        where = f"{column}:{low}-{high or low}"
        st.switch_page("pages/browse.py", query_params={"dataset": dataset.name, "where": where})


def _first(value: object) -> object:
    return value[0] if isinstance(value, list | tuple) else value


def draw_places(report: Report, dataset: DatasetInfo, kind: str) -> None:
    """Which share of aspects can be found where, and which only there."""
    frame = report.tables[kind]
    dark = is_dark()
    total = _total(frame)
    draw_chart(
        share_chart(
            frame,
            (
                ("share_aspects", "can be found there", MARKS["gold"].on(dark)),
                ("share_only", "only there", SYSTEMS[0].on(dark)),
            ),
            "Share of aspects, %",
            f"{total:,} aspects" if total else "aspects",
        ),
        key=f"places-{kind}-{dataset.id}",
        alt="; ".join(
            f"{row['where']}: {100 * row['share_aspects']:.0f}% of aspects can be found there, "
            f"{100 * row['share_only']:.0f}% only there"
            for row in frame.fillna(0).to_dict("records")
        ),
    )
    table(
        (
            Column("where", "Where"),
            Column("sentences", "Sentences", "number"),
            Column("covering", "cover an aspect", "percent", "Share of the sentences there"),
            Column("aspects", "Aspects found there", "number"),
            Column("share", "of all aspects", "percent"),
            Column("only", "Only there", "number", "Aspects that only sentences there cover"),
            Column("share_only", "of all aspects", "percent"),
        ),
        [
            Row(
                row["where"],
                (
                    row["where"],
                    row["n_sentences"],
                    row["share_covering"],
                    row["n_aspects"],
                    row["share_aspects"],
                    row["n_only"],
                    row["share_only"],
                ),
                muted=True,
            )
            for row in frame.astype(object).where(frame.notna(), None).to_dict("records")
        ],
        key=f"place-table-{kind}-{dataset.id}",
        action="none",
        caption="Sentences and aspects by place",
    )
    st.caption(
        f"n = {total:,} aspects. One that is covered in several places counts in each, so the first shares add "
        "up to more than 100%. These are counts of what was read, not estimates: they need no interval."
    )


def _total(frame: pd.DataFrame) -> int:
    """All aspects, from a row that has some."""
    known = frame[frame["n_aspects"] > 0]
    return round(known["n_aspects"].iloc[0] / known["share_aspects"].iloc[0]) if len(known) else 0
