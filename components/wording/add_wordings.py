"""Bringing a variants file to a dataset."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from components import resources
from components.markdown import literal
from components.state import flash
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.perturb import keep_variants, variants_from

__all__ = ["draw_add_wordings"]


def draw_add_wordings(dataset: DatasetInfo) -> None:
    """A fold with what there is, what a file looks like, and the upload."""
    there = {name: len(texts) for name, texts in resources.wordings(dataset).items()}
    with st.expander("Wordings of this dataset", expanded=not there):
        if there:
            counts = ", ".join(f"{literal(name)} ({count:,})" for name, count in there.items())
            st.markdown(f"Of {dataset.n_instances:,} instances: {counts}.")
        else:
            st.markdown("The data brought none, and no file has been added.")
        st.markdown(
            "A variants file is one JSON object; every instance has paraphrases, a negation, or both:"
        )
        st.code(
            '{"instance id": {"paraphrases": {"plain": "..."}, "negation": "..."}, ...}',
            language="json",
            wrap_lines=True,
        )
        given = st.file_uploader("Variants file", type=["json"], key=f"wordings.{dataset.id}")
        if given is not None and st.button("Keep these wordings", type="primary"):
            _keep(dataset, given.name, given.getvalue())


def _keep(dataset: DatasetInfo, name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "variants.json"
        path.write_bytes(content)
        try:
            kept = keep_variants(resources.store(), dataset.name, variants_from(path), name)
        except EvidenceBenchError as error:
            st.error(literal(str(error).replace(str(path), name)))
            return
    flash(f"{kept:,} wordings kept beside {dataset.name}.")
    st.rerun()
