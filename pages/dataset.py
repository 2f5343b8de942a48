"""Dataset: what it is made of, where its aspects can be found, how redundant its gold is."""

from __future__ import annotations

import time

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.page import dataset_picker, guard, tell_of_gold
from components.app.state import PageState
from components.dataset.parts import draw_distributions, draw_overview, draw_places
from components.dataset.subjects import draw_subjects
from components.widgets.copy_link import copy_link
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from components.widgets.switches import option_switch
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.data import (
    MARKED_BY_HAND,
    DatasetInfo,
    dataset_dependents,
    delete_dataset,
    delete_instance,
    instance_dependents,
    rename_dataset,
)
from evidencebench_core.data.sections import SECTION_CLASSES

DEFAULTS = {"dataset": "", "quantity": "sentences", "by": "sections"}
PLACES = {"sections": "Section", "types": "Sentence type"}


def draw(state: PageState) -> None:
    st.title("Dataset")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = dataset_picker(state)
        if dataset is None:
            return
        copy_link(state.link(dataset=dataset.name))
        _draw_keeping(state, dataset)
    if dataset.synthetic:
        st.caption("These are invented papers, made for trying things out.")
    tell_of_gold(dataset)
    with st.spinner("Reading the papers …"):
        report = resources.report(
            "dataset",
            (dataset.version, dataset.name),
            lambda: dataset_report(resources.store(), dataset.name),
        )
    draw_overview(report, dataset)
    st.markdown("## Distributions")
    quantities = list(report.tables["overview"]["quantity"])
    shown = state["quantity"] if state["quantity"] in quantities else "sentences"
    st.selectbox("Quantity", quantities, **state.widget("quantity", shown))
    draw_distributions(report, dataset, shown)
    st.markdown("## Where aspects can be found")
    by = option_switch(state, "by", "By", PLACES)
    draw_places(report, dataset, by)
    if by == "sections":
        st.caption(
            f"Sections are read from the headings, as {literal(', '.join(SECTION_CLASSES))}; what stands under a "
            "heading that says none of these belongs to the last one that did."
        )
    draw_subjects(dataset)
    if st.button("Browse its instances"):
        st.switch_page("pages/browse.py", query_params={"dataset": dataset.name})


def _draw_keeping(state: PageState, dataset: DatasetInfo) -> None:
    store = resources.store()

    def rename(name: str) -> None:
        state.put(dataset=rename_dataset(store, dataset.name, name).name)

    def delete() -> None:
        # It is gone at once; the job goes on with its rows, which are many where it is large.
        job = resources.jobs().start("delete", str(dataset.id), f"Delete {dataset.name}", delete_in)
        while not job.status.ended and dataset in store.datasets():
            time.sleep(0.05)
        if job.status.state == "failed":
            st.error(literal(job.status.note))
            st.stop()
        state.put(dataset=None)

    def delete_in(_: Job) -> str:
        delete_dataset(store, dataset.name)
        return ""

    with st.popover("Rename or delete", key=f"keeping.{dataset.name}"):
        draw_rename(dataset.name, rename, dataset.name, label="Name of the dataset")
        if dataset.source == MARKED_BY_HAND:
            st.divider()
            one = st.selectbox("Instance", store.ids(dataset.name), key=f"instance.{dataset.version}")
            key = f"{dataset.version}.{one}"
            if dataset.n_instances > 1:
                counts = instance_dependents(store, dataset.name, one)
                draw_delete(one, counts, lambda: delete_instance(store, dataset.name, one), key)
            st.divider()
        draw_delete(dataset.name, dataset_dependents(store, dataset.name), delete, dataset.name)


with guard():
    draw(PageState("dataset", DEFAULTS))
