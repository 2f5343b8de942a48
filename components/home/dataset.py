"""What a dataset is made of, and its name: the fold of a row of Home."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.charts import draw_chart, is_dark
from components.figures import bins_of, histogram
from components.frame_table import frame_table
from components.page import show_notes
from components.sets import draw_delete, draw_rename
from components.state import PageState, open_later
from components.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import DatasetInfo, delete_dataset, rename_dataset
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import RunStore

_DISTRIBUTIONS: Final = {  # of what Browse can filter by
    "sentences": "n_sentences",
    "aspects": "n_aspects",
    "result aspects": "n_result_aspects",
    "optimal K": "optimal",
}
_SECTIONS: Final = (
    Column("where", "Section"),
    Column("share_aspects", "Aspects found there", "percent"),
    Column("share_only", "Only there", "percent"),
)
_OVERVIEW: Final = (
    Column("quantity", "Quantity"),
    Column("n", "n", "number", "Instances; aspects or sentences where the quantity is of those"),
    Column("min", "Min", "number"),
    Column("mean", "Mean", "number", digits=1),
    Column("median", "Median", "number", digits=1),
    Column("max", "Max", "number"),
)


def draw_dataset(state: PageState, dataset: DatasetInfo) -> None:
    """Its figures."""
    report = resources.report(dataset_report, dataset)
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
    with right:
        _draw_histogram(state, report, dataset)
        frame_table(
            _SECTIONS,
            report.tables["sections"],
            key=f"sections-{dataset.id}",
            action="none",
            caption="Where aspects can be found",
        )
    show_notes(report)


def draw_keeping(state: PageState, dataset: DatasetInfo) -> None:
    """Rename or delete."""
    store = resources.store()

    def rename(name: str) -> None:
        state.put(shown=rename_dataset(store, dataset.name, name).name)

    def delete() -> None:
        delete_dataset(store, dataset.name)
        state.put(shown=None)

    draw_rename(dataset.name, rename, dataset.name, label="Name of the dataset")
    counts = {
        "instance": dataset.n_instances,
        "run": len(RunStore(store).runs(dataset.name, variants=True)),
        "note": len(NoteStore(store).notes_on(dataset.name)),
    }
    draw_delete(dataset.name, {noun: n for noun, n in counts.items() if n}, delete, dataset.name)


def _draw_histogram(state: PageState, report: Report, dataset: DatasetInfo) -> None:
    """How often each value of a quantity occurs; a click on a bar browses its instances."""
    quantity = state["quantity"] if state["quantity"] in _DISTRIBUTIONS else "sentences"
    st.selectbox("Distribution of", list(_DISTRIBUTIONS), **state.widget("quantity", quantity))
    frame = report.tables["distributions"]
    frame = frame[frame["quantity"] == quantity]
    if not len(frame):
        st.info("No instance has it.")
        return
    bins = bins_of(frame)

    def browse(value: str) -> None:
        low, _, high = value.partition(" to ")
        where = f"{_DISTRIBUTIONS[quantity]}:{low}-{high or low}"
        open_later("browse", {"dataset": dataset.name, "where": where})

    draw_chart(
        resources.figure(histogram, bins, quantity.capitalize(), "instances", SYSTEMS[0].on(is_dark())),
        key=f"histogram-{dataset.id}-{quantity}",
        alt="; ".join(f"{row.name}: {row.n}" for row in bins.itertuples(index=False)),
        on_pick=browse,
    )
    names = list(bins["name"][bins["n"] > 0])
    st.menu_button("Browse a bar", names, key="bar", on_click=lambda: browse(st.session_state["bar"]))
