"""How every part of Analyse begins: with what it found, and whether that is much to go by."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.frame.page import Context
from components.widgets.markdown import literal

FEW_PAPERS: Final = 20


def draw_finding(context: Context, text: str) -> None:
    """A finding in one sentence, and that it stands on too few papers where it does."""
    st.markdown(f"## {literal(text)}")
    n_papers = context.dataset.n_papers
    if n_papers < FEW_PAPERS:
        st.markdown(
            f":material/warning: {n_papers} papers are too few for a finding: the intervals say little."
        )
