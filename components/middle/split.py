"""The paper's split: evidence at the ends against evidence elsewhere."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.positions import ends_chart, ends_histogram
from components.middle.view import Mark, View
from components.widgets.chart import is_dark
from components.widgets.frame_table import draw_notes, frame_table
from components.widgets.markdown import literal
from components.widgets.runs import resamples, run_colours
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.conclusions import coverage_conclusion, coverage_shares, ends_conclusion
from evidencebench_core.analyses.ends import GROUPS, EndsSplit, ends_report, group_frame
from evidencebench_core.errors import SettingError
from evidencebench_core.palette import MARKS
from evidencebench_core.runs import RunStore

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
    Column("n_above", "Above, instances", "number"),
    Column("n_below", "Below, instances", "number"),
    Column("points", "Above − below, points", "number", digits=1),
    Column("interval", "95% interval", help="Two-sample bootstrap over papers"),
    Column("chance", "Of random picks, points", "number", "What the groups alone explain", digits=1),
    Column("mark", "Mark"),
)
_SHOWN: Final = (
    Column("coverage", "Covered by the ends", "percent"),
    Column("n_sentences", "Sentences", "number"),
)


def draw_split(view: View) -> None:
    """Controls, the distribution, recall by group, the differences, the instances behind a mark."""
    split = _controls(view.state)
    report = view.report("ends", split, lambda: _report(view, split))
    frame, dark = report.tables["instances"], is_dark()
    st.markdown(_groups_sentence(report.tables["groups"], len(frame)))
    view.draw_conclusion(coverage_conclusion(report.tables["coverage"], split))
    counts = bars(frame)
    drawn = counts[counts["n"] > 0].to_dict("records")
    first = view.draw_chart(
        "coverage",
        split,
        ends_histogram(counts, split.below, split.above, MARKS["gold"].on(dark)),
        "Instances by the share of their aspects that the ends cover: "
        + ", ".join(f"{100 * row['low']:.0f}%: {row['n']}" for row in drawn),
    )
    rows = _chart_rows(view, report)
    st.markdown("## Recall in each group")
    if "difference" in report.tables:
        view.draw_conclusion(ends_conclusion(report.tables["difference"]))
    alt = "; ".join(
        f"{row['name']}, {row['group']}: {100 * row['recall']:.1f}%, n = {row['n']}"
        for row in rows.to_dict("records")
    )
    second = view.draw_chart("split", split, ends_chart(rows, GROUPS), alt)
    st.caption(
        "Whiskers: 95% intervals over papers; grey ticks: as many random picks in the same group. The grey rows "
        "are the paper's figures (appendix K) on other instances, 1,115 and 1,111 of 3,000 of the "
        "EvidenceBench-100k test set, without an interval or the name of the task. Click a mark or a bar to see its "
        "instances."
    )
    if "difference" in report.tables:
        _draw_differences(report.tables["difference"])
    for param, event in (("bar", first), ("mark", second)):
        if mark := view.clicked_mark(event, param):
            _draw_behind(view, param, frame, mark)
    with st.expander("What this stands on"):
        draw_notes(report.notes)


def _controls(state: PageState) -> EndsSplit:
    defaults = {name: int(SPLIT_DEFAULTS[name]) for name in _CONTROLS}
    values = {name: default if (n := state.number(name)) is None else n for name, default in defaults.items()}
    try:
        split = EndsSplit(values["head"], values["tail"], values["above"] / 100, values["below"] / 100)
    except SettingError as error:
        st.warning(literal(str(error)))
        split, values = EndsSplit(), defaults
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name, (label, most) in _CONTROLS.items():
            widget = state.widget(name, values[name], reset=("mark", "bar"))
            st.number_input(label, 0, most, width=150, **widget)
    return split


def _report(view: View, split: EndsSplit) -> Report:
    store, dataset, task = resources.store(), view.dataset, view.task
    instances = group_frame(store, dataset.name, split)
    picked = [(run, RunStore(store).selections(run.id, task.name)) for run in view.runs]
    n = resamples(dataset)
    made = ends_report(instances, store.gold(dataset.name), picked, task, split, n_resamples=n)
    more = {"instances": instances, "coverage": coverage_shares(instances, n_resamples=n)}
    return Report(made.title, {**made.tables, **more}, made.notes)


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
    """Instances by `bar_of`, with the edges of the bars."""
    counts = np.bincount(bar_of(frame["coverage"].dropna()), minlength=_BARS)
    edges = np.arange(_BARS + 1) / _BARS
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n": counts})


def _chart_rows(view: View, report: Report) -> pd.DataFrame:
    published = report.tables["published"]
    parts = [published.assign(name=published["system"] + ", published", run="", colour="gray")]
    if view.runs:
        ours = report.tables["recall"].dropna(subset="recall")
        parts.insert(0, ours.assign(name=ours["label"], colour=ours["run"].map(run_colours(view.runs))))
    columns = ["name", "run", "group", "recall", "low", "high", "chance", "n", "colour"]
    return pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)


def _draw_differences(frame: pd.DataFrame) -> None:
    bounds = zip(frame["low"], frame["high"], strict=True)
    cells = frame.assign(
        points=100 * frame["difference"],
        interval=["" if pd.isna(low) else f"{100 * low:+.1f} to {100 * high:+.1f}" for low, high in bounds],
        chance=100 * frame["chance_difference"],
        mark=["fewer than 20: interval too short" if few else "" for few in frame["few"]],
    )
    caption = "Recall above minus recall below, by run"
    frame_table(_DIFFERENCES, cells, key="differences", ids="run", action="none", caption=caption)


def _draw_behind(view: View, param: str, frame: pd.DataFrame, mark: Mark) -> None:
    """The instances behind a bar of the histogram or a mark of a group; published marks have none here."""
    panel, run_id, place = mark
    run = view.run(run_id)
    if panel == "coverage" and place.isdigit() and int(place) < _BARS:
        low = 100 * int(place) / _BARS
        title = f"Ends cover {low:.0f} to {low + 100 / _BARS:.0f}% of the aspects"
        frame = frame[bar_of(frame["coverage"]) == int(place)]
    elif panel == "ends" and place in GROUPS and run is not None:
        title = f"Group {place}, {literal(run.label)}"
        frame = frame[frame["group"] == place]
    else:
        return
    shown = view.runs if run is None else (run,)
    recalls = {one.id: resources.run_score(one, view.task.name).per_instance for one in shown}
    frame = frame.assign(**{one: frame["id"].map(recall) for one, recall in recalls.items()})
    columns = (*_SHOWN, *(Column(one.id, one.label, "percent") for one in shown))
    view.draw_instances(f"{param}-{','.join(mark)}", title, columns, frame, run)
