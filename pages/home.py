"""Home: what it is about in one example, the datasets with their figures and runs, and the ways to add data."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from components import resources
from components.home.add_data import draw_download, draw_file, draw_sample
from components.home.dataset import draw_dataset, draw_keeping
from components.job_panel import job_panel
from components.markdown import literal
from components.page import page
from components.run_links import reader_link, runs_with_answers
from components.state import PageState, open_later
from components.table import Column, Interval, Row, TableEvent, table
from evidencebench_core.data import DatasetInfo
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
LARGE: Final = 5_000  # instances, from which on no score is computed here


def draw(state: PageState) -> None:
    st.markdown(
        "A reviewer who weighs a hypothesis must find, in a paper of some 170 sentences, the few that bear on it. "
        "EvidenceBench is the benchmark for that; here you read it, run systems on it, and see how sure scores are."
    )
    datasets = resources.store().datasets()
    if datasets:
        _draw_example(datasets[0])
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


def _draw_example(dataset: DatasetInfo) -> None:
    """What it is all about: a hypothesis, a sentence that bears on it, and what a retriever picked."""
    task, runs = task_named("er@optimal"), runs_with_answers(dataset)
    instance = resources.instance(dataset, resources.instances(dataset)["id"].iloc[0])
    link = reader_link(dataset, task, instance.id, runs[:1])
    answer = RunStore(resources.store()).retrieval(runs[0], task, instance.id) if runs else None
    texts = {"evidence, by people": instance.sentences[int(link.get("sentence", 0))]}
    if answer and answer.selection:
        texts[f"first pick of {runs[0].label}"] = instance.sentences[answer.selection[0]]
    with st.container(border=True):
        st.markdown(f"**{literal(instance.hypothesis)}**")
        for column, (heading, text) in zip(st.columns(len(texts)), texts.items(), strict=True):
            column.markdown(f"{literal(text, 300)}  \n:small[:gray[{literal(heading, 80)}]]")
        with st.container(horizontal=True):
            st.button("Read this paper", type="primary", on_click=open_later, args=("browse", link))
            last = st.session_state.get("state.browse", {})
            if last.get("instance"):
                st.button("Go on where you were", on_click=open_later, args=("browse", last))
            st.button("Compare retrievers", on_click=open_later, args=("runs", {}))
            st.button("Search your own paper", on_click=open_later, args=("paper", {}))


def _best(info: DatasetInfo) -> tuple[str | None, Interval | None]:
    """The best run that has seen no gold of a dataset, and its recall; nothing of a large one."""
    runs = [run for run in runs_with_answers(info) if run.retriever != "oracle" and not run.n_trained_on]
    scores = {run.label: resources.run_score(run, "er@optimal") for run in runs if info.n_instances < LARGE}
    whole = {name: score for name, score in scores.items() if score.n_scored and not score.n_missing}
    if not whole:
        return None, None
    name = max(whole, key=lambda name: whole[name].aspect_recall or 0.0)
    return name, Interval(whole[name].aspect_recall or 0.0, *(whole[name].ci95 or (None, None)))


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
        caption="Datasets; a click unfolds one: its figures, to rename or to delete it",
    )
    if shown not in by_name:
        return
    dataset = by_name[shown]
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"### {literal(dataset.name)}", width="stretch")
            there = {"dataset": dataset.name}
            st.button("Browse its instances", type="primary", on_click=open_later, args=("browse", there))
            st.button("Open its runs", on_click=open_later, args=("runs", there))
            with st.popover("Rename or delete"):
                draw_keeping(state, dataset)
        draw_dataset(dataset)


with page("", "EvidenceBench Explorer", shown="") as state:
    draw(state)
