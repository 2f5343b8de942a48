"""Position: recall along the paper, and where evidence at the ends makes a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.charts import draw_chart
from components.controls import mark_box
from components.figures import lines
from components.frame_table import draw_intervals, frame_table, instance_table, points, report_end
from components.markdown import literal
from components.page import Context, draw_finding, percent
from components.run_links import run_colours
from components.state import PageState
from components.table import Column
from evidencebench_core.analyses.ends import GROUPS, ends, group_frame
from evidencebench_core.analyses.frame import aspects, picks
from evidencebench_core.analyses.positions import bucket_of, positions
from evidencebench_core.data import Store
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

_N_BUCKETS: Final = 10
_PLACES: Final = {
    str(place + 1): f"aspects in {10 * place} to {10 * place + 10}% of the paper"
    for place in range(_N_BUCKETS)
}
_DIFFERENCES: Final = (
    Column("label", "Run"),
    Column("points", "Above − below, points (95%)"),
    Column(
        "chance", "Of random picks, points", "number", "What the groups alone explain", digits=1, signed=True
    ),
    Column("n", "Instances"),
)


def draw_position(state: PageState, context: Context) -> None:
    report = resources.report(positions, context.dataset, context.runs, context.task, buckets=_N_BUCKETS)
    tables = report.tables
    draw_finding(context, report.finding)
    _draw_along(state, tables["recall"], context)
    run, part = _picked_mark(state, context, "Instances with aspects in a part of the paper", _PLACES)
    if run is not None:
        frame = instances_in_bucket(resources.store(), run, context.task, int(part), _N_BUCKETS)
        counts = zip(frame["n_missed"].round(1), frame["n_aspects"], strict=True)
        frame["missed"] = [f"{n_missed:g} of {n}" for n_missed, n in counts]
        _draw_instances(context, run, frame, _PLACES[part], (Column("missed", "Missed"),))
    _draw_ends(state, context)
    report_end(report)


def instances_in_bucket(store: Store, run: RunInfo, task: Task, bucket: int, buckets: int) -> pd.DataFrame:
    """The instances with an aspect that stands in a bucket (from 1), those with the most misses first.

    Columns: ``instance``, ``n_aspects`` that stand there, ``n_missed`` of them, and the first ``sentence`` there that
    covers one.
    """
    of_task, answer = aspects(store, run.dataset, task), picks(store, run, task)
    frame = of_task.frame.assign(missed=1.0 - answer.found)
    is_there = bucket_of(frame["first"], frame["n_sentences"], buckets) == bucket - 1
    there = frame[is_there & answer.answered[frame["row"].to_numpy()]]
    instances: pd.DataFrame = there.groupby("instance", sort=False, as_index=False).agg(
        n_aspects=("first", "size"), n_missed=("missed", "sum"), sentence=("first", "min")
    )
    return instances.sort_values("n_missed", ascending=False, kind="stable", ignore_index=True)


def _draw_along(state: PageState, recall: pd.DataFrame, context: Context) -> None:
    marks = recall.assign(
        name=recall["label"],
        x=50 * (recall["from"] + recall["to"]),
        value=recall["recall"],
        n=recall["n_aspects"],
        colour=recall["run"].map(run_colours(context.runs)),
        dashed=False,
        id=recall["run"] + ":" + recall["bucket"].astype(str),
    )
    first = marks[marks["run"] == context.runs[0].id]
    chance = first.assign(name="random picks", value=first["chance"], dashed=True, colour="#888888", id="")
    frame = pd.concat([marks, chance.assign(low=None, high=None)], ignore_index=True)
    frame = frame[frame["value"].notna()].astype({"low": float, "high": float})
    by_name = frame.groupby("name", sort=False)["value"].agg(
        lambda values: ", ".join(percent(v, 0) for v in values)
    )
    alt = "; ".join(f"{name}: {values}" for name, values in by_name.items())
    draw_chart(
        resources.figure(lines, frame, "Position in the paper, %", "Aspect Recall, %"),
        key=f"along-{context.task.name}-{'-'.join(run.id for run in context.runs)}",
        alt=f"Aspect Recall from first to last: {alt}",
        on_pick=lambda mark: state.put(mark=mark),
    )
    st.caption(
        "An aspect is placed at its earliest covering sentence. Whiskers: 95% intervals, papers drawn whole."
    )


def _picked_mark(
    state: PageState, context: Context, label: str, parts: Mapping[str, str]
) -> tuple[RunInfo | None, str]:
    """The run and the part of a chart's mark that was clicked, or chosen here, without a mouse."""
    runs = {run.id: run for run in context.runs}
    marks = {
        f"{run.id}:{part}": f"{run.label}: {text}" for run in context.runs for part, text in parts.items()
    }
    run_id, _, part = mark_box(state, "mark", label, marks).partition(":")
    return runs.get(run_id), part


def _draw_instances(
    context: Context, run: RunInfo, frame: pd.DataFrame, what: str, columns: tuple[Column, ...]
) -> None:
    title = f"{run.label}: {what}"
    st.markdown(f"### {literal(title)}")
    others = [other for other in context.runs if other.id != run.id]
    instance_table(columns, frame, context, (run, *others), key=f"behind-{run.id}", title=title)


def _draw_ends(state: PageState, context: Context) -> None:
    st.markdown("## Evidence at the ends of the paper")
    dataset = context.dataset.name
    report = resources.report(ends, context.dataset, context.runs, context.task)
    recall = report.tables["recall"].dropna(subset="recall")
    frame = recall.assign(
        name=recall["group"].map(GROUPS),
        group=recall["label"],
        colour=recall["run"].map(run_colours(context.runs)),
        id=recall["run"] + ":" + recall["group"],
    )
    key = f"ends-{'-'.join(run.id for run in context.runs)}-{context.task.name}"
    draw_intervals(frame, "recall", "Aspect Recall, %", key=key, on_pick=lambda mark: state.put(mark=mark))
    difference = report.tables["difference"]
    cells = difference.assign(
        points=[points(row) for row in difference.to_dict("records")],
        chance=100 * difference["chance_difference"].astype(float),
        n=[f"{a} and {b}" for a, b in zip(difference["n_above"], difference["n_below"], strict=True)],
    )
    caption = "Recall above minus recall below, by run"
    frame_table(_DIFFERENCES, cells, key="differences", ids="run", caption=caption)
    run, group = _picked_mark(state, context, "Instances of a group", GROUPS)
    if run is not None:
        frame = group_frame(resources.store(), dataset)
        members = frame[frame["group"] == group][["instance", "coverage", "n_sentences"]]
        columns = (
            Column("coverage", "Covered by the ends", "percent"),
            Column("n_sentences", "Sentences", "number"),
        )
        _draw_instances(context, run, members, GROUPS[group], columns)
