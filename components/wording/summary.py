"""Means: recall per wording against the original, in a chart and a table, for all systems at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.app.page import percent
from components.charts.curves import spelling_chart
from components.charts.dots import difference_chart
from components.charts.palette import SYSTEMS, retriever_hue
from components.widgets.chart import draw_chart, is_dark
from components.widgets.markdown import literal
from components.widgets.table import Column, Interval, Row, table
from components.wording.work import System
from evidencebench_core.analyses import Report

__all__ = ["draw_spelling", "draw_spread", "draw_summary", "system_colours"]

_COLUMNS = (
    Column("who", "Retriever"),
    Column("wording", "Wording", "id"),
    Column("n", "n", "number", "Instances answered in the original and in this wording"),
    Column("out", "Left out", "number", "Instances without such a wording, or without an answer"),
    Column("original", "Original", "percent", "Mean Aspect Recall of the original over the same n"),
    Column("recall", "This wording (95% interval)", "interval", "Mean Aspect Recall; bootstrap of papers"),
    Column(
        "difference", "Difference, points (95% interval)", "text", "Paired by instance; bootstrap of papers"
    ),
    Column("p", "p", "number", "Two-sided paired randomisation, not corrected for several rows", digits=3),
    Column("moves", "Better / same / worse", "text", "Instances"),
    Column("overlap", "Overlap", "percent", "Mean share of the selection that stays"),
    Column(
        "tau", "Kendall's tau", "number", "Over the sentences in either top K; below 0 if unrelated", digits=2
    ),
    Column("rbo", "RBO", "number", "Rank-biased overlap of the two top Ks, p = 0.9", digits=2),
)


def system_colours(systems: tuple[System, ...]) -> dict[str, str]:
    """By label: each retriever's own colour, or, where two are of one kind, those for A, B and C."""
    hues = [retriever_hue(system.retriever) for system in systems]
    distinct = len({hue.light for hue in hues}) == len(hues)
    chosen = hues if distinct else list(SYSTEMS)
    return {system.label: hue.on(is_dark()) for system, hue in zip(systems, chosen, strict=False)}


def draw_summary(name: str, systems: tuple[System, ...], reports: Mapping[str, Report]) -> None:
    """Differences with intervals, and the table with everything behind them."""
    colours = system_colours(systems)
    frames = [reports[system.label].tables[name].assign(group=system.label) for system in systems]
    rows = [row for frame in frames for row in frame.to_dict("records")]
    chart = pd.DataFrame(
        [
            {
                "name": row["wording"],
                "group": row["group"],
                "difference": row["difference"],
                "low": row["ci_low"],
                "high": row["ci_high"],
                "n": row["n"],
                "colour": colours[row["group"]],
            }
            for row in rows
        ]
    ).astype({"difference": float, "low": float, "high": float})
    draw_chart(
        difference_chart(chart, "Difference to the original, points of recall"),
        key=f"differences-{name}",
        alt="Differences to the original in points: "
        + "; ".join(f"{row['group']}, {row['wording']}: {_points(row)}" for row in rows),
    )
    _table(name, rows)


def draw_spelling(systems: tuple[System, ...], reports: Mapping[str, Report]) -> None:
    """Recall against the number of errors, and the table behind it."""
    colours = system_colours(systems)
    frames = [
        reports[system.label]
        .tables["spelling"]
        .assign(group=system.label, colour=colours[system.label], wording=_errors)
        for system in systems
    ]
    rows = [row for frame in frames for row in frame.to_dict("records")]
    chart = pd.DataFrame(rows).astype({"recall": float, "recall_low": float, "recall_high": float})
    draw_chart(
        spelling_chart(chart),
        key="spelling",
        alt="Aspect Recall by number of misspelt words: "
        + "; ".join(f"{row['group']}, {row['errors']}: {percent(row['recall'])}" for row in rows),
    )
    _table("spelling", rows)


def draw_spread(systems: tuple[System, ...], reports: Mapping[str, Report]) -> None:
    """How far single instances move, in one sentence a system."""
    for system in systems:
        (row,) = reports[system.label].tables["spread"].to_dict("records")
        if not row["n"]:
            continue
        left_out = f" ({row['n_left_out']:,} left out: a wording is missing)" if row["n_left_out"] else ""
        st.markdown(
            f"**{literal(system.label)}**: {row['n_moved']:,} of {row['n']:,} instances{left_out} score "
            f"differently in at least one wording. Spread (highest - lowest recall of an instance): mean "
            f"{100 * row['mean_spread']:.1f} points, median {100 * row['median_spread']:.1f}, largest "
            f"{100 * row['largest_spread']:.1f}; mean SD {100 * row['mean_sd']:.1f}."
        )


def _errors(frame: pd.DataFrame) -> list[str]:
    return [
        f"{row['errors']} misspelt" + (f", {row['n_capped']} capped" if row["n_capped"] else "")
        for row in frame.to_dict("records")
    ]


def _table(name: str, rows: list[dict[Any, Any]]) -> None:
    table(
        _COLUMNS,
        [
            Row(
                str(place),
                (
                    row["group"],
                    row["wording"],
                    row["n"],
                    row["n_left_out"] + row["n_missing"],
                    _known(row["original"]),
                    None
                    if _known(row["recall"]) is None
                    else Interval(row["recall"], _known(row["recall_low"]), _known(row["recall_high"])),
                    _points(row),
                    _known(row["p_value"]),
                    f"{row['better']} / {row['same']} / {row['worse']}",
                    _known(row["overlap"]),
                    _known(row["kendall_tau"]),
                    _known(row["rank_biased_overlap"]),
                ),
            )
            for place, row in enumerate(rows)
        ],
        key=f"wording-{name}",
        action="none",
        caption=f"Recall per wording: {name}",
        height=520,
    )


def _known(value: Any) -> Any:
    return None if value is None or value != value else value  # noqa: PLR0124 - NaN is what differs from itself


def _points(row: Mapping[Any, Any]) -> str:
    if _known(row["difference"]) is None:
        return "–"
    text = f"{100 * row['difference']:+.1f}"
    if _known(row["ci_low"]) is None:
        return text
    return f"{text} ({100 * row['ci_low']:+.1f} to {100 * row['ci_high']:+.1f})"
