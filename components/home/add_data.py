"""Ways to get data in: the sample papers, a file, a download."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import streamlit as st

from components import resources
from components.jobs import InChild
from components.markdown import literal
from components.sets import safe_name
from components.work import fetch, read_file, read_sample
from evidencebench_core.data import DATASETS

_SUFFIXES: Final = ["json", "jsonl", "ndjson", "csv", "tsv", "gz", "zst"]


def draw_sample() -> None:
    st.markdown("### Sample papers")
    st.markdown(
        "Six invented study reports of ours, and runs of three simple retrievers over them: every page then has "
        "something to show."
    )
    title = "Read the sample papers"
    label = "Load the sample papers"
    _start_button(label, "sample", title, read_sample, type="primary")


def draw_file() -> None:
    """A dataset file, uploaded; `evidencebench ingest` reads what is too large for that."""
    st.markdown("### A file")
    st.markdown(
        "Hypotheses, sentences and evidence as JSON, JSON lines or CSV, the benchmark's own format, SciFact's or "
        "QASPER's; plain, or packed with gzip or zstd. `evidencebench ingest` reads larger ones by their path."
    )
    upload = st.file_uploader("Upload", type=_SUFFIXES, key="upload")
    name = st.text_input("Name of the dataset", placeholder="the file's name", key="dataset-name").strip()
    if st.button("Read the file", disabled=not upload, key="read-file") and upload:
        file = Path(tempfile.mkdtemp(prefix="evidencebench-upload-")) / safe_name(upload.name)
        file.write_bytes(upload.getvalue())
        _start(str(file), f"Read {file.name}", read_file, file, name)


def draw_download() -> None:
    st.markdown("### A download")
    choices = [(name, split) for name, remote in DATASETS.items() for split in remote.splits]
    name, split = st.selectbox(
        "Released dataset", choices, format_func=lambda choice: f"{choice[0]}, {choice[1]}", key="download"
    )
    remote = DATASETS[name]
    file = remote.splits[split]
    st.markdown(
        f"{literal(file.filename)}, under **{literal(file.licence)}**. "
        f"[Where it comes from]({remote.page}). The 100k set is gigabytes, the other megabytes."
    )
    title = f"Download {name}, {split}"
    _start_button("Accept the licence and download", f"{name} {split}", title, fetch, name, split)


def _start_button(
    label: str, subject: str, title: str, work: Callable[..., str], *args: object, **look: Any
) -> None:
    """A button that starts a job, once at a time."""
    is_busy = subject in resources.jobs().under_way("data")
    if st.button(label, disabled=is_busy, key=f"start.{work.__name__}", **look):
        _start(subject, title, work, *args)


def _start(subject: str, title: str, work: Callable[..., str], *args: object) -> NoReturn:
    resources.jobs().start("data", subject, title, InChild(work, (resources.store().path, *args)))
    st.rerun()
