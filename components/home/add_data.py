"""Ways to get data in: the sample papers, a file, a download."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job
from components.app.loading import download_datasets
from components.widgets.markdown import literal
from evidencebench_core.analyses.sample import SAMPLE_RUNS, ingest_sample
from evidencebench_core.data import DATASETS, ingest
from evidencebench_core.words import quantity

_SIZES: Final = {
    "evidencebench": "A few megabytes.",
    "evidencebench-100k": "Gigabytes: see that there is room, and patience.",
}
_SUFFIXES: Final = ["json", "jsonl", "ndjson", "gz", "zst"]


def draw_sample() -> None:
    """Six synthetic papers, loaded in a second."""
    st.markdown("### Sample papers")
    st.markdown(
        "Six synthetic study reports of ours, with study aspects in words and variants of every hypothesis. "
        "Invented, and marked so. Three simple retrievers are run over them, so that every page has something to show."
    )
    if st.button("Load the sample papers", type="primary", key="load-sample"):
        _start_sample()
        st.rerun()


def _start_sample() -> Job:
    def work(job: Job) -> str:
        info = ingest_sample(store, resources.SAMPLE).dataset
        runs = ", ".join(SAMPLE_RUNS)
        return f"{quantity(info.n_instances, 'instance')}, loaded as {info.name}, with runs of {runs}."

    store = resources.store()
    return resources.jobs().start("data", str(resources.SAMPLE), "Read the sample papers", work)


def draw_file() -> None:
    """A dataset file: uploaded, or by its path on the machine that runs the app."""
    st.markdown("### A file")
    st.markdown("In the benchmark's JSON format or as JSON lines, plain or packed with gzip or zstd.")
    upload = st.file_uploader("Upload", type=_SUFFIXES, key="upload")
    path = st.text_input(
        "or its path on this machine", placeholder="/data/evidencebench_train_set.json", key="path"
    )
    name = (
        st.text_input("Name of the dataset", placeholder="the file's name", key="dataset-name").strip()
        or None
    )
    if st.button("Read the file", disabled=not (upload or path.strip()), key="read-file"):
        if upload:
            start_ingest(
                _save_upload(upload.name, upload.getvalue()), name, f"Read {upload.name}", forget=True
            )
            st.rerun()
        given = Path(path.strip()).expanduser()
        if given.is_file():
            start_ingest(given, name)
            st.rerun()
        st.error(
            f"{literal(str(given))} is no file on the machine that runs the app. Check the path, or upload it."
        )


def _save_upload(file_name: str, content: bytes) -> Path:
    """An upload's bytes in a folder of their own, under a name made of the harmless letters of its own."""
    stem = re.sub(r"[^\w.-]+", "_", file_name.replace("\\", "/").rsplit("/", 1)[-1]).lstrip(".") or "upload"
    path = Path(tempfile.mkdtemp(prefix="evidencebench-upload-")) / stem[-100:]
    path.write_bytes(content)
    return path


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
    if st.button("Accept the licence and download", key="start-download"):
        start_download(name, split)
        st.rerun()


def start_ingest(path: Path, name: str | None = None, title: str | None = None, forget: bool = False) -> Job:
    """Read a dataset file into the store; ``forget`` removes it and its folder afterwards (an upload's copy)."""
    store = resources.store()

    def work(job: Job) -> str:
        def progress(done: int, total: int, n_instances: int) -> None:
            job.report(done, total, f"{n_instances:,} instances", stop=True)

        try:
            result = ingest(store, path, name, progress)
        finally:
            if forget:
                shutil.rmtree(path.parent, ignore_errors=True)
        info = result.dataset
        state = "loaded as" if result.added else "was already loaded as"
        return f"{quantity(info.n_instances, 'instance')}, {state} {info.name}."

    return resources.jobs().start("data", str(path), title or f"Read {path.name}", work)


def start_download(name: str, split: str) -> Job:
    """Fetch a dataset file and read it into the store."""
    store = resources.store()

    def work(job: Job) -> str:
        return ", ".join(
            f"{quantity(info.n_instances, 'instance')}, loaded as {info.name}"
            for info in download_datasets(job, store, name, split)
        )

    return resources.jobs().start("data", f"{name}/{split}", f"Download {name}, {split}", work)
