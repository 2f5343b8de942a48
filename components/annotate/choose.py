"""Which paper to mark: a kept one, or an instance of a dataset."""

from __future__ import annotations

from typing import Final

import pandas as pd
import streamlit as st

from components import resources
from components.controls import option_box
from components.frame_table import frame_table
from components.state import PageState, open_later
from components.table import Column
from components.table.paging import paging
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.data import DatasetInfo

_COLUMNS: Final = (Column("n_sentences", "Sentences", "number"), Column("who", "Marked by"))
_OWN: Final = (Column("name", "Kept paper", "title"), Column("hypothesis", "Hypothesis"), *_COLUMNS)
_INSTANCES: Final = (Column("hypothesis", "Hypothesis", "title"), Column("id", "Instance", "id"), *_COLUMNS)


def draw_choice(state: PageState) -> None:
    st.title("Mark evidence")
    st.markdown(
        "Write down what a reader should learn from a paper (its study aspects), mark the sentences that say it, and "
        "save it as an instance of the benchmark. Two people can mark one paper, and make a consensus."
    )
    st.markdown("## Your papers")
    papers = resources.own_papers().all()
    if papers:
        frame = pd.DataFrame(
            [(own.key, own.name, own.hypothesis, own.n_sentences, _markers(own.key)) for own in papers],
            columns=["key", "name", "hypothesis", "n_sentences", "who"],
        )
        _draw_table(state, _OWN, frame, "own-to-mark", "Kept papers; a click opens one")
    else:
        st.markdown("Papers that you bring and keep are listed here. There is none yet.")
        st.button("Bring a paper", type="primary", on_click=open_later, args=("paper", {}))
    st.markdown("## Or an instance of a dataset")
    st.markdown("Its gold stays hidden while you mark; afterwards you can compare your marks with it.")
    datasets = {info.name: info for info in resources.store().datasets()}
    if datasets:
        _draw_instances(state, datasets)
    else:
        st.button("Load a dataset", key="annotate-home", on_click=open_later, args=("home", {}))


def _draw_instances(state: PageState, datasets: dict[str, DatasetInfo]) -> None:
    names = dict(zip(datasets, datasets, strict=True))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = option_box(state, "dataset", "Dataset", names, reset=("q", "page"))
        st.text_input(
            "Words of its hypothesis",
            placeholder="night shift diabetes",
            **state.widget("q", state["q"], reset=("page",)),
        )
    dataset = datasets[name]
    frame = resources.instances(dataset)
    frame = frame[frame["id"].isin(resources.matching(dataset, state["q"]))]
    frame = frame.assign(key=instance_key(dataset, "") + frame["id"])
    is_begun = frame["key"].isin(resources.paper_annotations().papers())
    frame = pd.concat([frame[is_begun], frame[~is_begun]])
    pages = paging(state, len(frame))
    shown = frame.iloc[pages.rows]
    shown = shown.assign(who=shown["key"].map(_markers))
    _draw_table(state, _INSTANCES, shown, "instances-to-mark", "Instances; a click opens one")
    pages.draw(state)


def _markers(key: str) -> str | None:
    return ", ".join(resources.paper_annotations().annotators(key)) or None


def _draw_table(
    state: PageState, columns: tuple[Column, ...], frame: pd.DataFrame, key: str, caption: str
) -> None:
    frame_table(
        columns,
        frame,
        key=key,
        ids="key",
        on_open=lambda paper: state.put(paper=paper),
        link=lambda paper: state.link(paper=paper),
        caption=caption,
        empty="No hypothesis has these words.",
        height=420,
    )
