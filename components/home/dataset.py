"""What a dataset is made of, what runs are on it, and its name: the fold of a row of Home."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.charts import draw_chart, is_dark
from components.figures import bars, bins_of, histogram
from components.frame_table import frame_table
from components.jobs import Job
from components.markdown import literal
from components.page import show_notes
from components.run_links import runs_with_answers
from components.sets import draw_delete, draw_rename
from components.state import PageState, flash, open_later, widget_value
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import DatasetInfo, delete_dataset, rename_dataset
from evidencebench_core.palette import MARKS, SYSTEMS
from evidencebench_core.runs import RunStore

_FILTERS: Final = {  # what Browse can filter by
    "sentences": "n_sentences",
    "aspects": "n_aspects",
    "result aspects": "n_result_aspects",
    "optimal K": "optimal",
}
_OF: Final = {"sentences per aspect": "aspects", "aspects per covering sentence": "sentences"}
_OVERVIEW: Final = (
    Column("quantity", "Quantity"),
    Column("n", "n", "number", "Instances; aspects or sentences where the quantity is of those"),
    Column("min", "Min", "number"),
    Column("mean", "Mean", "number", digits=1),
    Column("median", "Median", "number", digits=1),
    Column("max", "Max", "number"),
)


def draw_dataset(state: PageState, dataset: DatasetInfo) -> None:
    """Its figures and its runs."""
    report = resources.report(dataset_report, dataset)
    runs = runs_with_answers(dataset)
    left, right = st.columns(2, gap="large")
    with left:
        frame_table(
            _OVERVIEW,
            report.tables["overview"],
            key=f"overview-{dataset.id}",
            muted=True,
            action="none",
            caption="What the dataset is made of",
        )
        names = ", ".join(literal(run.label, 60) for run in runs[:12])
        st.markdown(f"**Runs:** {names or 'none yet'}{' …' * (len(runs) > 12)}")
        st.button(
            "Open the runs" if runs else "Start a run",
            on_click=open_later,
            args=("runs", {"dataset": dataset.name}),
        )
    with right:
        _draw_histogram(state, report, dataset)
        _draw_places(report, dataset)
    show_notes(report)


def draw_keeping(state: PageState, dataset: DatasetInfo) -> None:
    """Rename or delete."""
    store = resources.store()

    def rename(name: str) -> None:
        state.put(shown=rename_dataset(store, dataset.name, name).name)

    def delete_in(job: Job) -> str:
        delete_dataset(store, dataset.name)
        return ""

    def delete() -> None:
        resources.jobs().start("data", str(dataset.id), f"Delete {dataset.name}", delete_in)
        state.put(shown=None)
        flash(f"{literal(dataset.name, 80)} is being deleted.")

    draw_rename(dataset.name, rename, dataset.name, label="Name of the dataset")
    counts = {
        "instance": dataset.n_instances,
        "run": len(RunStore(store).runs(dataset.name, variants=True)),
        "note": len(NoteStore(store).notes_on(dataset.name)),
    }
    draw_delete(dataset.name, {noun: n for noun, n in counts.items() if n}, delete, dataset.name)


def _draw_histogram(state: PageState, report: Report, dataset: DatasetInfo) -> None:
    """How often each value of a quantity occurs; a click on a bar browses its instances."""
    quantities = list(report.tables["overview"]["quantity"])
    quantity = state["quantity"] if state["quantity"] in quantities else "sentences"
    st.selectbox("Distribution of", quantities, **state.widget("quantity", quantity))
    frame = report.tables["distributions"]
    frame = frame[frame["quantity"] == quantity]
    if not len(frame):
        st.info("No instance has it.")
        return
    bins = bins_of(frame)
    of, column = _OF.get(quantity, "instances"), _FILTERS.get(quantity)

    def browse(value: str) -> None:
        low, _, high = value.partition(" to ")
        open_later("browse", {"dataset": dataset.name, "where": f"{column}:{low}-{high or low}"})

    draw_chart(
        resources.figure(histogram, bins, quantity.capitalize(), of, SYSTEMS[0].on(is_dark())),
        key=f"histogram-{dataset.id}-{quantity}",
        alt="; ".join(f"{row.name}: {row.n}" for row in bins.itertuples(index=False)),
        on_pick=browse if column is not None else None,
    )
    if column is not None:
        names = list(bins["name"][bins["n"] > 0])
        st.menu_button("Browse a bar", names, key="bar", on_click=lambda: browse(widget_value("bar")))


def _draw_places(report: Report, dataset: DatasetInfo) -> None:
    """In which section aspects can be found, and which only there."""
    frame, dark = report.tables["sections"].assign(name=report.tables["sections"]["where"]), is_dark()
    there = frame.assign(
        value=frame["share_aspects"], group="can be found there", colour=MARKS["gold"].on(dark)
    )
    only = frame.assign(value=frame["share_only"], group="only there", colour=SYSTEMS[0].on(dark))
    draw_chart(
        bars(pd.concat([there, only]), "Share of aspects, %", shares=True),
        key=f"places-{dataset.id}",
        alt="; ".join(
            f"{row['where']}: {100 * row['share_aspects']:.0f}% of aspects, {100 * row['share_only']:.0f}% only there"
            for row in frame.fillna(0).to_dict("records")
        ),
    )
