"""How every part of Analyse begins: with what it found, and whether that is much to go by."""

from __future__ import annotations

import streamlit as st

from components.markdown import literal
from components.page import Context
from components.run_links import parts_text
from evidencebench_core.stats import FEW_PAPERS, interval_note


def draw_finding(context: Context, text: str) -> None:
    """A finding in one sentence, and that it stands on too few papers where it does; none of part of a run."""
    if parts := parts_text(context.runs, context.task):
        text = f"Nothing to conclude yet: {parts} answered."
    st.markdown(f"## {literal(text)}")
    n_papers = context.dataset.n_papers
    if n_papers < FEW_PAPERS:
        st.markdown(f":material/warning: {literal(interval_note(n_papers))}.")
