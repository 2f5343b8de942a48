"""Keeping a paper in the store, and the list of those that were kept."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import flash
from components.app.state import PageState
from components.paper import cached
from components.paper.opened import OF_DATASET, OpenPaper
from components.widgets.keeping import draw_delete, draw_rename
from components.widgets.markdown import literal
from components.widgets.table import Column, Row, table
from evidencebench_core.errors import EvidenceBenchError

_OF_ONE_PAPER: Final = ("h", "h0", "sentence", "system", "page")
_MIB: Final = 1024 * 1024
_COLUMNS: Final = (
    Column("name", "Kept paper", "title"),
    Column("hypothesis", "Hypothesis"),
    Column("n", "Sentences", "number"),
    Column("when", "Kept on"),
)


def open_paper(state: PageState, ref: str | None, **others: str) -> None:
    """Go to a paper (``None``: to the ways to bring one), and let go of what belonged to another."""
    state.put(**{**dict.fromkeys(_OF_ONE_PAPER), **others, "paper": ref})


def draw_keep(state: PageState, opened: OpenPaper) -> None:
    """For a paper that is not kept: keep it; for a kept one: rename or delete it."""
    if opened.origin == "kept":
        with st.popover("Kept", key=f"kept.{opened.ref}"):
            _manage(state, opened)
        return
    with st.popover(
        "Keep this paper",
        type="primary" if opened.origin == "memory" else "secondary",
        help="Not kept yet, so it has no link: keep it to share it." if opened.origin == "memory" else None,
        key=f"keep.{opened.ref}",
    ):
        pages = f" and its PDF ({len(opened.pdf) / _MIB:.1f} MiB)" if opened.pdf else ""
        st.markdown(f"Into the store of this machine, with its hypothesis{pages}. It then has a link.")
        name = st.text_input("Name", value=opened.title[:200], max_chars=200, key=f"keep-name.{opened.ref}")
        if st.button("Keep", type="primary", key="keep-paper"):
            hypothesis = state["h"] or opened.hypothesis
            own = resources.own_papers().save(opened.paper, name.strip(), hypothesis, opened.pdf)
            cached.open_papers().drop(opened.ref)
            state.put(paper=str(own.id))
            flash(f"Kept as {literal(own.name, 80)}.")
            st.rerun()


def _manage(state: PageState, opened: OpenPaper) -> None:
    own, number = resources.own_papers(), int(opened.ref)
    markings = len(resources.paper_annotations().annotators(own.get(number).key))

    def remove() -> None:
        own.remove(number)
        open_paper(state, None)

    counts = {"sentence": len(opened.paper.sentences), "PDF file": int(opened.has_pages), "marking": markings}
    counts = {name: number for name, number in counts.items() if number}
    draw_rename(opened.name, lambda name: own.rename(number, name), opened.ref)
    draw_delete(opened.name, counts, remove, opened.ref)


def keep_hypothesis(opened: OpenPaper, hypothesis: str) -> None:
    """A button that keeps another hypothesis with a kept paper; nothing where it is the kept one."""
    is_other = opened.origin == "kept" and hypothesis and hypothesis != opened.hypothesis
    if is_other and st.button("Keep this hypothesis", help="The paper then opens with it."):
        resources.own_papers().set_hypothesis(int(opened.ref), hypothesis)
        st.rerun()


def draw_kept(state: PageState) -> None:
    """The kept papers, the newest first; a click opens one."""
    papers = resources.own_papers().all()
    if not papers:
        return
    st.markdown("## Kept papers")
    if len(papers) > 1 and st.button(f"One question over all {len(papers):,} kept papers"):
        open_paper(state, None, over="kept", h=state["h"])
        st.rerun()
    table(
        _COLUMNS,
        [
            Row(str(own.id), (own.name, own.hypothesis or None, own.n_sentences, own.added_at[:10]))
            for own in papers
        ],
        key="kept-papers",
        on_open=lambda ref: open_paper(state, ref),
        caption="Papers in the store; a click opens one",
        height=480,
    )


def named_paper(ref: str) -> OpenPaper | None:
    """The paper that an address names; ``None`` where there is none any more."""
    if ref in cached.sample_papers():
        return cached.sample_papers()[ref]
    if ref.isascii() and ref.isdigit() and len(ref) < 15:
        try:
            return cached.own_paper(resources.own_papers().get(int(ref)))
        except EvidenceBenchError:
            return None
    if ref.startswith(OF_DATASET):
        return cached.dataset_paper(ref)
    return cached.open_papers().get(ref)
