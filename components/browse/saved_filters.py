"""Filters of the table of instances, kept under a name: saved, opened, renamed, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from components.app import resources
from components.app.state import PageState, flash
from components.widgets.keeping import draw_rename
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo
from evidencebench_core.data.saved import SavedFilters
from evidencebench_core.errors import EvidenceBenchError

_PARTS: Final = ("q", "s", "where", "if", "noted", "sort", "desc", "runs", "task")


def draw_saved(state: PageState, dataset: DatasetInfo) -> None:
    """The saved filters, to be opened, and the one set now, to be saved."""
    saved = SavedFilters(resources.store(), dataset.name)
    known = saved.all()
    now = {name: state[name] for name in _PARTS if state[name] != state.defaults[name]}
    with st.popover(
        f"Saved filters ({len(known)})" if known else "Saved filters", key=f"saved.{dataset.name}"
    ):
        _draw_saving(saved, now)
        if known:
            st.divider()
            _draw_known(state, saved, known, now)


def _draw_saving(saved: SavedFilters, now: Mapping[str, str]) -> None:
    name = st.text_input(
        "Name for what is set now",
        max_chars=100,
        placeholder="hard for bm25",
        help="Search, filters, conditions, sort order and the runs shown. A filter of that name is replaced.",
        key="save-as",
    ).strip()
    if st.button("Save", disabled=not now, help=None if now else "No filter is set.", key="save-filter"):
        try:
            flash(f"Saved as {literal(saved.save(name, now))}.")
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        st.rerun()


def _draw_known(
    state: PageState, saved: SavedFilters, known: Mapping[str, Mapping[str, str]], now: Mapping[str, str]
) -> None:
    here = next((name for name, parts in known.items() if parts == now), None)
    names = list(known)
    name = st.selectbox(
        "Saved filter",
        names,
        index=names.index(here) if here else 0,
        format_func=lambda name: f"{name} (shown now)" if name == here else name,
        key=f"saved-filter.{here}.{len(known)}",
    )
    with st.container(horizontal=True):
        if st.button("Open", type="primary", disabled=name == here, key="open-filter"):
            state.put(page=None, **{part: known[name].get(part) for part in _PARTS})
            st.rerun()
        if st.button("Delete", key="delete-filter"):
            saved.delete(name)
            flash(f"Deleted {literal(name)}.")
            st.rerun()
    draw_rename(name, lambda new: saved.rename(name, new), f"filter.{name}")
