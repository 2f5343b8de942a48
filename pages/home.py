"""Home: three doors, the datasets with their figures and runs, and the ways to add data."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.frame.page import page
from components.home.add_data import draw_download, draw_file, draw_sample
from components.home.dataset import draw_dataset, draw_keeping
from components.widgets.job_panel import job_panel
from components.widgets.markdown import literal
from components.widgets.runs import runs_with_answers
from components.widgets.table import Column, Row, TableEvent, table
from evidencebench_core.data import DatasetInfo

COLUMNS: Final = (
    Column("name", "Dataset", "title"),
    Column("n", "Instances", "number"),
    Column("papers", "Papers", "number"),
    Column("results", "With result aspects", "number"),
    Column("gold", "Gold"),
    Column("runs", "Runs", "number"),
    Column("when", "Loaded", "id"),
)
DOORS: Final = {
    "browse": ("Read", "Papers with gold and picked evidence marked, sentence by sentence.", "Browse"),
    "runs": ("Analyse", "Run retrievers, compare them, and see what they miss and why.", "Runs"),
    "paper": (
        "Show a paper",
        "Your own paper and a hypothesis: the sentences that bear on it.",
        "Your paper",
    ),
}


def draw(state: PageState) -> None:
    st.markdown(
        "A reviewer who weighs a hypothesis must find, in a paper of some 170 sentences, the few that bear on it. "
        "EvidenceBench is the benchmark for that; here you read it, run systems on it, and see how sure scores are."
    )
    datasets = resources.store().datasets()
    for column, (target, (name, text, button)) in zip(st.columns(3), DOORS.items(), strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{name}**\n\n{text}")
            if st.button(button, key=f"door-{target}"):
                st.switch_page(f"pages/{target}.py")
    job_panel("data")
    if datasets:
        _draw_datasets(state, datasets)
    with st.expander("Add data", expanded=not datasets):
        ways = [draw_file, draw_download]
        if not any(info.synthetic for info in datasets):
            ways.insert(0, draw_sample)
        for column, draw_way in zip(st.columns(len(ways), gap="large"), ways, strict=True):
            with column:
                draw_way()


def _draw_datasets(state: PageState, datasets: tuple[DatasetInfo, ...]) -> None:
    """A row a dataset; a click unfolds its figures below."""
    st.markdown("## Datasets")
    by_name = {info.name: info for info in datasets}
    shown = state["shown"]
    if shown and shown not in by_name:
        st.warning(f"There is no dataset {literal(shown, 80)} here (any more).")
        state.put(shown=None)

    def on_event(event: TableEvent) -> None:
        state.put(shown=None if event.value == state["shown"] else event.value)

    table(
        COLUMNS,
        [
            Row(
                info.name,
                (
                    info.name,
                    info.n_instances,
                    info.n_papers,
                    info.n_result_instances,
                    ", ".join(
                        (*["invented"] * info.synthetic, "sufficient" if info.sufficient else "complete")
                    ),
                    len(runs_with_answers(info)),
                    info.ingested_at[:10],
                ),
            )
            for info in datasets
        ],
        key="datasets",
        action="tick",
        chosen=[shown],
        on_event=on_event,
        caption="Datasets; a click shows what one is made of",
    )
    if shown not in by_name:
        st.caption("Click a dataset to see its figures and runs, to rename or to delete it.")
        return
    dataset = by_name[shown]
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"### {literal(dataset.name)}", width="stretch")
            if st.button("Browse its instances", type="primary"):
                st.switch_page("pages/browse.py", query_params={"dataset": dataset.name})
            with st.popover("Rename or delete"):
                draw_keeping(state, dataset)
        draw_dataset(state, dataset)


with page("", "EvidenceBench Explorer", shown="", quantity="sentences") as state:
    draw(state)
