"""Parts of the page Dataset: table 1, distributions, where aspects can be found."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import streamlit as st

from components.app import resources
from components.charts.bars import histogram, share_chart
from components.widgets.chart import draw_chart, is_dark, picked_point
from components.widgets.frame_table import frame_table
from components.widgets.markdown import literal
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import MARKS, SYSTEMS

_OF: Final = {"sentences per aspect": "aspects", "aspects per covering sentence": "sentences"}
_COLUMNS: Final = {  # what Browse can filter by
    "sentences": "n_sentences",
    "aspects": "n_aspects",
    "result aspects": "n_result_aspects",
    "optimal K": "optimal",
}
_OVERVIEW: Final = (
    Column("quantity", "Quantity"),
    Column("n", "n", "number", "Instances; aspects or sentences where the quantity is of those"),
    Column("min", "Min", "number"),
    Column("mean", "Mean", "number", digits=1),
    Column("median", "Median", "number", digits=1),
    Column("max", "Max", "number"),
)
_PLACES: Final = (
    Column("where", "Where"),
    Column("n_sentences", "Sentences", "number"),
    Column("share_covering", "cover an aspect", "percent", "Share of the sentences there"),
    Column("n_aspects", "Aspects found there", "number"),
    Column("share_aspects", "of all aspects", "percent"),
    Column("n_only", "Only there", "number", "Aspects that only sentences there cover"),
    Column("share_only", "of all aspects", "percent"),
)
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
    look: dict[str, Any] = {"ids": "quantity", "muted": True, "action": "none"}
    key, caption = f"overview-{dataset.id}", "What the dataset is made of"
    frame_table(_OVERVIEW, report.tables["overview"], key=key, caption=caption, **look)
    for note in report.notes:
        st.caption(literal(note))
    with st.expander("Table 1 of the paper: other instances, its test set"):
        columns = [column for column in _OVERVIEW if column.key != "median"]
        published = pd.DataFrame(_PUBLISHED, columns=[column.key for column in columns])
        caption = "Table 1 of the EvidenceBench paper"
        frame_table(columns, published, key="published-overview", caption=caption, **look)
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
        resources.figure(histogram, of_quantity, title, of, colour),
        key=f"histogram-{dataset.id}-{quantity}",
        alt=f"Histogram of {quantity} over {n:,} {of}, from {of_quantity['value'].min():,} to "
        f"{of_quantity['value'].max():,}",
        clickable=column is not None,
    )
    st.caption(f"n = {n:,} {of}." + (" Click a bar to browse its instances." if column else ""))
    point = picked_point(event) if column else None
    if point and point.get("customdata"):
        data = point["customdata"]
        low, _, high = str(data[0] if isinstance(data, list | tuple) else data).partition(" to ")
        where = f"{column}:{low}-{high or low}"
        st.switch_page("pages/browse.py", query_params={"dataset": dataset.name, "where": where})


def draw_places(report: Report, dataset: DatasetInfo, kind: str) -> None:
    """Which share of aspects can be found where, and which only there."""
    frame = report.tables[kind]
    dark = is_dark()
    known = frame[frame["n_aspects"] > 0]
    total = round(known["n_aspects"].iloc[0] / known["share_aspects"].iloc[0]) if len(known) else 0
    draw_chart(
        resources.figure(
            share_chart,
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
    frame_table(
        _PLACES,
        frame,
        key=f"place-table-{kind}-{dataset.id}",
        ids="where",
        muted=True,
        action="none",
        caption="Sentences and aspects by place",
    )
    st.caption(
        f"n = {total:,} aspects. One that is covered in several places counts in each, so the first shares add "
        "up to more than 100%. These are counts of what was read, not estimates: they need no interval."
    )
