"""The dialog for everything that costs model calls: the server, choices, caps, the estimate, and the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from components.models.caps import draw_caps
from components.models.plans import draw_chosen_server, draw_plans_cost, start_plans
from components.models.server import session_model
from components.widgets.guarded import guarded_part
from evidencebench_core.llm import LLM
from evidencebench_core.runs import Plan


@dataclass(frozen=True)
class Ask:
    """Work with a model, as a dialog asks for it."""

    title: str  # of the dialog and of its job
    kind: str  # of the job, for `job_panel`
    noun: str  # what one unit is: "question"
    fields: Callable[[], Any]  # draws the choices; returns them, or None while something lacks
    plans: Callable[[LLM, Any], Sequence[Plan]]  # of these choices; called again and again: it only plans


def ask_button(ask: Ask, label: str, **options: Any) -> None:
    """A button that opens the dialog."""
    if st.button(label, **options):
        st.dialog(ask.title, width="medium")(_draw)(ask)


@guarded_part("This dialog")
def _draw(ask: Ask) -> None:
    draw_chosen_server()
    choices = ask.fields()
    draw_caps()
    model = session_model()
    if not model:
        st.info("Choose a model above first.")

    def plans(llm: LLM) -> Sequence[Plan]:
        return ask.plans(llm, choices)

    ready = choices is not None and bool(model) and draw_plans_cost(plans, ask.noun)
    if st.button("Start", type="primary", disabled=not ready, key=f"start.{ask.kind}"):
        start_plans(ask.kind, ask.title, plans, ask.noun)
        st.rerun()
