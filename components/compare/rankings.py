"""The rankings of two runs: instances by how far they diverge, and one of them in columns."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import open_later
from components.app.state import PageState
from components.widgets.frame_table import HYPOTHESIS, INSTANCE, csv_button, frame_table
from components.widgets.markdown import literal
from components.widgets.rank_columns import COLUMN_DEFAULTS, draw_columns
from components.widgets.runs import answer_key, reader_link
from components.widgets.table import Column, TableEvent
from components.widgets.table.paging import paging, put_sort
from evidencebench_core.analyses.divergence import divergence
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import UnknownNameError
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task

RANKING_DEFAULTS: Final = {
    "sort": "divergence",
    "desc": "1",
    "page": "1",
    "instance": "",
    "order": COLUMN_DEFAULTS["order"],
    "pair": COLUMN_DEFAULTS["pair"],
}
_DIVERGENCE: Final = (
    "0: the same order; 1: nothing in common. 1 − rank-biased overlap of the two top Ks (Webber and others 2010, "
    "p = 0.9), so the first ranks count most. K is the longer selection"
)


def draw_divergence(
    state: PageState, dataset: DatasetInfo, task: Task, runs: tuple[RunInfo, RunInfo]
) -> None:
    """The instances, those that diverge most first; a click shows the two rankings of one."""
    a, b = runs
    report = resources.report(
        "divergence",
        (dataset.version, task.name, answer_key(runs, task)),
        lambda: divergence(resources.store(), a.id, b.id, task),
    )
    columns = (
        Column("divergence", "Divergence", "number", _DIVERGENCE, sortable=True, digits=2),
        Column("overlap", "Same picks", "percent", "Share of the picks that both have", sortable=True),
        Column("recall_a", f"A {a.label}", "percent", "Aspect Recall", sortable=True),
        Column("recall_b", f"B {b.label}", "percent", "Aspect Recall", sortable=True),
        Column("points", "A − B, points", "number", sortable=True, digits=1, signed=True),
    )
    frame = report.tables["instances"]
    frame = frame.assign(points=(100 * frame["difference"]).round(1) + 0.0)
    sort = state["sort"] if state["sort"] in {column.key for column in columns} else "divergence"
    descending = state["desc"] == "1"
    frame = frame.sort_values(sort, ascending=not descending, kind="stable", na_position="last")
    pages = paging(state, len(frame))
    shown = frame.iloc[pages.rows]

    def follow(event: TableEvent) -> None:
        if event.kind == "sort":
            put_sort(state, event)
        elif event.kind == "tick":
            state.put(instance=None if event.value == state["instance"] else event.value)

    frame_table(
        (HYPOTHESIS, *columns, INSTANCE),
        shown.assign(hypothesis=shown["id"].map(resources.hypotheses(dataset, shown["id"]))),
        key="divergence",
        ids="id",
        action="tick",
        chosen=(state["instance"],),
        on_event=follow,
        sort=sort,
        descending=descending,
        caption="Instances by how far the two rankings diverge; a click shows both rankings in columns",
        empty="The runs have no scored instance in common.",
        height=340,
    )
    pages.draw(state)
    with st.container(horizontal=True, vertical_alignment="center"):
        csv_button("Export the instances (CSV)", "divergence", lambda: frame.drop(columns="points"))
        st.caption(
            f"n = {len(frame):,} instances. Divergence is 1 − rank-biased overlap of the two top Ks (p = 0.9). "
            "A click shows an instance's two rankings in columns, below."
        )
    if state["instance"]:
        _draw_rankings(state, dataset, task, runs)


def _draw_rankings(state: PageState, dataset: DatasetInfo, task: Task, runs: tuple[RunInfo, RunInfo]) -> None:
    """The rankings of the chosen instance; a click on a sentence opens the reader at it."""
    name = state["instance"]
    try:
        instance = resources.instance(dataset, name)
    except UnknownNameError as error:
        st.warning(literal(str(error)))
        return
    known = RunStore(resources.store())
    found = {run.label: known.retrieval(run.id, task.name, name) for run in runs}
    answers = {label: answer for label, answer in found.items() if answer is not None}

    def open_reader(index: int) -> None:
        open_later("browse", reader_link(dataset, task, name, runs, sentence=str(index)))

    st.markdown(f"**{literal(instance.hypothesis)}**")
    if len(answers) < 2:
        st.caption("One of the runs has no answer for this instance.")
        return
    draw_columns(state, instance, answers, task.focus, open_reader)
