"""Asking a language model in every wording: what it will take, the caps, and the button."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.app import resources
from components.app.page import guarded_part
from components.models.caps import draw_caps, draw_estimate_of
from components.models.server import session_connection
from components.widgets.first_instances import first_instances
from components.widgets.markdown import literal
from components.wording.work import System, asking_estimate, start_asking
from evidencebench_core.data import DatasetInfo
from evidencebench_core.retrievers.llm import session_for

__all__ = ["ask_dialog"]


@st.dialog("Ask what is missing", width="medium")
@guarded_part("This dialog")
def ask_dialog(dataset: DatasetInfo, systems: Sequence[System], question: str) -> None:
    """One estimate for each system that asks a server; the others are asked along."""
    n_wordings = 1 + len(resources.wording_variants(dataset, question))
    st.markdown(
        f"Each instance is asked in up to {n_wordings} wordings, the original among them, so this takes up to "
        f"{n_wordings} times what a run takes."
    )
    limit = first_instances(
        dataset,
        f"wording.limit.{dataset.id}",
        "The same instances in every wording, so that what is compared is paired.",
    )
    draw_caps()
    store, ready = resources.store(), True
    session = session_for(store, connection=session_connection())
    for system in systems:
        if system.asks_server:
            st.markdown(f"**{literal(system.label)}**")
            ready &= draw_estimate_of(
                lambda system=system: asking_estimate(dataset, system, question, session, limit),  # type: ignore[misc]
                "wording",
            )
    if len(systems) > 1:
        st.caption(
            "The caps hold for all of them together. Wording by wording is asked, retriever by retriever."
        )
    if st.button("Start", type="primary", disabled=not ready, key="wording.start"):
        start_asking(dataset, systems, question, limit)
        st.rerun()
