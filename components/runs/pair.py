"""Runs against each other: the matrix of differences, one pair in words, its slices and its disagreements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.charts import draw_chart, is_dark
from components.controls import mark_box, option_box, option_switch
from components.figures import squares
from components.frame_table import draw_intervals, instance_table, points, report_end
from components.markdown import literal
from components.page import Context, percent
from components.state import PageState
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.comparison import comparison, systems
from evidencebench_core.analyses.disagreements import OUTCOMES, disagreements
from evidencebench_core.analyses.slices import slices
from evidencebench_core.data import Store
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task
from evidencebench_core.words import quantity, signed_points

_ALPHA: Final = 0.05
_PARTS: Final = {"slices": "Slice by slice", "aspects": "Aspect by aspect"}
_ASPECTS: Final = (
    Column("label", "Aspect"),
    Column("kind", "Kind"),
    Column("n_covering", "Covering sentences", "number"),
)


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
        _draw_disagreements(state, context, (runs[a], runs[b]))
    else:
        _draw_slices(state, context, (runs[a], runs[b]))


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


def _draw_slices(state: PageState, context: Context, runs: tuple[RunInfo, RunInfo]) -> None:
    """The difference A - B on each slice; a click on a mark lists its instances."""
    a, b = runs
    report = resources.report(slices, (b, a), context.task, instances=True)
    every = report.tables["difference"]
    if not len(every):
        st.info("The runs have no scored instance in common, so there is nothing to slice.")
        return
    families = dict(zip(every["family"], every["family"], strict=True))
    plain, few = (SYSTEMS[place].on(is_dark()) for place in (0, 2))
    boxes = st.container(horizontal=True)
    with boxes:
        family = option_box(state, "family", "Slices by", families, width=320, reset=("slice",))
    frame = every[every["family"] == family]
    names = {
        row["slice"]: f"{row['slice']} (n = {row['n']:,}{', few' if row['few'] else ''})"
        for row in frame.to_dict("records")
    }
    with boxes:
        chosen = mark_box(state, "slice", "Instances of", names, width=320)
    frame = frame.assign(
        name=list(names.values()),
        id=frame["slice"],
        colour=[few if is_few else plain for is_few in frame["few"]],
    )
    key = f"slices-{context.dataset.id}-{context.task.name}-{a.id}-{b.id}-{family}"
    title = f"{a.label} minus {b.label}, points"
    draw_intervals(frame, "difference", title, key=key, on_pick=lambda name: state.put(slice=name))
    instances = report.tables["instances"]
    instances = instances[(instances["family"] == family) & (instances["slice"] == chosen)]
    if len(instances):
        title = f"{a.label} and {b.label}, {family}: {chosen}"
        difference = (100 * (instances[a.id] - instances[b.id])).round(1) + 0.0
        instances = instances.assign(difference=difference).sort_values(
            "difference", key=abs, ascending=False, kind="stable"
        )
        columns = (
            Column(a.id, a.label, "percent"),
            Column(b.id, b.label, "percent"),
            Column("difference", "A − B, points", "number", digits=1, signed=True),
        )
        instance_table(columns, instances, context, runs, key="slice-instances", title=title)
    report_end(report)


def _draw_disagreements(state: PageState, context: Context, runs: tuple[RunInfo, RunInfo]) -> None:
    """Aspects that only A found, only B, neither, both; a click opens the reader with both."""
    a, b = runs
    report = resources.report(disagreements, a, b, context.task)
    counts = {row["outcome"]: row for row in report.tables["counts"].to_dict("records")}
    names = {"only A": f"only {a.label}", "only B": f"only {b.label}", "both": "both", "neither": "neither"}
    options = {name: f"{names[name]}: {counts[name]['n']:,}" for name in OUTCOMES}
    shown = option_switch(state, "outcome", "Aspects that were found by", options)
    row = counts[shown]
    bounds = "" if pd.isna(row["low"]) else f" (95% interval {percent(row['low'])} to {percent(row['high'])})"
    n_aspects = sum(count["n"] for count in counts.values())
    st.caption(
        f"{percent(row['share'])} of {n_aspects:,} aspects{bounds}, in {row['n_instances']:,} instances."
    )
    frame = report.tables["aspects"]
    frame = frame[frame["outcome"] == shown]
    frame = frame.assign(
        aspect=frame["label"],
        sentence=[covering[0] for covering in frame["covering"]],
        kind=["result" if is_result else "" for is_result in frame["is_result"]],
    )
    title = f"Aspects found by {names[shown]}"
    instance_table(_ASPECTS, frame, context, runs, key=f"aspects-{shown}", title=title)
    report_end(report)
