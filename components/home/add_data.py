"""Ways to get data in: the sample papers, a file, a download."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.frame.upload import safe_name
from components.widgets.markdown import literal
from evidencebench_core.analyses.sample import SAMPLE_RUNS, ingest_sample
from evidencebench_core.data import DATASETS, DatasetInfo, download, ingest
from evidencebench_core.words import quantity

_SIZES: Final = {
    "evidencebench": "A few megabytes.",
    "evidencebench-100k": "Gigabytes: see that there is room, and patience.",
}
_SUFFIXES: Final = ["json", "jsonl", "ndjson", "csv", "tsv", "gz", "zst"]


def draw_sample() -> None:
    """Six synthetic papers, loaded in a second."""
    st.markdown("### Sample papers")
    st.markdown(
        "Six synthetic study reports of ours, with study aspects in words and variants of every hypothesis. "
        "Invented, and marked so. Three simple retrievers are run over them, so that every page has something to show."
    )
    store = resources.store()

    def work(job: Job) -> str:
        return f"{_loaded(ingest_sample(store, resources.SAMPLE).dataset)}, with runs of {', '.join(SAMPLE_RUNS)}."

    if st.button("Load the sample papers", type="primary", key="load-sample"):
        resources.jobs().start("data", str(resources.SAMPLE), "Read the sample papers", work)
        st.rerun()


def draw_file() -> None:
    """A dataset file: uploaded, or by its path on the machine that runs the app."""
    st.markdown("### A file")
    st.markdown(
        "Hypotheses, sentences and evidence as JSON, JSON lines or CSV, the benchmark's own format, SciFact's or "
        "QASPER's; plain, or packed with gzip or zstd."
    )
    upload = st.file_uploader("Upload", type=_SUFFIXES, key="upload")
    path = st.text_input(
        "or its path on this machine", placeholder="/data/evidencebench_train_set.json", key="path"
    )
    name = st.text_input("Name of the dataset", placeholder="the file's name", key="dataset-name").strip()
    if st.button("Read the file", disabled=not (upload or path.strip()), key="read-file"):
        if upload:
            copy = Path(tempfile.mkdtemp(prefix="evidencebench-upload-")) / safe_name(upload.name)
            copy.write_bytes(upload.getvalue())
            _start_ingest(copy, name, forget=True)
            st.rerun()
        given = Path(path.strip()).expanduser()
        if given.is_file():
            _start_ingest(given, name)
            st.rerun()
        st.error(
            f"{literal(str(given))} is no file on the machine that runs the app. Check the path, or upload it."
        )


def draw_download() -> None:
    """The released datasets, each under its own licence."""
    st.markdown("### A download")
    choices = [(name, split) for name, remote in DATASETS.items() for split in remote.splits]
    name, split = st.selectbox(
        "Released dataset", choices, format_func=lambda choice: f"{choice[0]}, {choice[1]}", key="download"
    )
    remote = DATASETS[name]
    file = remote.splits[split]
    st.markdown(
        f"{literal(file.filename)}, under **{literal(file.licence)}**. "
        f"[Where it comes from]({remote.page}). {_SIZES[name]}"
    )
    store = resources.store()

    def work(job: Job) -> str:
        def report_fetched(done: int, total: int | None) -> None:
            job.report(done, total or 0, f"{done / 1e6:,.1f} MB fetched", stop=True)

        paths = download(name, split, progress=report_fetched)
        return ", ".join(_loaded(ingest(store, path, None, _report(job)).dataset) for path in paths) + "."

    if st.button("Accept the licence and download", key="start-download"):
        resources.jobs().start("data", f"{name}/{split}", f"Download {name}, {split}", work)
        st.rerun()


def _start_ingest(path: Path, name: str, forget: bool = False) -> None:
    """Read a dataset file into the store; ``forget`` removes it and its folder afterwards (an upload's copy)."""
    store = resources.store()

    def work(job: Job) -> str:
        try:
            result = ingest(store, path, name or None, _report(job))
        finally:
            if forget:
                shutil.rmtree(path.parent, ignore_errors=True)
        return f"{_loaded(result.dataset)}{'' if result.added else ' before'}."

    resources.jobs().start("data", str(path), f"Read {path.name}", work)


def _report(job: Job) -> Callable[[int, int, int], None]:
    """What tells a job how much of a file is read."""
    return lambda done, total, n: job.report(done, total, f"{n:,} instances read", stop=True)


def _loaded(info: DatasetInfo) -> str:
    return f"{quantity(info.n_instances, 'instance')}, loaded as {info.name}"
