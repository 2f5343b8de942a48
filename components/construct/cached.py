"""Reviews, cached (see `components.app.resources`)."""

from __future__ import annotations

import streamlit as st

from evidencebench_core.construction import Harvest, harvest
from evidencebench_core.papers.citations import citing_article


@st.cache_resource(max_entries=4, show_spinner="Reading the review …")
def review_citations(content: bytes, name: str) -> Harvest:
    """The citations of a review's file."""
    return harvest(citing_article(content, name))
