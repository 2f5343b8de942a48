"""Retrievers that are asked live."""

from __future__ import annotations

import streamlit as st

from components.app import resources
from components.app.choices import Choice
from components.app.reading import Reading
from components.app.resources import KEYS
from evidencebench_core.errors import EvidenceBenchError, RetrieverError
from evidencebench_core.retrievers import (
    RETRIEVERS,
    Retrieval,
    Retriever,
    make_retriever,
    retriever_entry,
)
from evidencebench_core.runs import RunInfo, RunStore


def problem_of(run: RunInfo) -> str:
    """Why a run's retriever can be asked nothing more (it was cross-validated, say, or is not installed), or ""."""
    try:
        if not retriever_entry(run.retriever).sees_gold:
            make_retriever(run.retriever, run.settings)
    except EvidenceBenchError as error:
        return str(error)
    return ""


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=KEYS)
def _retriever(choice: Choice) -> Retriever:
    return make_retriever(choice.name, choice.settings)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=KEYS)
def retrieval(reading: Reading, choice: Choice) -> Retrieval:
    """Picks of a retriever, right now.

    ``RetrieverError`` for one that asks a server: it may cost, so it is asked on a click (`models.asking`).
    """
    entry = RETRIEVERS[choice.name]
    if entry.asks_server:
        raise RetrieverError(
            f"retriever {choice.name}", "is not asked by itself", "Ask it on the page Browse."
        )
    if entry.sees_gold and reading.dataset is not None:
        retriever = make_retriever(choice.name, choice.settings, evidence=reading.instance.evidence)
    else:
        retriever = _retriever(choice)
    return retriever.retrieve(reading.query())


def stored_retrieval(reading: Reading, run: RunInfo) -> Retrieval | None:
    """The answer of a run to this reading; ``None`` where it was asked for another hypothesis, or not at all."""
    if reading.hypothesis != reading.instance.hypothesis:
        return None
    return RunStore(resources.store()).retrieval(run.id, reading.task.name, reading.instance.id)
