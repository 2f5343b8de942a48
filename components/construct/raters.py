"""A build's paper to be marked by hand; who marked it in the build is an annotator to compare with (rule 35)."""

from __future__ import annotations

from types import MappingProxyType
from urllib.parse import quote, unquote

import streamlit as st

from components.app.state import PageState
from components.construct.start import construction_here
from evidencebench_core.construction.decisions import Review, annotations_of
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.papers import Paper
from evidencebench_core.papers.marked import MarkedPaper

KEY = "build:"
"""Begins the keys of these papers."""


def build_key(name: str, review: Review) -> str:
    """The key of annotations of a build's paper, as it was read."""
    pool = review.state.pool
    return f"{KEY}{quote(name, safe='')}/{review.state.id}@{pool.sha256[:12] if pool else ''}"


def marked_build(key: str) -> MarkedPaper:
    """The paper of a key; `UnknownNameError` if its build is gone, or its paper was read again."""
    name, build = _named(key)
    made = construction_here(name)
    (review,) = made.reviews([build])
    pool = review.state.pool
    if pool is None or key != build_key(made.name, review):
        remedy = "Open its instance again."
        raise UnknownNameError(f"paper {shown(key, 60)}", "was read again since, or is not there", remedy)
    paper = Paper(
        pool.paper_id, pool.title, pool.sentences, pool.sentence_types, "text", MappingProxyType({}), ()
    )
    prompt = str(made.specs["alignment"].settings["prompts"][0])
    called = pool.title or review.state.id
    return MarkedPaper(key, called, review.state.hypothesis, paper, others=annotations_of(review, prompt))


def draw_way_back(state: PageState, key: str) -> None:
    """To the build, and what is to be known of its annotators."""
    name, build = _named(key)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Back to the instance", key="to-build"):
            state.put(**dict.fromkeys(state.defaults) | {"construction": name, "build": build})
            st.rerun()
        if state["view"] == "compare":
            st.caption(
                "(assisted): decided with the proposals in sight, which sways people. To see how far the model agrees "
                "with people, compare it with marks made by hand or (blind).",
                width="content",
            )


def _named(key: str) -> tuple[str, str]:
    """The construction and the build of a key."""
    name, _, rest = key.removeprefix(KEY).partition("/")
    return unquote(name), rest.rpartition("@")[0]
