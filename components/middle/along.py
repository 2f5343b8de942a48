"""Along the paper: what stands where, where runs look, and what they find there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.palette import MARKS
from components.charts.positions import position_chart
from components.middle.instances import Mark, clicked_mark, draw_instances
from components.widgets.chart import draw_chart, is_dark
from components.widgets.frame_table import draw_notes
from components.widgets.markdown import literal
from components.widgets.runs import answer_key, resamples, run_colours
from components.widgets.switches import option_switch
from components.widgets.table import Column
from evidencebench_core.analyses.buckets import STANDS, Stand, behind_bucket
from evidencebench_core.analyses.positions import position_report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

ALONG_DEFAULTS: Final = {"buckets": "10", "by": "sentence", "stand": "earliest"}

_STAND_WORDS: Final = {
    "earliest": "earliest sentence",
    "latest": "latest sentence",
    "every": "every sentence",
    "only": "only place",
}
_BY_WORDS: Final = {"sentence": "sentences", "token": "tokens"}


def draw_along(state: PageState, dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo]) -> None:
    """Controls, the four panels on one axis, the instances behind a mark, the numbers."""
    n_buckets, by, stand = _controls(state)
    report = resources.report(
        "positions",
        (dataset.sha256, dataset.name, task.name, n_buckets, by, answer_key(runs, task)),
        lambda: position_report(
            resources.aspects(dataset, task.name),
            resources.buckets(dataset, task.name, n_buckets, by),
            n_buckets,
            [(run.id, run.label, resources.picks(dataset, run, task.name)) for run in runs],
            f"Positions: {dataset.name}, {task.title}, {n_buckets} buckets by {by}",
            n_resamples=resamples(dataset),
        ),
    )
    st.markdown(
        "A paper in which nothing stands in the middle says nothing about who ignores the middle. So the first "
        "panel shows where aspects *can* be found and where they *must* be found, and every recall below has "
        "its number of aspects above it and, as a dotted line, what as many random picks would reach."
    )
    tables = report.tables
    recall = tables["recall"][tables["recall"]["stand"] == stand] if runs else None
    figure = position_chart(
        tables["opportunity"], tables.get("picks"), recall, run_colours(runs), MARKS["gold"].on(is_dark())
    )
    shown = f"{dataset.id}-{task.name}-{n_buckets}-{by}-{stand}-{'-'.join(run.id for run in runs)}"
    alt = _alt(tables["opportunity"], pd.DataFrame() if recall is None else recall, runs)
    event = draw_chart(figure, key=f"along-{shown}", alt=alt, clickable=True)
    st.caption(
        f"An aspect stands in {STANDS[stand]}. Whiskers: 95% intervals over papers. Click a mark to see "
        f"its instances. {literal(report.notes[0])}"
    )
    mark = clicked_mark(state, event)
    if mark is not None:
        _draw_behind(dataset, task, runs, (n_buckets, by, stand), mark)
    with st.expander("What this stands on, and the numbers"):
        draw_notes(report.notes)
        for name, table in tables.items():
            st.markdown(f"**{name}**")
            st.dataframe(table, hide_index=True, key=f"numbers-{name}")


def _controls(state: PageState) -> tuple[int, str, Stand]:
    n_buckets = min(max(state.number("buckets") or 10, 2), 30)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input("Buckets", 2, 30, width=130, **state.widget("buckets", n_buckets, reset=("mark",)))
        by = option_switch(
            state,
            "by",
            "of equal shares of the paper's",
            _BY_WORDS,
            reset=("mark",),
            help="Tokens are runs of characters between white space.",
        )
        stand = option_switch(
            state,
            "stand",
            "An aspect stands where its … is",
            _STAND_WORDS,
            reset=("mark",),
            help="Most aspects are covered by several sentences. earliest, latest: one bucket an aspect. every: "
            "an aspect counts in each bucket that covers it. only place: aspects that one bucket alone covers.",
        )
    return n_buckets, by, cast("Stand", stand)


def _draw_behind(
    dataset: DatasetInfo, task: Task, runs: Sequence[RunInfo], view: tuple[int, str, Stand], mark: Mark
) -> None:
    """The instances behind the mark, where it is one of this chart."""
    n_buckets, by, stand = view
    panel, run_id, number = mark
    run = next((run for run in runs if run.id == run_id), None)
    if panel not in ("can", "must", "count", "picks", "recall") or (run is None) != (run_id == ""):
        return
    if not number.isdigit() or not 1 <= int(number) <= n_buckets:
        return
    place = int(number)
    stands: dict[str, Stand] = {"can": "every", "must": "only"}
    every = [resources.picks(dataset, one, task.name) for one in runs]
    frame = behind_bucket(
        resources.aspects(dataset, task.name),
        resources.buckets(dataset, task.name, n_buckets, by),
        place,
        stands.get(panel, stand),
        resources.picks(dataset, run, task.name) if run is not None else None,
        np.all([picks.answered for picks in every], axis=0) if runs else None,
    )
    columns = [Column("id", "Instance", "id"), Column("n_aspects", "Aspects that stand there", "number")]
    title = f"{100 * (place - 1) / n_buckets:.0f} to {100 * place / n_buckets:.0f}% of the paper"
    if run is not None:
        title = f"{title}, {literal(run.label)}"
        frame = frame[frame["n_picks" if panel == "picks" else "n_aspects"] > 0]
        if panel == "picks":
            frame = frame.sort_values("n_picks", ascending=False, kind="stable")
        columns += [
            Column("n_found", "Found", "number"),
            Column("n_missed", "Missed", "number"),
            Column("n_picks", "Picks there", "number"),
        ]
    draw_instances(",".join(mark), (dataset, task), runs if run is None else [run], title, columns, frame)


def _alt(opportunity: pd.DataFrame, recall: pd.DataFrame, runs: Sequence[RunInfo]) -> str:
    parts = [
        f"{100 * row['from']:.0f} to {100 * row['to']:.0f}% of the paper: {row['n_can']} of {row['n_aspects']} "
        f"aspects can be found, {row['n_must']} must be"
        for row in opportunity.to_dict("records")
    ]
    for run in runs:
        shares = recall["recall"][recall["run"] == run.id]
        said = ", ".join(f"{100 * share:.0f}%" if pd.notna(share) else "none" for share in shares)
        parts.append(f"{run.label} finds {said} from first to last")
    return "Opportunity, picks and recall by position. " + "; ".join(parts)
