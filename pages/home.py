"""Home: what is loaded, how to get data in, where to go next."""

from __future__ import annotations

import streamlit as st

from components import resources
from components.add_data import draw_download, draw_file, draw_sample
from components.job_panel import job_panel
from components.page import guarded
from components.state import PageState, open_later
from components.table import Column, Row, TableEvent, table
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
        _loaded(datasets)
    job_panel("data")
    st.markdown("## Add data" if datasets else "## Start here")
    sample, file, remote = st.columns(3, gap="large")
    loaded = {info.name for info in datasets}
    with sample:
        draw_sample(primary=not datasets) if "sample_data" not in loaded else _next_steps()
    with file:
        draw_file()
    with remote:
        draw_download()


def _loaded(datasets: tuple[DatasetInfo, ...]) -> None:
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
                    "synthetic" if info.synthetic else "benchmark format",
                    info.source,
                    info.ingested_at[:10],
                ),
            )
            for info in datasets
        ],
        key="datasets",
        on_event=_open,
        caption="Datasets in the store; a click opens one",
    )
    st.caption("Click a dataset to browse its instances.")


def _open(event: TableEvent) -> None:
    if event.kind == "open":
        open_later("browse", {"dataset": event.value})


def _next_steps() -> None:
    st.markdown("#### What to do next")
    st.page_link("pages/browse.py", label="Browse instances and read a paper")
    st.page_link("pages/leaderboard.py", label="Run retrievers and compare them")


with guarded():
    PageState("", {})
    draw()
