"""The paper's split: evidence at the ends against evidence elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.palette import MARKS
from components.charts.positions import ends_chart, ends_histogram
from components.middle.along import resamples
from components.middle.behind import draw_instances, marked
from components.middle.runs import run_colours
from components.widgets.chart import draw_chart, is_dark
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.ends import ends_report
from evidencebench_core.analyses.ends_split import GROUPS, EndsSplit, group_frame
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

__all__ = ["SPLIT_DEFAULTS", "draw_split"]

SPLIT_DEFAULTS: Final = {"head": "10", "tail": "10", "above": "80", "below": "20", "bar": ""}
_NUMBERS: Final = ("head", "tail", "above", "below")
_MARKS: Final = ("mark", "bar")  # what a change of the split forgets
_BAR: Final = 0.05


def draw_split(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> None:
    """Controls, the distribution, recall by group, the differences, the instances behind a mark."""
    split = _controls(state)
    answered = tuple((run.id, run.tasks.get(task.name, 0)) for run in runs)
    key = (dataset.sha256, dataset.name, split, task.name, answered)

    def make() -> Report:
        store = resources.store()
        gold = list(store.evidence_sets(dataset.name))
        instances = group_frame(store, dataset.name, split, gold)
        picked = [(run, RunStore(store).selections(run.id, task.name)) for run in runs]
        made = ends_report(instances, gold, picked, task, split, n_resamples=resamples(dataset.n_instances))
        return Report(made.title, {**made.tables, "instances": instances}, made.notes)

    report = resources.report("ends", key, make)
    frame = report.tables["instances"]
    st.markdown(_groups_sentence(report.tables["groups"], len(frame)))
    shown = f"{dataset.id}-{task.name}-{split.head}-{split.tail}-{split.above}-{split.below}"
    bars = _histogram(frame)
    first = draw_chart(
        ends_histogram(bars, split.below, split.above, MARKS["gold"].on(is_dark())),
        key=f"coverage-{shown}",
        alt="Instances by the share of their aspects that the ends cover: "
        + ", ".join(f"{100 * row['low']:.0f}%: {row['n']}" for row in bars.to_dict("records") if row["n"]),
        clickable=True,
    )
    rows = _chart_rows(report, runs)
    st.markdown("#### Recall in each group")
    second = draw_chart(
        ends_chart(rows, GROUPS),
        key=f"split-{shown}-{'-'.join(run.id for run in runs)}",
        alt="; ".join(
            f"{row['name']}, {row['group']}: {100 * row['recall']:.1f}%, n = {row['n']}"
            for row in rows.to_dict("records")
        ),
        clickable=True,
    )
    st.caption(
        "Whiskers: 95% intervals over papers; grey ticks: as many random picks in the same group. The grey rows "
        "are the paper's figures (appendix K) on other instances, 1,115 and 1,111 of 3,000 of the "
        "EvidenceBench-100k test set, without an interval or the name of the task. Click a mark or a bar to see its "
        "instances."
    )
    _differences(report)
    for param, event in (("bar", first), ("mark", second)):
        _behind(param, (dataset, task), runs, frame, bars, marked(state, event, param))
    with st.expander("What this stands on"):
        for note in report.notes:
            st.markdown(f"- {literal(note)}")


def _controls(state: PageState) -> EndsSplit:
    values = [state.number(name) for name in _NUMBERS]
    try:
        head, tail, above, below = (
            int(SPLIT_DEFAULTS[name]) if value is None else value
            for name, value in zip(_NUMBERS, values, strict=True)
        )
        split = EndsSplit(head, tail, above / 100, below / 100)
    except SettingError as error:
        st.warning(literal(str(error)))
        split = EndsSplit()
        head, tail, above, below = 10, 10, 80, 20
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input("First sentences", 0, 500, width=150, **state.widget("head", head, reset=_MARKS))
        st.number_input("Last sentences", 0, 500, width=150, **state.widget("tail", tail, reset=_MARKS))
        st.number_input("cover over, %", 0, 100, width=150, **state.widget("above", above, reset=_MARKS))
        st.number_input("or under, %", 0, 100, width=150, **state.widget("below", below, reset=_MARKS))
    return split


def _groups_sentence(groups: pd.DataFrame, n_instances: int) -> str:
    count = dict(zip(groups["group"], groups["n_instances"], strict=True))
    rule = dict(zip(groups["group"], groups["rule"], strict=True))
    return (
        f"**above**: {count['above']:,} instances, {rule['above']}. **below**: {count['below']:,} instances, "
        f"{rule['below']}. **neither**: {count['neither']:,}. Of {n_instances:,}; all aspects count, whatever the task."
    )


def _histogram(frame: pd.DataFrame) -> pd.DataFrame:
    """Bars of 5 points; the last holds 100%."""
    n_bars = round(1 / _BAR)
    place = np.minimum((frame["coverage"].dropna() * n_bars + 1e-9).astype(int), n_bars - 1)
    counts = np.bincount(place, minlength=n_bars)
    edges = [number / n_bars for number in range(n_bars + 1)]
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n": counts})


def _chart_rows(report: Report, runs: Sequence[RunInfo]) -> pd.DataFrame:
    colours = run_colours(runs)
    published = report.tables["published"]
    parts = [
        published.assign(
            name=[f"{system}, published" for system in published["system"]], run="", colour="gray"
        )
    ]
    if runs:
        ours = report.tables["recall"].dropna(subset="recall")
        parts.insert(0, ours.assign(name=ours["label"], colour=ours["run"].map(colours)))
    columns = ["name", "run", "group", "recall", "low", "high", "chance", "n", "colour"]
    return pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)


def _differences(report: Report) -> None:
    if "difference" not in report.tables:
        return
    table(
        (
            Column("run", "Run"),
            Column("above", "Above, instances", "number"),
            Column("below", "Below, instances", "number"),
            Column("difference", "Above − below, points", "number", digits=1),
            Column("interval", "95% interval", help="Two-sample bootstrap over papers"),
            Column("chance", "Of random picks, points", "number", "What the groups alone explain", digits=1),
            Column("few", "Mark"),
        ),
        [
            Row(
                row["run"],
                (
                    row["label"],
                    row["n_above"],
                    row["n_below"],
                    _points(row["difference"]),
                    _interval(row["low"], row["high"]),
                    _points(row["chance_difference"]),
                    "fewer than 20: interval too short" if row["few"] else "",
                ),
            )
            for row in report.tables["difference"].to_dict("records")
        ],
        key="differences",
        action="none",
        caption="Recall above minus recall below, by run",
    )


def _points(share: float) -> float | None:
    return None if math.isnan(share) else 100 * share


def _interval(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{100 * low:+.1f} to {100 * high:+.1f}"


def _behind(
    param: str,
    place_of: tuple[DatasetInfo, Task],
    runs: Sequence[RunInfo],
    frame: pd.DataFrame,
    bars: pd.DataFrame,
    mark: tuple[str, str, str] | None,
) -> None:
    if mark is None or mark[0] not in ("coverage", "ends"):
        return
    columns = [
        Column("id", "Instance", "id"),
        Column("coverage", "Covered by the ends", "percent"),
        Column("n_sentences", "Sentences", "number"),
    ]
    panel, run_id, place = mark
    run = next((run for run in runs if run.id == run_id), None)
    if panel == "coverage" and place.isdigit() and int(place) < len(bars):
        low, high = int(place) * _BAR, (int(place) + 1) * _BAR
        title = f"Ends cover {100 * low:.0f} to {100 * high:.0f}% of the aspects"
        inside = (frame["coverage"] * len(bars) + 1e-9).clip(upper=len(bars) - 1).fillna(-1).astype(int)
        frame = frame[inside == int(place)]
    elif place in GROUPS and run is not None:  # a published figure has no instances here
        title = f"Group {place}, {literal(run.label)}"
        frame = frame[frame["group"] == place]
    else:
        return
    for one in [run] if run is not None else runs:
        recalls = resources.run_score(one, place_of[1].name).per_instance
        frame = frame.assign(**{one.id: frame["id"].map(recalls)})
        columns.append(Column(one.id, one.label, "percent"))
    draw_instances(
        f"{param}-{panel}-{run_id}-{place}",
        place_of,
        [run] if run is not None else runs,
        title,
        columns,
        frame,
    )
