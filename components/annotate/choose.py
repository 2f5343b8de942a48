"""Which paper to mark: a kept one, or an instance of a dataset."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.data import DatasetInfo, Filter

_SHOWN: Final = 12
_OWN: Final = (
    Column("name", "Kept paper", "title"),
    Column("hypothesis", "Hypothesis"),
    Column("n", "Sentences", "number"),
    Column("who", "Marked by"),
)
_INSTANCES: Final = (
    Column("hypothesis", "Hypothesis", "title"),
    Column("id", "Instance", "id"),
    Column("n", "Sentences", "number"),
    Column("who", "Marked by"),
)


def draw_choice(state: PageState) -> None:
    """The page without a paper."""
    st.title("Mark evidence")
    st.markdown(
        "Make gold by hand: write the study aspects of a paper, mark the sentences that cover each, and save the whole "
        "as an instance of the benchmark. Two people who marked the same paper see how far they agree, and make a "
        "consensus."
    )
    _draw_own(state)
    _draw_instances(state)


def _draw_own(state: PageState) -> None:
    st.markdown("## Your papers")
    papers = resources.own_papers().all()
    if not papers:
        st.markdown("Papers that you bring and keep are listed here, ready to be marked. There is none yet.")
        if st.button("Bring a paper", type="primary"):
            st.switch_page("pages/paper.py")
        return
    who = resources.paper_annotations().annotators
    rows = [
        Row(str(own.id), (own.name, own.hypothesis or None, own.n_sentences, ", ".join(who(own.key)) or None))
        for own in papers
    ]
    table(
        _OWN,
        rows,
        key="own-to-mark",
        on_open=lambda paper: state.put(paper=paper),
        caption="Kept papers; a click opens one",
        height=420,
    )


def _draw_instances(state: PageState) -> None:
    st.markdown("## Or an instance of a dataset")
    datasets = {info.name: info for info in resources.store().datasets()}
    if not datasets:
        st.markdown(
            "Instances can be marked again, with their gold hidden, and then be compared with it. Load a dataset first."
        )
        if st.button("Go to Home", key="annotate-home"):
            st.switch_page("pages/home.py")
        return
    st.markdown("Its gold stays hidden while you mark, and is one more annotator to compare with afterwards.")
    name = state["dataset"] if state["dataset"] in datasets else next(iter(datasets))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Dataset", list(datasets), **state.widget("dataset", name, reset=("q",)))
        st.text_input(
            "Words of its hypothesis", **state.widget("q", state["q"]), placeholder="night shift diabetes"
        )
    _draw_list(state, datasets[name])


def _draw_list(state: PageState, dataset: DatasetInfo) -> None:
    ids, annotations = (
        resources.matching(dataset, Filter(hypothesis=state["q"])),
        resources.paper_annotations(),
    )
    before = instance_key(dataset, "")
    begun = {key.removeprefix(before) for key in annotations.papers() if key.startswith(before)}
    first = sorted(ids, key=lambda one: one not in begun)[:_SHOWN]
    rows = []
    for row in resources.store().rows(dataset.name, first):
        key = instance_key(dataset, row.id)
        who = ", ".join(annotations.annotators(key)) or None
        rows.append(Row(key, (row.hypothesis, row.id, row.n_sentences, who)))
    table(
        _INSTANCES,
        rows,
        key="instances-to-mark",
        on_open=lambda paper: state.put(paper=paper),
        caption="Instances; a click opens one",
        empty="No hypothesis has these words.",
    )
    if len(ids) > _SHOWN:
        st.caption(
            f"The first {_SHOWN} of {len(ids):,} in {literal(dataset.name)}; those that were marked come first. "
            "Search to see others."
        )
