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
from components.wording.review import draw_dataset_review, draw_review
from components.wording.wordings import draw_wordings
from components.wording.writing import draw_make
from evidencebench_core.data import DatasetInfo
from evidencebench_core.perturb import Drafts, HypothesisDrafts
from evidencebench_core.reliability.drafts import ItemDrafts
from evidencebench_core.reliability.items import item_sets

DEFAULTS = {
    "dataset": "",
    "items": "",
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
ITEM_PARTS = {name: PARTS[name] for name in ("make", "review")}
_DRAWN: Mapping[str, Callable[[PageState, DatasetInfo], None]] = {
    "wordings": draw_wordings,
    "make": lambda state, dataset: draw_make(state, HypothesisDrafts(resources.store(), dataset.name)),
    "review": draw_dataset_review,
}


def draw(state: PageState) -> None:
    st.title("Wording")
    if state["items"]:
        draw_items(state)
    else:
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
        if names := question_sets():
            st.button(
                "Questions of an item set", on_click=lambda: state.put(items=names[0], part=None, at=None)
            )
    tell_of_gold(dataset)
    draw_parts(state, HypothesisDrafts(resources.store(), dataset.name), PARTS)
    if task is None:
        _DRAWN[state["part"]](state, dataset)
    else:
        draw_effect(state, dataset, task)


def draw_items(state: PageState) -> None:
    """The questions and contexts of an item set."""
    st.markdown(
        "Would a model have given the same answer, had the question or its context been worded differently?"
    )
    names = question_sets()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if state["items"] in names:
            st.selectbox("Item set", names, **state.widget("items", state["items"], reset=("at", "drafts")))
            copy_link(state.link("part"))
        st.button("Hypotheses of a dataset", on_click=lambda: state.put(items=None, part=None, at=None))
    drafts = ItemDrafts(resources.store(), state["items"])
    if state["part"] not in ITEM_PARTS:
        state.put(part="review" if any(drafts.counts().values()) else "make")
    draw_parts(state, drafts, ITEM_PARTS)
    if state["part"] == "make":
        draw_make(state, drafts)
    else:
        draw_review(state, drafts)


def question_sets() -> list[str]:
    """Names of the item sets whose questions and contexts can be reworded."""
    return [info.name for info in item_sets(resources.store()) if info.kind == "questions"]


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
