"""What a dataset is made of, and its name: the fold of a row of Home."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.frame_table import frame_table, report_end
from components.sets import draw_delete, draw_rename
from components.state import PageState
from components.table import Column
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import DatasetInfo, delete_dataset, rename_dataset
from evidencebench_core.runs import RunStore

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


def draw_dataset(dataset: DatasetInfo) -> None:
    report = resources.report(dataset_report, dataset)
    left, right = st.columns(2, gap="large")
    with left:
        frame_table(
            _OVERVIEW,
            report.tables["overview"],
            key=f"overview-{dataset.id}",
            caption="What the dataset is made of",
        )
    with right:
        frame_table(
            _SECTIONS,
            report.tables["sections"],
            key=f"sections-{dataset.id}",
            caption="Where aspects can be found",
        )
    report_end(report)


def draw_keeping(state: PageState, dataset: DatasetInfo) -> None:
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
    draw_delete(dataset.name, counts, delete, dataset.name)
