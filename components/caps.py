"""The model of this session, and the most that it may be asked."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.guarded import guarded_part
from components.markdown import literal
from components.server import draw_chosen_server, session_model
from components.state import session_connection
from evidencebench_core.llm import LLM, Budget
from evidencebench_core.runs import RunEstimate
from evidencebench_core.words import quantity

_CAPS: Final[tuple[tuple[str, str, type[int] | type[float], float, str], ...]] = (
    ("calls", "Most calls", int, 10, "Answers in the store are no calls."),
    ("tokens", "Most tokens", int, 10_000, "Of prompts and answers together."),
    ("money", "Most dollars", float, 0.5, "Needs the model's price: see docs/models.md."),
)


def session_budget() -> Budget:
    return Budget(**{name: st.session_state.get(f"kept.llm.cap.{name}") for name, *_ in _CAPS})


def session_llm(budget: Budget | None = None) -> LLM:
    """The server of this session; answers are kept in the store."""
    return LLM(session_connection(), resources.store(), budget or Budget())


def model_button(key: str = "") -> None:
    """A button with the model's name that opens the dialog of its server and caps."""
    label = literal(session_model(), 40) or "Ask a language model"
    if st.button(label, icon=":material/tune:", help="Its server, key and caps", key=f"model.{key}"):
        model_dialog()


@st.dialog("Language model", width="medium", on_dismiss="rerun")
@guarded_part("This dialog")
def model_dialog() -> None:
    draw_chosen_server()
    draw_caps()


def draw_caps() -> None:
    for column, (name, label, kind, step, help_text) in zip(st.columns(len(_CAPS)), _CAPS, strict=True):
        column.number_input(
            label,
            min_value=kind(0),
            value=None,
            step=kind(step),
            placeholder="no cap",
            help=help_text,
            key=f"kept.llm.cap.{name}",
            persist_state="session",
        )
    st.caption(
        "A run stops before it passes a cap, its earlier starts counted, and goes on when started again."
    )


def estimate_text(cost: RunEstimate, noun: str = "instance") -> str:
    """``"96 instances, about 96 calls, 690,000 to 770,000 tokens, $0.90 to $1.57 (from 96 guesses)."``, as Markdown."""
    if not cost.calls:
        return "Nothing is left to ask: every answer is in the store."
    calls = f"about {quantity(cost.calls, 'call')}"
    parts = [f"{quantity(cost.n_instances, noun)}, {calls}, {literal(cost.range_text())}."]
    if cost.price_source:
        parts.append(f"Prices: {literal(cost.price_source)}.")
    if cost.cached:
        parts.append(f"{quantity(cost.cached, 'answer')} in the store cost nothing.")
    if cost.n_looked_at < cost.n_instances:
        parts.append(f"Estimated from {quantity(cost.n_looked_at, noun)}.")
    return " ".join(parts)
