"""Lost in the middle: where evidence stands, where runs look, and what a place in the paper changes."""

from __future__ import annotations

import streamlit as st

from components.app.page import dataset_picker, guard, tell_of_gold
from components.app.state import PageState
from components.middle.along import ALONG_DEFAULTS, draw_along
from components.middle.split import SPLIT_DEFAULTS, draw_split
from components.middle.view import View
from components.widgets.copy_link import copy_link
from components.widgets.runs import run_picker
from components.widgets.switches import option_switch
from components.widgets.task_picker import task_picker

DEFAULTS = {
    "dataset": "",
    "task": "er@optimal",
    "runs": "",
    "view": "along",
    "mark": "",
    **ALONG_DEFAULTS,
    **SPLIT_DEFAULTS,
}
VIEWS = {
    "along": ("Along the paper", draw_along),
    "ends": ("Ends against middle", draw_split),
}


def draw(state: PageState) -> None:
    st.title("Lost in the middle")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = dataset_picker(state)
        if dataset is None:
            return
        task = task_picker(state)
        copy_link(state.link("task", dataset=dataset.name))
    tell_of_gold(dataset)
    runs = run_picker(
        state,
        dataset,
        task,
        most=4,
        at_first=3,
        reset=("mark",),
        empty="Below is what the gold alone says; Runs starts them.",
    )
    words = {name: said for name, (said, _) in VIEWS.items()}
    view = option_switch(state, "view", "Question", words, reset=("mark",), label_visibility="collapsed")
    VIEWS[view][1](View(state, dataset, task, runs))


with guard():
    draw(PageState("middle", DEFAULTS))
