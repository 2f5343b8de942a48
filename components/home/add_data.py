"""Ways to get data in: the sample papers, a file, a download."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import streamlit as st

from components import resources
from components.jobs import InChild, Job
from components.markdown import literal
from components.sets import safe_name
from components.work import fetch, read_file, read_sample
from evidencebench_core.data import DATASETS

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
    _start_button(
        "Load the sample papers",
        "sample",
        "Read the sample papers",
        read_sample,
        resources.SAMPLE,
        type="primary",
    )


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
    title = f"Download {name}, {split}"
    _start_button("Accept the licence and download", f"{name} {split}", title, fetch, name, split)


def _start_button(
    label: str, subject: str, title: str, work: Callable[..., str], *args: object, **look: Any
) -> None:
    """A button that starts a job, once at a time."""
    is_busy = subject in resources.jobs().under_way("data")
    if st.button(label, disabled=is_busy, key=f"start.{work.__name__}", **look):
        resources.jobs().start("data", subject, title, InChild(work, (resources.store().path, *args)))
        st.rerun()


def _start_ingest(path: Path, name: str, forget: bool = False) -> None:
    """Read a dataset file into the store; ``forget`` removes it and its folder afterwards (an upload's copy)."""
    reading = InChild(read_file, (resources.store().path, path.absolute(), name))

    def work(job: Job) -> str:
        try:
            return reading(job)
        finally:
            if forget:
                shutil.rmtree(path.parent, ignore_errors=True)

    resources.jobs().start("data", str(path), f"Read {path.name}", work)
