"""Marks runs on instances that their model was trained on: in words, wherever their scores are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.app import resources
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.runs import RunInfo, trained_on_ids
from evidencebench_core.runs.trained import training_behind


def tell_of_seen(runs: Sequence[RunInfo]) -> None:
    """A warning that names such runs; nothing where there is none."""
    seen = [run for run in runs if run.n_trained_on]
    if not seen:
        return
    named = "; ".join(f"**{literal(run.label)}** ({literal(run.id[:4])})" for run in seen)
    st.warning(
        f"Trained on what it is scored on: {named}. Such a score tells what the model remembers, not how it does on "
        "papers that it has not seen. Look at its cross-validated run, or run it on another dataset.",
        icon=":material/warning:",
    )


def tell_if_seen(dataset: DatasetInfo, instance: Instance, name: str, settings: Mapping[str, object]) -> None:
    """A warning where a retriever's model learnt from this very paper; nothing otherwise."""
    retriever = make_retriever(name, settings)
    for trained in training_behind(retriever, retriever.settings):
        if instance.paper_id in trained.paper_ids or (
            dataset.sha256 == trained.dataset_sha256 and instance.id in trained.instance_ids
        ):
            _tell(name)
            return


def tell_if_run_has_seen(run: RunInfo, instance_id: str) -> None:
    """The same for a run."""
    if instance_id in trained_on_ids(resources.store(), run):
        _tell(run.retriever)


def _tell(name: str) -> None:
    st.warning(
        f"**{literal(name)}** was trained on this paper: its picks here tell what it remembers, not how "
        "it does on papers that it has not seen. Its cross-validated run is the honest figure.",
        icon=":material/warning:",
    )
