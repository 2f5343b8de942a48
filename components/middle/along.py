"""Along the paper: what stands where, where runs look, and what they find there."""

from __future__ import annotations

from typing import Final, cast

import numpy as np
import pandas as pd
import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.charts.positions import position_chart
from components.middle import cached
from components.middle.view import Mark, View
from components.widgets.chart import is_dark
from components.widgets.frame_table import draw_notes, in_words
from components.widgets.markdown import literal
from components.widgets.runs import resamples, run_colours
from components.widgets.switches import option_switch
from components.widgets.table import Column
from evidencebench_core.analyses.buckets import STANDS, Stand, behind_bucket
from evidencebench_core.analyses.conclusions import middle_conclusion, opportunity_conclusion
from evidencebench_core.analyses.positions import position_report
from evidencebench_core.palette import MARKS
from evidencebench_core.runs import RunInfo

ALONG_DEFAULTS: Final = {"buckets": "10", "by": "sentence", "stand": "earliest"}
_STAND_WORDS: Final = {
    "earliest": "earliest sentence",
    "latest": "latest sentence",
    "every": "every sentence",
    "only": "only place",
}
_BY_WORDS: Final = {"sentence": "sentences", "token": "tokens"}
_PANEL_STANDS: Final[dict[str, Stand]] = {"can": "every", "must": "only"}
_OF_RUN: Final = (
    Column("n_found", "Found", "number"),
    Column("n_missed", "Missed", "number"),
    Column("n_picks", "Picks there", "number"),
)


def draw_along(view: View) -> None:
    """Controls, the four panels on one axis, the instances behind a mark, the numbers."""
    n_buckets, by, stand = controls = _controls(view.state)
    dataset, task, runs = view.dataset, view.task, view.runs
    report = view.report(
        "positions",
        (n_buckets, by),
        lambda: position_report(
            view.aspects,
            cached.buckets(dataset, task.name, n_buckets, by),
            n_buckets,
            [(run.id, run.label, view.picks(run)) for run in runs],
            f"Positions: {dataset.name}, {task.title}, {n_buckets} buckets by {by}",
            n_resamples=resamples(dataset),
            with_middle=True,
        ),
    )
    st.markdown(
        "A paper in which nothing stands in the middle says nothing about who ignores the middle. So the first "
        "panel shows where aspects *can* be found and where they *must* be found, and every recall below has "
        "its number of aspects above it and, as a dotted line, what as many random picks would reach."
    )
    tables = report.tables
    opportunity = tables["opportunity"]
    recall = tables["recall"][tables["recall"]["stand"] == stand] if runs else None
    gold = MARKS["gold"].on(is_dark())
    middle = tables["middle"]
    in_words_of_runs = "" if middle.empty else middle_conclusion(middle[middle["stand"] == stand])
    view.draw_conclusion(in_words_of_runs or opportunity_conclusion(opportunity))
    chart = position_chart, opportunity, tables.get("picks"), recall, run_colours(runs), gold
    figure = resources.figure(*chart)
    event = view.draw_chart("along", controls, figure, _alt(opportunity, recall, runs))
    st.caption(
        f"An aspect stands in {STANDS[stand]}. Whiskers: 95% intervals over papers. Click a mark to see "
        f"its instances. {literal(report.notes[0])}"
    )
    if mark := view.clicked_mark(event):
        _draw_behind(view, controls, mark)
    with st.expander("What this stands on, and the numbers", key="numbers", on_change="rerun") as fold:
        if fold.open:
            draw_notes(report.notes)
            for name, table in tables.items():
                if table.empty:
                    continue
                st.markdown(f"**{name.capitalize()}**")
                st.dataframe(in_words(table), hide_index=True, key=f"numbers-{name}")


def _controls(state: PageState) -> tuple[int, str, Stand]:
    n_buckets = min(max(state.number("buckets") or 10, 2), 30)
    reset = ("mark",)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input("Buckets", 2, 30, width=130, **state.widget("buckets", n_buckets, reset=reset))
        by = option_switch(
            state,
            "by",
            "of equal shares of the paper's",
            _BY_WORDS,
            reset=reset,
            help="Tokens are runs of characters between white space.",
        )
        stand = option_switch(
            state,
            "stand",
            "An aspect stands where its … is",
            _STAND_WORDS,
            reset=reset,
            help="Most aspects are covered by several sentences. earliest, latest: one bucket an aspect. every: "
            "an aspect counts in each bucket that covers it. only place: aspects that one bucket alone covers.",
        )
    return n_buckets, by, cast("Stand", stand)


def _draw_behind(view: View, controls: tuple[int, str, Stand], mark: Mark) -> None:
    """The instances behind the mark, where it is one of this chart."""
    n_buckets, by, stand = controls
    panel, run_id, number = mark
    run = view.run(run_id)
    if panel not in ("can", "must", "count", "picks", "recall") or (run is None) != (run_id == ""):
        return
    if not number.isdigit() or not 1 <= int(number) <= n_buckets:
        return
    place = int(number)
    frame = behind_bucket(
        view.aspects,
        cached.buckets(view.dataset, view.task.name, n_buckets, by),
        place,
        _PANEL_STANDS.get(panel, stand),
        None if run is None else view.picks(run),
        np.all([view.picks(one).answered for one in view.runs], axis=0) if view.runs else None,
    )
    title = f"{100 * (place - 1) / n_buckets:.0f} to {100 * place / n_buckets:.0f}% of the paper"
    if run is not None:
        title = f"{title}, {literal(run.label)}"
        frame = frame[frame["n_picks" if panel == "picks" else "n_aspects"] > 0]
        if panel == "picks":
            frame = frame.sort_values("n_picks", ascending=False, kind="stable")
    columns = (Column("n_aspects", "Aspects that stand there", "number"), *(_OF_RUN if run else ()))
    view.draw_instances(",".join(mark), title, columns, frame, run)


def _alt(opportunity: pd.DataFrame, recall: pd.DataFrame | None, runs: tuple[RunInfo, ...]) -> str:
    parts = [
        f"{100 * row['from']:.0f} to {100 * row['to']:.0f}% of the paper: {row['n_can']} of {row['n_aspects']} "
        f"aspects can be found, {row['n_must']} must be"
        for row in opportunity.to_dict("records")
    ]
    for run in runs:
        shares = () if recall is None else recall["recall"][recall["run"] == run.id]
        found = ", ".join(f"{100 * share:.0f}%" if pd.notna(share) else "none" for share in shares)
        parts.append(f"{run.label} finds {found} from first to last")
    return "Opportunity, picks and recall by position. " + "; ".join(parts)
