"""The paper's split: evidence at the ends against evidence elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.palette import MARKS
from components.charts.positions import ends_chart, ends_histogram
from components.middle.instances import Mark, clicked_mark, draw_instances
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import draw_notes, frame_table
from components.widgets.markdown import literal
from components.widgets.runs import answer_key, resamples, run_colours
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.ends import GROUPS, EndsSplit, ends_report, group_frame
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import SettingError
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

SPLIT_DEFAULTS: Final = {"head": "10", "tail": "10", "above": "80", "below": "20", "bar": ""}
_CONTROLS: Final = {
    "head": ("First sentences", 500),
    "tail": ("Last sentences", 500),
    "above": ("cover over, %", 100),
    "below": ("or under, %", 100),
}
_BARS: Final = 20
_DIFFERENCES: Final = (
    Column("label", "Run"),
    Column("above", "Above, instances", "number"),
    Column("below", "Below, instances", "number"),
    Column("points", "Above − below, points", "number", digits=1),
    Column("interval", "95% interval", help="Two-sample bootstrap over papers"),
    Column("chance", "Of random picks, points", "number", "What the groups alone explain", digits=1),
    Column("mark", "Mark"),
)


def draw_split(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> None:
    """Controls, the distribution, recall by group, the differences, the instances behind a mark."""
    split = _controls(state)
    report = _report(dataset, task, runs, split)
    frame = report.tables["instances"]
    st.markdown(_groups_sentence(report.tables["groups"], len(frame)))
    shown = f"{dataset.id}-{task.name}-{split.head}-{split.tail}-{split.above}-{split.below}"
    counts = bars(frame)
    first = draw_chart(
        ends_histogram(counts, split.below, split.above, MARKS["gold"].on(is_dark())),
        key=f"coverage-{shown}",
        alt="Instances by the share of their aspects that the ends cover: "
        + ", ".join(f"{100 * row['low']:.0f}%: {row['n']}" for row in counts.to_dict("records") if row["n"]),
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
    if "difference" in report.tables:
        _draw_differences(report.tables["difference"])
    for param, event in (("bar", first), ("mark", second)):
        mark = clicked_mark(state, event, param)
        if mark is not None:
            _draw_behind(param, (dataset, task), runs, frame, mark)
    with st.expander("What this stands on"):
        draw_notes(report.notes)


def _controls(state: PageState) -> EndsSplit:
    values = {
        name: int(SPLIT_DEFAULTS[name]) if (number := state.number(name)) is None else number
        for name in _CONTROLS
    }
    try:
        split = EndsSplit(values["head"], values["tail"], values["above"] / 100, values["below"] / 100)
    except SettingError as error:
        st.warning(literal(str(error)))
        split = EndsSplit()
        values = {name: int(SPLIT_DEFAULTS[name]) for name in _CONTROLS}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, (label, most) in _CONTROLS.items():
            widget = state.widget(name, values[name], reset=("mark", "bar"))
            st.number_input(label, 0, most, width=150, **widget)
    return split


def _report(dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo], split: EndsSplit) -> Report:
    def make() -> Report:
        store = resources.store()
        gold = list(store.evidence_sets(dataset.name))
        instances = group_frame(store, dataset.name, split, gold)
        picked = [(run, RunStore(store).selections(run.id, task.name)) for run in runs]
        made = ends_report(instances, gold, picked, task, split, n_resamples=resamples(dataset))
        return Report(made.title, {**made.tables, "instances": instances}, made.notes)

    key = (dataset.sha256, dataset.name, split, task.name, answer_key(runs, task))
    return resources.report("ends", key, make)


def _groups_sentence(groups: pd.DataFrame, n_instances: int) -> str:
    count, rule = (dict(zip(groups["group"], groups[name], strict=True)) for name in ("n_instances", "rule"))
    return (
        f"**above**: {count['above']:,} instances, {rule['above']}. **below**: {count['below']:,} instances, "
        f"{rule['below']}. **neither**: {count['neither']:,}. Of {n_instances:,}; all aspects count, whatever the task."
    )


def bar_of(coverage: pd.Series[float]) -> pd.Series[int]:
    """The bar of 5 points that each share falls into, -1 for an undefined one; the last holds 100%."""
    return (coverage * _BARS + 1e-9).clip(upper=_BARS - 1).fillna(-1).astype(int)


def bars(frame: pd.DataFrame) -> pd.DataFrame:
    counts = np.bincount(bar_of(frame["coverage"].dropna()), minlength=_BARS)
    edges = np.arange(_BARS + 1) / _BARS
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n": counts})


def _chart_rows(report: Report, runs: Sequence[RunInfo]) -> pd.DataFrame:
    published = report.tables["published"]
    parts = [published.assign(name=published["system"] + ", published", run="", colour="gray")]
    if runs:
        ours = report.tables["recall"].dropna(subset="recall")
        parts.insert(0, ours.assign(name=ours["label"], colour=ours["run"].map(run_colours(runs))))
    columns = ["name", "run", "group", "recall", "low", "high", "chance", "n", "colour"]
    return pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)


def _draw_differences(frame: pd.DataFrame) -> None:
    intervals = [
        "" if pd.isna(low) else f"{100 * low:+.1f} to {100 * high:+.1f}"
        for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    frame_table(
        _DIFFERENCES,
        frame.assign(
            above=frame["n_above"],
            below=frame["n_below"],
            points=100 * frame["difference"],
            interval=intervals,
            chance=100 * frame["chance_difference"],
            mark=["fewer than 20: interval too short" if few else "" for few in frame["few"]],
        ),
        key="differences",
        ids="run",
        action="none",
        caption="Recall above minus recall below, by run",
    )


def _draw_behind(
    param: str, place_of: tuple[DatasetInfo, Task], runs: Sequence[RunInfo], frame: pd.DataFrame, mark: Mark
) -> None:
    """The instances behind a bar of the histogram or a mark of a group."""
    panel, run_id, place = mark
    run = next((run for run in runs if run.id == run_id), None)
    if panel == "coverage" and place.isdigit() and int(place) < _BARS:
        low = 100 * int(place) / _BARS
        title = f"Ends cover {low:.0f} to {low + 100 / _BARS:.0f}% of the aspects"
        frame = frame[bar_of(frame["coverage"]) == int(place)]
    elif (
        panel in ("coverage", "ends") and place in GROUPS and run is not None
    ):  # published ones have none here
        title = f"Group {place}, {literal(run.label)}"
        frame = frame[frame["group"] == place]
    else:
        return
    columns = [
        Column("id", "Instance", "id"),
        Column("coverage", "Covered by the ends", "percent"),
        Column("n_sentences", "Sentences", "number"),
    ]
    shown = [run] if run is not None else runs
    for one in shown:
        recalls = resources.run_score(one, place_of[1].name).per_instance
        frame = frame.assign(**{one.id: frame["id"].map(recalls)})
        columns.append(Column(one.id, one.label, "percent"))
    draw_instances(f"{param}-{panel}-{run_id}-{place}", place_of, shown, title, columns, frame)
