"""Home: what is loaded, how to get data in, where to go next."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from components.app import resources
from components.app.page import guard
from components.app.session import open_later
from components.app.state import PageState
from components.home.add_data import draw_download, draw_file, draw_sample
from components.widgets.job_panel import job_panel
from components.widgets.table import Column, Row, table
from evidencebench_core.data import DatasetInfo

COLUMNS = (
    Column("name", "Dataset", "title"),
    Column("n", "Instances", "number"),
    Column("papers", "Papers", "number"),
    Column("results", "With result aspects", "number"),
    Column("kind", "Kind"),
    Column("source", "Read from"),
    Column("when", "Loaded"),
)


def draw() -> None:
    st.title("EvidenceBench Explorer")
    st.markdown(
        "A reviewer who weighs a hypothesis must find, in a paper of some 170 sentences, the few that bear on "
        "it. EvidenceBench turned this into a benchmark. Here you read it: every paper with its gold and "
        "predicted evidence marked, retrievers run live, and scores that say how sure they are."
    )
    datasets = resources.store().datasets()
    if datasets:
        _draw_datasets(datasets)
    job_panel("data")
    st.markdown("## Add data" if datasets else "## Start here")
    ways = [draw_file, draw_download]
    if not any(info.synthetic for info in datasets):
        ways.insert(0, draw_sample)
    for column, draw_way in zip(st.columns(len(ways), gap="large"), ways, strict=True):
        with column:
            draw_way()
    st.markdown("## Your own paper")
    st.markdown(
        "A PDF, a text or an open-access paper, a hypothesis, and the sentences that bear on it. No data needed."
    )
    if st.button("Bring your own paper"):
        st.switch_page("pages/paper.py")


def _draw_datasets(datasets: tuple[DatasetInfo, ...]) -> None:
    st.markdown("## Loaded datasets")
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
                    ("synthetic" if info.synthetic else "benchmark format")
                    + (", gold sufficient, not complete" if info.sufficient else ""),
                    _origin(info.source),
                    info.ingested_at[:10],
                ),
            )
            for info in datasets
        ],
        key="datasets",
        on_open=lambda name: open_later("browse", {"dataset": name}),
        caption="Datasets in the store; a click opens one",
    )
    st.caption("Click a dataset to browse its instances. The page Dataset renames and deletes one.")
    with st.container(horizontal=True):
        if st.button("Browse instances and read a paper", type="primary"):
            st.switch_page("pages/browse.py")
        if st.button("Run retrievers and compare them"):
            st.switch_page("pages/leaderboard.py")


def _origin(source: str) -> str:
    """Where a dataset was read from; an upload by its name, since its copy is gone."""
    return f"upload, {Path(source).name}" if "/evidencebench-upload-" in source else source


with guard():
    PageState("", {})
    draw()
