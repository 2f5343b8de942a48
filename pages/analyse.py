"""Analyse: what a run missed and why, what a place in the paper changes, and how much wording matters."""

from __future__ import annotations

import streamlit as st

from components.analyse.missed import draw_missed
from components.analyse.position import draw_position
from components.analyse.verdicts import draw_verdicts
from components.analyse.wording import draw_wording
from components.controls import option_switch
from components.markdown import literal
from components.page import context_line, page

PARTS = {"missed": "Missed", "verdicts": "Verdicts", "position": "Position", "wording": "Wording"}

with page(
    "analyse",
    "Analyse",
    part="missed",
    run="",
    where="",
    page="",
    mark="",
    n="50",
    seed="0",
    strata="",
    question="paraphrases",
) as state:
    context = context_line(
        state,
        "What a run missed and why, where in the paper it looks, and how much the wording of a hypothesis matters.",
        n_runs=3,
    )
    switches = st.container(horizontal=True)
    with switches:
        part = option_switch(
            state, "part", "Question", PARTS, reset=("where", "page", "mark"), label_visibility="collapsed"
        )
    if not context.runs:
        st.info(f"No run has answers for {literal(context.task.title)} yet; start one under *Runs*.")
    elif part == "missed":
        draw_missed(state, context, switches)
    elif part == "verdicts":
        draw_verdicts(state, context)
    elif part == "position":
        draw_position(state, context)
    if part == "wording":
        draw_wording(state, context, switches)
