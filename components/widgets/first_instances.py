"""How many instances of a dataset are to be asked."""

from __future__ import annotations

import streamlit as st

from evidencebench_core.data import DatasetInfo


def first_instances(dataset: DatasetInfo, key: str, help_text: str | None = None) -> int | None:
    """A field for the first so many; ``None``, which is how it starts: all."""
    return st.number_input(
        "Only the first instances",
        min_value=1,
        max_value=dataset.n_instances,
        value=None,
        placeholder=f"all {dataset.n_instances:,}",
        help=help_text,
        key=key,
    )
