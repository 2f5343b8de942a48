"""Home: what it is about in one example, the datasets with their figures and runs, and the ways to add data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import streamlit as st

from components import resources
from components.frame_table import frame_table, report_end
from components.job_panel import job_panel
from components.jobs import InChild
from components.markdown import literal
from components.page import page
from components.run_links import LARGE, reader_link, runs_with_answers
from components.sets import draw_rename_and_delete, safe_name
from components.state import PageState, open_later
from components.table import Column, Interval, Row, TableEvent, table
from components.work import fetch, read_file, read_sample
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.analyses.notes import NoteStore
from evidencebench_core.data import DATASETS, DatasetInfo, delete_dataset, rename_dataset
from evidencebench_core.runs import RunStore
from evidencebench_core.tasks import task_named

COLUMNS: Final = (
    Column("name", "Dataset", "title"),
    Column("n", "Instances", "number"),
    Column("papers", "Papers", "number"),
    Column("gold", "Gold"),
    Column("runs", "Runs", "number"),
    Column("best", "Best run"),
    Column("recall", "Recall, ER@Optimal", "interval"),
)
OVERVIEW: Final = (
    Column("quantity", "Quantity"),
    Column("n", "n", "number", "Instances; aspects or sentences where the quantity is of those"),
    Column("min", "Min", "number"),
    Column("mean", "Mean", "number", digits=1),
    Column("median", "Median", "number", digits=1),
    Column("max", "Max", "number"),
)
SECTIONS: Final = (
    Column("where", "Section"),
    Column("share_aspects", "Aspects found there", "percent"),
    Column("share_only", "Only there", "percent"),
)
SUFFIXES: Final = ["json", "jsonl", "ndjson", "csv", "tsv", "gz", "zst"]


def draw(state: PageState) -> None:
    st.markdown(
        "A reviewer who weighs a hypothesis must find, in a paper of some 170 sentences, the few that bear on it. "
        "EvidenceBench is a benchmark for this task. Here you can read it, run systems on it, and see how reliable "
        "their scores are."
    )
    datasets = resources.store().datasets()
    if datasets:
        _draw_example(datasets[0])
    job_panel("data")
    if datasets:
        _draw_datasets(state, datasets)
    with st.expander("Add data", expanded=not datasets):
        ways = [_draw_file, _draw_download]
        if not any(info.synthetic for info in datasets):
            ways.insert(0, _draw_sample)
        for column, draw_way in zip(st.columns(len(ways), gap="large"), ways, strict=True):
            with column:
                draw_way()


def _draw_example(dataset: DatasetInfo) -> None:
    """What it is all about: a hypothesis, a sentence that bears on it, and what a retriever picked."""
    task, runs = task_named("er@optimal"), runs_with_answers(dataset)
    instance = resources.instance(dataset, resources.instances(dataset)["id"].iloc[0])
    link = reader_link(dataset, task, instance.id, runs[:1])
    answer = RunStore(resources.store()).retrieval(runs[0], task, instance.id) if runs else None
    gold = f"gold evidence{' (invented)' if dataset.synthetic else ''}"
    aspects = (*instance.evidence.focused("results"), *instance.evidence.aspects)
    covered = [aspect.sentence_indices[0] for aspect in aspects if aspect.sentence_indices]
    texts = {gold: instance.sentences[covered[0]]} if covered else {}
    if answer and answer.selection:
        texts[f"first pick of {runs[0].label}"] = instance.sentences[answer.selection[0]]
    with st.container(border=True):
        st.markdown(f"**{literal(instance.hypothesis)}**")
        for column, (heading, text) in zip(st.columns(max(len(texts), 1)), texts.items(), strict=False):
            column.markdown(f"{literal(text, 300)}  \n:small[:gray[{literal(heading, 80)}]]")
        with st.container(horizontal=True):
            st.button("Read this paper", type="primary", on_click=open_later, args=("browse", link))
            st.button("Compare retrievers", on_click=open_later, args=("runs", {}))
            st.button("Search your own paper", on_click=open_later, args=("paper", {}))


# -- datasets -------------------------------------------------------------------------------------------


def _draw_datasets(state: PageState, datasets: tuple[DatasetInfo, ...]) -> None:
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
        [Row(info.name, _cells(info)) for info in datasets],
        key="datasets",
        action="tick",
        chosen=[shown],
        on_event=on_event,
        caption="Datasets; a click shows a dataset's figures, and where to rename or delete it",
    )
    if shown in by_name:
        with st.container(border=True):
            _draw_dataset(state, by_name[shown])


def _cells(info: DatasetInfo) -> tuple[Any, ...]:
    gold = "sufficient" if info.sufficient else "complete"
    return (
        info.name,
        info.n_instances,
        info.n_papers,
        f"invented, {gold}" if info.synthetic else gold,
        len(runs_with_answers(info)),
        *_best(info),
    )


def _best(info: DatasetInfo) -> tuple[str | None, Interval | None]:
    """The best run that has seen no gold of a dataset, and its recall; nothing of a large one."""
    runs = [run for run in runs_with_answers(info) if run.retriever != "oracle" and not run.n_trained_on]
    scores = {run.label: resources.run_score(run, "er@optimal") for run in runs if info.n_instances < LARGE}
    whole = {name: score for name, score in scores.items() if score.n_scored and not score.n_missing}
    if not whole:
        return None, None
    name = max(whole, key=lambda name: whole[name].aspect_recall or 0.0)
    return name, Interval(whole[name].aspect_recall or 0.0, *(whole[name].ci95 or (None, None)))


def _draw_dataset(state: PageState, dataset: DatasetInfo) -> None:
    """The fold of a row: what the dataset is made of, and its name."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"### {literal(dataset.name)}", width="stretch")
        there = {"dataset": dataset.name}
        st.button("Browse its instances", type="primary", on_click=open_later, args=("browse", there))
        st.button("Open its runs", on_click=open_later, args=("runs", there))
        with st.popover("Rename or delete"):
            _draw_keeping(state, dataset)
    report = resources.report(dataset_report, dataset)
    left, right = st.columns(2, gap="large")
    with left:
        overview = report.tables["overview"]
        frame_table(OVERVIEW, overview, key="overview", caption="What the dataset is made of")
    with right:
        sections = report.tables["sections"]
        frame_table(SECTIONS, sections, key="sections", caption="Where aspects can be found")
    report_end(report)


def _draw_keeping(state: PageState, dataset: DatasetInfo) -> None:
    store = resources.store()

    def rename(name: str) -> None:
        state.put(shown=rename_dataset(store, dataset.name, name).name)

    def delete() -> None:
        delete_dataset(store, dataset.name)
        state.put(shown=None)

    dependents = {
        "instance": dataset.n_instances,
        "run": len(RunStore(store).runs(dataset.name, variants=True)),
        "note": len(NoteStore(store).notes_on(dataset.name)),
    }
    draw_rename_and_delete(dataset.name, rename, delete, dependents, dataset.name)


# -- ways to add data -------------------------------------------------------------------------------------


def _draw_sample() -> None:
    st.markdown("### Sample papers")
    st.markdown(
        "Six study reports that we invented, with runs of three simple retrievers, so that every page has something "
        "to show."
    )
    label = "Load the sample papers"
    _start_button(label, "sample", "Read the sample papers", read_sample, type="primary")


def _draw_file() -> None:
    """A dataset file, uploaded; `evidencebench ingest` reads what is too large for that."""
    st.markdown("### A file")
    st.markdown(
        "Hypotheses, sentences and evidence as JSON, JSON lines or CSV, in the benchmark's own format, or in that of "
        "SciFact or QASPER; as it is, or compressed with gzip or zstd. For larger files use `evidencebench ingest`."
    )
    upload = st.file_uploader("Upload", type=SUFFIXES, key="upload")
    name = st.text_input("Name of the dataset", placeholder="the file's name", key="dataset-name").strip()
    if st.button("Read the file", disabled=not upload, key="read-file") and upload:
        file = Path(tempfile.mkdtemp(prefix="evidencebench-upload-")) / safe_name(upload.name)
        file.write_bytes(upload.getvalue())
        _start(str(file), f"Read {file.name}", read_file, file, name)


def _draw_download() -> None:
    st.markdown("### A download")
    choices = [(name, split) for name, remote in DATASETS.items() for split in remote.splits]
    name, split = st.selectbox(
        "Released dataset", choices, format_func=lambda choice: f"{choice[0]}, {choice[1]}", key="download"
    )
    remote = DATASETS[name]
    file = remote.splits[split]
    st.markdown(
        f"{literal(file.filename)}, under **{literal(file.licence)}**. "
        f"[Where it comes from]({remote.page}). The 100k set takes gigabytes, the others megabytes."
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


with page("", "EvidenceBench Explorer", shown="") as state:
    draw(state)
