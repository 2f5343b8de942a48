"""Position: recall along the paper, and where evidence at the ends makes a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.analyse.finding import draw_finding
from components.charts import draw_chart, is_dark
from components.figures import bars, interval_dots, lines
from components.frame_table import (
    first_shown,
    frame_table,
    in_points,
    in_words,
    instance_table,
)
from components.markdown import literal
from components.page import Context, percent, show_notes
from components.run_links import draw_set_button, run_colours
from components.state import PageState, session_text, session_text_widget
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.ends import GROUPS, ends, group_frame
from evidencebench_core.analyses.positions import finding, instances_in_bucket, positions
from evidencebench_core.palette import MARKS
from evidencebench_core.runs import RunInfo
from evidencebench_core.words import quantity

_BUCKETS: Final = ("5", "10", "20")
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
    n_buckets = int(session_text("analyse.buckets") or 10)
    report = resources.report(positions, context.dataset, context.runs, context.task, buckets=n_buckets)
    tables = report.tables
    draw_finding(context, finding(tables.get("middle", pd.DataFrame()), tables["opportunity"]))
    _draw_along(state, report, context, n_buckets)
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
    middle = 50 * (opportunity["from"] + opportunity["to"])
    if context.runs:
        recall = report.tables["recall"]
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
        chance = first.assign(
            name="random picks", value=first["chance"], dashed=True, colour="#888888", id=""
        )
        frame = pd.concat([marks, chance.assign(low=None, high=None)], ignore_index=True)
        frame = frame[frame["value"].notna()].astype({"low": float, "high": float})
        y_title = "Aspect Recall, %"
    else:
        frame = opportunity.assign(name="can be found", x=middle, value=opportunity["can"])
        frame = frame.rename(columns={"can_low": "low", "can_high": "high"})
        frame["colour"] = MARKS["gold"].on(is_dark())
        y_title = "Aspects that can be found there, %"
    by_name = frame.groupby("name", sort=False)["value"].agg(
        lambda values: ", ".join(percent(v, 0) for v in values)
    )
    alt = "; ".join(f"{name}: {values}" for name, values in by_name.items())
    draw_chart(
        resources.figure(lines, frame, "Position in the paper, %", y_title, height=280),
        key=f"along-{context.task.name}-{n_buckets}-{'-'.join(run.id for run in context.runs)}",
        alt=f"{y_title} from first to last: {alt}",
        on_pick=lambda mark: state.put(mark=mark),
    )
    st.caption(
        "An aspect stands where its earliest covering sentence does. Whiskers: 95% intervals, papers drawn whole."
    )


def _draw_bucket(state: PageState, context: Context, n_buckets: int) -> None:
    """The instances behind a mark of the chart."""
    places = {
        str(
            bucket
        ): f"aspects in {100 * (bucket - 1) / n_buckets:.0f} to {100 * bucket / n_buckets:.0f}% of the paper"
        for bucket in range(1, n_buckets + 1)
    }
    with st.container(horizontal=True):
        run, part = _picked_mark(state, context, "Instances with aspects in a part of the paper", places)
        widget = session_text_widget("analyse.buckets", "10")
        st.selectbox("Parts of the paper", _BUCKETS, width=160, **widget)
    if run is None:
        return
    frame = instances_in_bucket(
        resources.store(), context.dataset.name, context.task, int(part), n_buckets, run.id
    )
    counts = zip(frame["n_missed"].round(1), frame["n_aspects"], strict=True)
    frame["missed"] = [f"{n_missed:g} of {n}" for n_missed, n in counts]
    _draw_instances(context, run, frame, places[part], (Column("missed", "Missed"),))


def _picked_mark(
    state: PageState, context: Context, label: str, parts: Mapping[str, str]
) -> tuple[RunInfo | None, str]:
    """The run and the part of a chart's mark that was clicked, or chosen here, without a mouse."""
    runs = {run.id: run for run in context.runs}
    marks = {
        f"{run.id}:{part}": f"{run.label}: {text}" for run in context.runs for part, text in parts.items()
    }
    chosen = state["mark"] if state["mark"] in marks else None
    st.selectbox(
        label,
        list(marks),
        format_func=marks.__getitem__,
        placeholder="Click a mark, or choose it here",
        **state.widget("mark", chosen, lambda mark: mark, part=label),
    )
    run_id, _, part = (chosen or "").partition(":")
    return runs.get(run_id), part


def _draw_instances(
    context: Context, run: RunInfo, frame: pd.DataFrame, what: str, columns: tuple[Column, ...]
) -> None:
    """A titled table of instances; a click opens the reader with the same runs."""
    title = f"{run.label}: {what}"
    st.markdown(f"### {literal(title)}")
    draw_set_button(context.dataset, title, list(frame["instance"]))
    instance_table(
        columns,
        frame.rename(columns={"instance": "id"}),
        (context.dataset, context.task),
        (run, *(other for other in context.runs if other.id != run.id)),
        key=f"behind-{run.id}",
        caption=f"{title}; a click opens the reader",
        empty="No instance is behind this mark.",
        height=420,
    )
    st.caption(f"{quantity(len(frame), 'instance')}{first_shown(frame)}. A click opens one in the reader.")


def _draw_ends(state: PageState, context: Context) -> None:
    """The paper's split by the ends: how many instances, recall in each group, the difference."""
    st.markdown("## Evidence at the ends of the paper")
    dataset = context.dataset.name
    report = resources.report(ends, context.dataset, context.runs, context.task)
    if "recall" not in report.tables:
        groups = report.tables["groups"]
        frame = groups.assign(name=groups["rule"], value=groups["n_instances"])[["name", "value"]]
        figure = resources.figure(bars, frame, "Instances", colour=MARKS["gold"].on(is_dark()))
        alt = "; ".join(f"{row.name}: {row.value}" for row in frame.itertuples(index=False))
        draw_chart(figure, key=f"ends-{dataset}", alt=alt)
        return
    recall = report.tables["recall"].dropna(subset="recall")
    frame = recall.assign(
        name=recall["group"].map(GROUPS),
        value=recall["recall"],
        group=recall["label"],
        colour=recall["run"].map(run_colours(context.runs)),
        id=recall["run"] + ":" + recall["group"],
    )
    alt = "; ".join(
        f"{row['group']}, {row['name']}: {percent(row['value'])}" for row in frame.to_dict("records")
    )
    draw_chart(
        resources.figure(interval_dots, frame, "Aspect Recall, %"),
        key=f"ends-{'-'.join(run.id for run in context.runs)}-{context.task.name}",
        alt=alt,
        on_pick=lambda mark: state.put(mark=mark),
    )
    difference = report.tables["difference"]
    cells = in_points(difference).assign(
        chance=100 * difference["chance_difference"].astype(float),
        n=[f"{a} and {b}" for a, b in zip(difference["n_above"], difference["n_below"], strict=True)],
    )
    caption = "Recall above minus recall below, by run"
    frame_table(_DIFFERENCES, cells, key="differences", ids="run", action="none", caption=caption)
    run, group = _picked_mark(state, context, "Instances of a group", GROUPS)
    if run is not None:
        frame = group_frame(resources.store(), dataset)
        members = frame[frame["group"] == group][["instance", "coverage", "n_sentences"]]
        columns = (
            Column("coverage", "Covered by the ends", "percent"),
            Column("n_sentences", "Sentences", "number"),
        )
        _draw_instances(context, run, members, GROUPS[group], columns)
