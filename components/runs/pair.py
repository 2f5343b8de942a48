"""Runs against each other: the matrix of differences, and one pair in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.charts import draw_chart, is_dark
from components.controls import option_box, option_switch
from components.figures import squares
from components.frame_table import points, report_end
from components.markdown import literal
from components.page import Context
from components.runs.pair_parts import draw_disagreements, draw_slices
from components.state import PageState
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.comparison import comparison, systems
from evidencebench_core.data import Store
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task
from evidencebench_core.words import quantity, signed_points

_ALPHA: Final = 0.05
_PARTS: Final = {"slices": "Slice by slice", "aspects": "Aspect by aspect"}


def draw_comparison(state: PageState, context: Context) -> None:
    if len(context.runs) < 2:
        st.info("Choose two or more runs, above or in the table, to see how certain their differences are.")
        return
    report = resources.report(_differences, context.runs, context.task)
    n = int(report.tables["systems"]["n"].iloc[0])
    if not n:
        st.info("No instance is answered by all of these runs, so there is nothing to compare. Choose fewer.")
        return
    st.markdown(f"## Differences on {literal(context.task.title)}")
    pairs = both_ways(report.tables["pairs"])
    ranked = report.tables["systems"].sort_values("recall", ascending=False, kind="stable")
    labels = dict(zip(ranked["system"], ranked["label"], strict=True))
    _draw_matrix(state, context, labels, pairs)
    st.caption(
        f"n = {n:,} instances. Row minus column, in points; blue is ahead. Framed: p of at most {_ALPHA} after Holm's "
        "correction. Click a square to look at its pair."
    )
    report_end(report)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        a = option_box(state, "a", "A", labels, width=320)
        others = {key: label for key, label in labels.items() if key != a}
        b = option_box(state, "b", "B", others, width=320)
    (row,) = pairs[(pairs["a"] == a) & (pairs["b"] == b)].to_dict("records")
    st.markdown(
        f"A − B: **{points(row)} points**, 95% interval with papers drawn whole{_p_text(row)}. "
        f"{literal(row['label_a'])} is ahead on {quantity(row['wins'], 'instance')}, level on {row['ties']:,}, "
        f"behind on {row['losses']:,}."
    )
    runs = {run.id: run for run in context.runs}
    part = option_switch(state, "part", "Part", _PARTS, label_visibility="collapsed")
    if part == "aspects":
        draw_disagreements(state, context, (runs[a], runs[b]))
    else:
        draw_slices(state, context, (runs[a], runs[b]))


def _differences(store: Store, runs: tuple[RunInfo, ...], task: Task) -> Report:
    return comparison(systems(store, runs, task))


def both_ways(pairs: pd.DataFrame) -> pd.DataFrame:
    pairs = pairs.astype(dict.fromkeys(("difference", "low", "high", "p_holm"), float))
    swapped = {"a": "b", "label_a": "label_b", "low": "high", "wins": "losses"}
    turned = pairs.rename(columns=swapped | {new: old for old, new in swapped.items()})
    signed = ["difference", "low", "high"]
    return pd.concat([pairs, turned.assign(**{name: -turned[name] for name in signed})], ignore_index=True)


def _p_text(row: dict[Any, Any]) -> str:
    p = row["p_holm"]
    return "" if pd.isna(p) else f", p {'< 0.0001' if p < 0.0001 else f'= {p:.4f}'} (Holm)"


def _draw_matrix(state: PageState, context: Context, labels: Mapping[str, str], pairs: pd.DataFrame) -> None:
    """The differences of all pairs; a click takes its pair as A and B."""
    places = {key: str(place) for place, key in enumerate(labels, start=1)}
    frame = pairs.assign(
        row=pairs["a"],
        column=pairs["b"],
        value=pairs["difference"],
        text=list(map(signed_points, pairs["difference"])),
        hover=[
            f"{row['label_a']} minus {row['label_b']}: {points(row)} points{_p_text(row)}"
            for row in pairs.to_dict("records")
        ],
        framed=pairs["p_holm"] <= _ALPHA,
        id=pairs["a"] + " " + pairs["b"],
    )
    frame = frame[frame["value"].notna()]

    def choose_pair(pair: str) -> None:
        a, _, b = pair.partition(" ")
        state.put(a=a, b=b)

    with st.container(key="wide-matrix"):
        draw_chart(
            resources.figure(
                squares,
                frame,
                {key: f"{places[key]}. {label}" for key, label in labels.items()},
                places,
                strongest=max(frame["value"].abs().max(), 1e-9),
                dark=is_dark(),
            ),
            key=f"matrix-{'-'.join(sorted(labels))}-{context.task.name}",
            alt="; ".join(frame["hover"]),
            on_pick=choose_pair,
            width="content",
        )
