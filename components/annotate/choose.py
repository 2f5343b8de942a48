"""Which paper to mark: a kept one, or an instance of a dataset."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.annotation.marked import instance_key
from evidencebench_core.data import DatasetInfo

_SHOWN: Final = 12
_COLUMNS: Final = (Column("n", "Sentences", "number"), Column("who", "Marked by"))
_OWN: Final = (Column("name", "Kept paper", "title"), Column("hypothesis", "Hypothesis"), *_COLUMNS)
_INSTANCES: Final = (Column("hypothesis", "Hypothesis", "title"), Column("id", "Instance", "id"), *_COLUMNS)


def draw_choice(state: PageState) -> None:
    """The page without a paper."""
    st.title("Mark evidence")
    st.markdown(
        "Write down what a reader should learn from a paper (its study aspects), mark the sentences that say it, and "
        "save the whole as an instance of the benchmark. Two people who mark the same paper see how far they agree, "
        "and make a consensus."
    )
    st.markdown("## Your papers")
    papers = resources.own_papers().all()
    if papers:
        rows = [
            Row(str(own.id), (own.name, own.hypothesis or None, own.n_sentences, _markers(own.key)))
            for own in papers
        ]
        _draw_table(state, _OWN, rows, "own-to-mark", "Kept papers; a click opens one")
    else:
        st.markdown("Papers that you bring and keep are listed here, ready to be marked. There is none yet.")
        if st.button("Bring a paper", type="primary"):
            st.switch_page("pages/paper.py")
    st.markdown("## Or an instance of a dataset")
    st.markdown("Its gold stays hidden while you mark; afterwards you can compare your marks with it.")
    datasets = {info.name: info for info in resources.store().datasets()}
    if datasets:
        _draw_instances(state, datasets)
    elif st.button("Load a dataset", key="annotate-home"):
        st.switch_page("pages/home.py")


def _draw_instances(state: PageState, datasets: dict[str, DatasetInfo]) -> None:
    name = state["dataset"] if state["dataset"] in datasets else next(iter(datasets))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Dataset", list(datasets), **state.widget("dataset", name, reset=("q",)))
        st.text_input(
            "Words of its hypothesis", **state.widget("q", state["q"]), placeholder="night shift diabetes"
        )
    dataset = datasets[name]
    ids = resources.matching(dataset, state["q"])
    before = instance_key(dataset, "")
    begun = {
        key.removeprefix(before) for key in resources.paper_annotations().papers() if key.startswith(before)
    }
    first = sorted(ids, key=lambda instance_id: instance_id not in begun)[:_SHOWN]
    rows = [
        Row(before + row.id, (row.hypothesis, row.id, row.n_sentences, _markers(before + row.id)))
        for row in resources.store().rows(name, first)
    ]
    _draw_table(state, _INSTANCES, rows, "instances-to-mark", "Instances; a click opens one")
    if len(ids) > _SHOWN:
        st.caption(
            f"The first {_SHOWN} of {len(ids):,} in {literal(name)}; those that were marked come first. "
            "Search to see others."
        )


def _markers(key: str) -> str | None:
    return ", ".join(resources.paper_annotations().annotators(key)) or None


def _draw_table(
    state: PageState, columns: tuple[Column, ...], rows: list[Row], key: str, caption: str
) -> None:
    table(
        columns,
        rows,
        key=key,
        on_open=lambda paper: state.put(paper=paper),
        caption=caption,
        empty="No hypothesis has these words.",
        height=420,
    )
