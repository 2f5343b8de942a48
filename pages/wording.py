"""Wording: what paraphrases, negation and spelling errors do to retrievers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from components.app import resources
from components.app.page import dataset_picker, guard, tell_of_gold
from components.app.state import PageState
from components.widgets.copy_link import copy_link
from components.widgets.switches import option_switch
from components.widgets.task_picker import task_picker
from components.wording.effect import draw_effect
from components.wording.review import draw_dataset_review
from components.wording.wordings import draw_wordings
from components.wording.writing import draw_make
from evidencebench_core.data import DatasetInfo
from evidencebench_core.perturb import Drafts, HypothesisDrafts

DEFAULTS = {
    "dataset": "",
    "task": "er@optimal",
    "r": "bm25",
    "question": "paraphrases",
    "instance": "",
    "system": "0",
    "step": "",
    "part": "effect",
    "name": "",
    "drafts": "waiting",
    "at": "0",
}
PARTS = {
    "effect": "What wording does",
    "wordings": "Wordings there are",
    "make": "Write with a model",
    "review": "Review drafts",
}
_DRAWN: Mapping[str, Callable[[PageState, DatasetInfo], None]] = {
    "wordings": draw_wordings,
    "make": lambda state, dataset: draw_make(state, HypothesisDrafts(resources.store(), dataset.name)),
    "review": draw_dataset_review,
}


def draw(state: PageState) -> None:
    st.title("Wording")
    draw_hypotheses(state)


def draw_hypotheses(state: PageState) -> None:
    """The hypotheses of a dataset."""
    st.markdown("Would a retriever have found the same evidence, had the hypothesis been worded differently?")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = dataset_picker(state)
        if dataset is None:
            return
        task = task_picker(state) if state["part"] not in _DRAWN else None
        copy_link(state.link("task", "r", "question", dataset=dataset.name))
    tell_of_gold(dataset)
    draw_parts(state, HypothesisDrafts(resources.store(), dataset.name), PARTS)
    if task is None:
        _DRAWN[state["part"]](state, dataset)
    else:
        draw_effect(state, dataset, task)


def draw_parts(state: PageState, drafts: Drafts, parts: Mapping[str, str]) -> None:
    """The switch of the parts, with how much there is to review."""
    waiting = drafts.counts()["waiting"]
    words = {**parts, "review": f"{parts['review']} ({waiting:,})"} if waiting else parts
    option_switch(
        state,
        "part",
        "Part of the page",
        words,
        fallback="what wording does is",
        label_visibility="collapsed",
    )


with guard():
    draw(PageState("wording", DEFAULTS))
