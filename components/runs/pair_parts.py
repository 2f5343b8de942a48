"""One pair of runs slice by slice, and aspect by aspect."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.charts import is_dark
from components.controls import mark_box, option_box, option_switch
from components.frame_table import draw_intervals, instance_table, report_end
from components.page import Context, percent
from components.state import PageState
from components.table import Column
from evidencebench_core.analyses.disagreements import OUTCOMES, disagreements
from evidencebench_core.analyses.slices import slices
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import RunInfo

_ASPECTS: Final = (
    Column("label", "Aspect"),
    Column("kind", "Kind"),
    Column("n_covering", "Covering sentences", "number"),
)


def draw_slices(state: PageState, context: Context, runs: tuple[RunInfo, RunInfo]) -> None:
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


def draw_disagreements(state: PageState, context: Context, runs: tuple[RunInfo, RunInfo]) -> None:
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
