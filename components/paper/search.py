"""Findings in open papers, remembered while the server runs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.paper.opened import OpenPaper
from components.widgets.markdown import literal
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.runs.find import Findings, findings_in
from evidencebench_core.words import clipped_text, quantity


def findings_of(
    papers: Sequence[OpenPaper], hypothesis: str, retriever: str, budget: int, *, abstract_too: bool
) -> dict[str, Findings]:
    """Findings by the paper's ref; a search that is broken off goes on with the next paper."""
    findings, progress = {}, st.empty()
    with st.spinner(f"{retriever} reads {quantity(len(papers), 'paper')} …"):
        for done, opened in enumerate(papers):
            if done:
                progress.progress(done / len(papers), literal(clipped_text(opened.title, 60)))
            findings[opened.ref] = _findings(opened, hypothesis, retriever, budget, abstract_too)
    progress.empty()
    return findings


@st.cache_resource(
    max_entries=256,
    show_spinner=False,
    hash_funcs={OpenPaper: lambda opened: (opened.ref, hash(opened.paper.sentences))},
)
def _findings(
    opened: OpenPaper, hypothesis: str, retriever: str, budget: int, abstract_too: bool
) -> Findings:
    chosen = make_retriever(retriever)
    return findings_in(opened.read, hypothesis, chosen, budget, abstract_too=abstract_too)
