"""Position: recall along the paper, and where evidence at the ends makes a difference."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components.analyse.finding import draw_finding
from components.app import resources
from components.app.session import session_text, session_text_widget
from components.app.state import PageState
from components.charts.figures import bars, interval_dots, lines
from components.frame.page import Context, cached_report, percent, show_notes
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import (
    first_shown,
    frame_table,
    in_points,
    in_words,
    instance_table,
)
from components.widgets.markdown import literal
from components.widgets.runs import run_colours
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.ends import GROUPS, ends, group_frame
from evidencebench_core.analyses.positions import finding, instances_in_bucket, positions
from evidencebench_core.palette import MARKS
from evidencebench_core.runs import RunInfo

_BUCKETS: Final = ("5", "10", "20")
_INSTANCES: Final = (
    Column("n_aspects", "Aspects there", "number"),
    Column("n_missed", "Missed", "number", digits=1),
)
_DIFFERENCES: Final = (
    Column("label", "Run"),
    Column("points", "Above − below, points", "number", digits=1, signed=True),
    Column("interval", "95% interval"),
    Column(
        "chance", "Of random picks, points", "number", "What the groups alone explain", digits=1, signed=True
    ),
    Column("n", "Instances"),
)


def draw_position(state: PageState, context: Context) -> None:
    """The finding, recall along the paper, the instances behind a mark, and the ends of the paper."""
    dataset, task, runs = context.dataset.name, context.task, context.runs
    n_buckets = int(session_text("analyse.buckets") or 10)
    ids = [run.id for run in runs]
    report = cached_report(
        "positions",
        (*context.key, n_buckets),
        lambda: positions(resources.store(), dataset, ids, task, buckets=n_buckets),
    )
    tables = report.tables
    draw_finding(context, finding(tables.get("middle", pd.DataFrame()), tables["opportunity"]))
    _draw_along(state, report, context, n_buckets)
    with st.popover("Settings"):
        st.selectbox("Parts of the paper", _BUCKETS, **session_text_widget("analyse.buckets", "10"))
    _draw_bucket(state, context, n_buckets)
    _draw_ends(state, context)
    with st.expander("The numbers", on_change="rerun", key="position-numbers") as fold:
        if fold.open:
            for name, table in tables.items():
                st.markdown(f"**{name.capitalize()}**")
                st.dataframe(in_words(table), hide_index=True, key=f"numbers-{name}")
    show_notes(report)


def _draw_along(state: PageState, report: Report, context: Context, n_buckets: int) -> None:
    """Recall by where aspects stand, with what random picks would reach; without runs where they can be found."""
    opportunity = report.tables["opportunity"]
    middle = (opportunity["from"] + opportunity["to"]) / 2
    key = f"along-{context.task.name}-{n_buckets}-{'-'.join(run.id for run in context.runs)}"
    x_title = "Position in the paper, %"
    if not context.runs:
        gold = MARKS["gold"].on(is_dark())
        columns = {"name": "can be found", "x": 100 * middle, "value": opportunity["can"], "colour": gold}
        frame = pd.DataFrame({**columns, "low": opportunity["can_low"], "high": opportunity["can_high"]})
        y_title = "Aspects that can be found there, %"
    else:
        recall = report.tables["recall"]
        colours = run_colours(context.runs)
        x = 100 * (recall["from"] + recall["to"]) / 2
        marks = recall["run"] + ":" + recall["bucket"].astype(str)
        frame = pd.DataFrame(
            {
                "name": recall["label"],
                "x": x,
                "value": recall["recall"],
                "low": recall["low"],
                "high": recall["high"],
                "n": recall["n_aspects"],
                "colour": recall["run"].map(colours),
                "dashed": False,
                "id": marks,
            }
        )
        first = recall[recall["run"] == context.runs[0].id]
        chance = pd.DataFrame({"x": 100 * middle.to_numpy(), "value": first["chance"].to_numpy()})
        chance = chance.assign(
            name="random picks", dashed=True, colour="#888888", n=first["n_aspects"].to_numpy()
        )
        frame = pd.concat([frame, chance.assign(id="")], ignore_index=True)
        frame = frame[frame["value"].notna()]
        y_title = "Aspect Recall, %"
    figure = resources.figure(lines, frame, x_title, y_title, height=280)
    by_name = frame.groupby("name", sort=False)["value"].agg(
        lambda values: ", ".join(percent(v, 0) for v in values)
    )
    alt = "; ".join(f"{name}: {values}" for name, values in by_name.items())
    draw_chart(
        figure,
        key=key,
        alt=f"{y_title} from first to last: {alt}",
        on_pick=lambda mark: state.put(mark=mark),
    )
    st.caption(
        "An aspect stands where its earliest covering sentence does. Whiskers: 95% intervals, papers drawn whole. "
        "A click on a mark lists its instances."
    )


def _draw_bucket(state: PageState, context: Context, n_buckets: int) -> None:
    """The instances behind a mark of the chart."""
    run_id, _, number = state["mark"].partition(":")
    run = _run(context, run_id)
    if run is None or not number.isdigit() or not 1 <= int(number) <= n_buckets:
        return
    bucket = int(number)
    dataset = context.dataset.name
    frame = instances_in_bucket(resources.store(), dataset, context.task, bucket, n_buckets, run.id)
    place = f"{100 * (bucket - 1) / n_buckets:.0f} to {100 * bucket / n_buckets:.0f}% of the paper"
    _draw_instances(context, run, frame, f"{run.label}: aspects in {place}", _INSTANCES)


def _draw_instances(
    context: Context, run: RunInfo, frame: pd.DataFrame, title: str, columns: tuple[Column, ...]
) -> None:
    """A titled table of instances; a click opens the reader with the same runs."""
    st.markdown(f"### {literal(title)}")
    frame = frame.rename(columns={"instance": "id"})
    runs = (run, *(other for other in context.runs if other.id != run.id))
    instance_table(
        columns,
        frame,
        (context.dataset, context.task),
        runs,
        key=f"behind-{run.id}",
        caption=f"{title}; a click opens the reader",
        empty="No instance is behind this mark.",
        height=420,
    )
    st.caption(f"{len(frame):,} instances{first_shown(frame)}. A click opens one in the reader.")


def _run(context: Context, run_id: str) -> RunInfo | None:
    return next((run for run in context.runs if run.id == run_id), None)


def _draw_ends(state: PageState, context: Context) -> None:
    """The paper's split by the ends: how many instances, recall in each group, the difference."""
    st.markdown("## Evidence at the ends of the paper")
    dataset, ids = context.dataset.name, [run.id for run in context.runs]
    report = cached_report("ends", context.key, lambda: ends(resources.store(), dataset, ids, context.task))
    groups = report.tables["groups"]
    if "recall" not in report.tables:
        frame = groups.assign(name=groups["rule"], value=groups["n_instances"])
        figure = resources.figure(
            bars, frame[["name", "value"]], "Instances", colour=MARKS["gold"].on(is_dark())
        )
        alt = "; ".join(f"{row['rule']}: {row['n_instances']}" for row in groups.to_dict("records"))
        draw_chart(figure, key=f"ends-{dataset}", alt=alt)
        return
    recall = report.tables["recall"].dropna(subset="recall")
    colours = run_colours(context.runs)
    frame = pd.DataFrame(
        {
            "name": recall["group"].map({**GROUPS, "neither": "neither"}),
            "value": recall["recall"],
            "low": recall["low"],
            "high": recall["high"],
            "n": recall["n"],
            "group": recall["label"],
            "colour": recall["run"].map(colours),
            "id": recall["run"] + ":" + recall["group"],
        }
    )
    figure = resources.figure(interval_dots, frame, "Aspect Recall, %")
    alt = "; ".join(
        f"{row['group']}, {row['name']}: {percent(row['value'])}" for row in frame.to_dict("records")
    )
    key = f"ends-{'-'.join(ids)}-{context.task.name}"
    draw_chart(figure, key=key, alt=alt, on_pick=lambda mark: state.put(mark=mark))
    difference = report.tables["difference"]
    cells = in_points(difference).assign(
        chance=100 * difference["chance_difference"].astype(float),
        n=[f"{a} and {b}" for a, b in zip(difference["n_above"], difference["n_below"], strict=True)],
    )
    caption = "Recall above minus recall below, by run"
    frame_table(_DIFFERENCES, cells, key="differences", ids="run", action="none", caption=caption)
    run_id, _, group = state["mark"].partition(":")
    run = _run(context, run_id)
    if run is not None and group in GROUPS:
        frame = group_frame(resources.store(), dataset)
        members = frame[frame["group"] == group][["instance", "coverage", "n_sentences"]]
        columns = (
            Column("coverage", "Covered by the ends", "percent"),
            Column("n_sentences", "Sentences", "number"),
        )
        _draw_instances(context, run, members, f"{run.label}: {GROUPS[group]}", columns)
