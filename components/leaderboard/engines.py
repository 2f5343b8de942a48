"""Who answers a run that the app starts: the app, a batch endpoint, or a Ray cluster."""

from __future__ import annotations

import importlib.util

import streamlit as st

from components.app.state import local_widget
from evidencebench_core.runs import Engine

_LABELS = {
    "local": "this app",
    "batch": "the server's batch endpoint: cheaper where its price says so, done within a day",
    "ray": "a Ray cluster",
}


def engine_picker(retriever: str) -> tuple[Engine | None, bool]:
    """The engine chosen for a run (``None``: the app itself), and whether it asks in batches."""
    offered = ["local"]
    if retriever == "llm":
        offered.append("batch")
    if importlib.util.find_spec("ray") is not None:
        offered.append("ray")
    if len(offered) == 1:
        return None, False
    chosen = st.selectbox(
        "Answered by", offered, format_func=_LABELS.__getitem__, key=f"run.engine.{'+'.join(offered)}"
    )
    if chosen == "batch":
        from evidencebench_core.runs.engines.batch import BatchEngine

        return BatchEngine(), True
    if chosen == "ray":
        from evidencebench_core.runs.engines.ray import RayEngine

        address = st.text_input(
            "Address of the cluster",
            placeholder="10.0.0.1:6379",
            help="Of a cluster that this machine is a node of (ray start --address=HOST:6379). Left empty: a cluster"
            " of this machine alone, which ends with the run.",
            **local_widget("run.ray.address", ""),
        )
        return RayEngine(address.strip() or None), False
    return None, False
