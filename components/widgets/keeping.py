"""Renaming what is in the store, and deleting it once it is said what goes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.app.session import flash
from components.widgets.markdown import literal
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.words import enumerated, quantity


def draw_rename(name: str, rename: Callable[[str], object], key: str, label: str = "Name") -> None:
    """A field with the name, and the button that takes another."""
    new = st.text_input(label, value=name, max_chars=200, key=f"rename.{key}").strip()
    if st.button("Rename", key=f"rename-it.{key}", disabled=new == name):
        try:
            rename(new)
        except EvidenceBenchError as error:
            st.error(literal(str(error)))
            return
        flash(f"Renamed to {literal(new, 80)}." if new else "Renamed.")
        st.rerun()


def draw_delete(name: str, dependents: Mapping[str, int], delete: Callable[[], object], key: str) -> None:
    """The confirmation that names what goes, and the button that deletes."""
    counts = [quantity(count, noun) for noun, count in dependents.items()]
    sure = st.checkbox(
        f"Delete {literal(name, 80)}, with {enumerated(counts) or 'nothing else'}",
        help="Links to it end too. It cannot be undone.",
        key=f"sure.{key}",
    )
    if st.button("Delete", key=f"delete-it.{key}", disabled=not sure):
        with st.spinner("Deleting …"):
            delete()
        flash(f"Deleted {literal(name, 80)}, with {enumerated(counts) or 'nothing else'}.")
        st.rerun()
