"""Caps and estimates of work that asks a server."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.app.session import local_widget, session_connection, session_text, set_session_text
from components.widgets.markdown import literal
from evidencebench_core.llm import LLM, Budget
from evidencebench_core.runs import RunEstimate
from evidencebench_core.words import quantity

_CAPS: Final[tuple[tuple[str, str, type[int] | type[float], float, str], ...]] = (
    ("calls", "Most calls", int, 10, "Answers in the store are no calls."),
    ("tokens", "Most tokens", int, 10_000, "Of prompts and answers together."),
    ("money", "Most dollars", float, 0.5, "Needs the model's price: see docs/models.md."),
)


def session_budget() -> Budget:
    """A new budget with the caps of this session."""
    caps = {name: session_text(f"llm.cap.{name}") for name, *_ in _CAPS}
    return Budget(*(kind(caps[name]) if caps[name] else None for name, _, kind, *_ in _CAPS))  # type: ignore[arg-type]


def session_llm(budget: Budget | None = None) -> LLM:
    """The server of this browser session, with its answers kept in the store."""
    return LLM(session_connection(), resources.store(), budget or Budget())


def draw_caps() -> None:
    """Caps in calls, tokens and dollars; empty ones do not count."""
    for column, (name, label, kind, step, help_text) in zip(st.columns(len(_CAPS)), _CAPS, strict=True):
        text = session_text(f"llm.cap.{name}")
        value = column.number_input(
            label,
            min_value=kind(0),
            step=kind(step),
            placeholder="no cap",
            help=help_text,
            **local_widget(f"cap.{name}", kind(text) if text else None),
        )
        set_session_text(f"llm.cap.{name}", "" if value is None else str(value))
    st.caption("A run stops before it passes a cap; earlier starts of it count. Stored answers cost nothing.")


def estimate_text(cost: RunEstimate, noun: str = "instance") -> str:
    """``"96 instances, about 96 calls, 690,000 to 770,000 tokens, $0.90 to $1.57 (from 96 guesses)."``, as Markdown."""
    if not cost.calls:
        return "Nothing is left to ask: every answer is in the store."
    each = round(cost.calls / max(1, cost.n_instances))
    calls = f"about {quantity(cost.calls, 'call')}{f' ({each:,} each)' if each > 1 else ''}"
    parts = [quantity(cost.n_instances, noun), calls, literal(cost.range_text())]
    prices = f" Prices: {literal(cost.price_source)}." if cost.price_source else ""
    stored = f" {quantity(cost.cached, 'answer')} in the store cost nothing." if cost.cached else ""
    sample = (
        f" Estimated from {quantity(cost.n_looked_at, noun)}." if cost.n_looked_at < cost.n_instances else ""
    )
    return f"{', '.join(parts)}.{prices}{stored}{sample}"
