"""Reviews, cached (see `components.app.resources`)."""

from __future__ import annotations

import streamlit as st

from evidencebench_core.construction import Harvest, harvest
from evidencebench_core.papers.citations import citing_article
from evidencebench_core.papers.europe_pmc import fetched_paper


@st.cache_resource(max_entries=4, show_spinner="Reading the review …")
def review_citations(content: bytes, name: str) -> Harvest:
    """The citations of a review's file."""
    return harvest(citing_article(content, name))


@st.cache_resource(max_entries=4, show_spinner="Fetching the review …")
def fetched_citations(reference: str) -> Harvest:
    """The same of a review that Europe PMC has."""
    fetched = fetched_paper(reference)
    return harvest(citing_article(fetched.content, fetched.name))
