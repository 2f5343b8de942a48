"""Caps, estimates and spending of runs that ask a server, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import streamlit as st

from components.app import resources
from components.app.jobs import Job, JobStopped
from components.app.session import session_text, session_text_widget
from components.models.server import (
    address_text,
    session_connection,
)
from components.widgets.markdown import literal
from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError
from evidencebench_core.llm import LLM, Budget, Spending
from evidencebench_core.runs import RunEstimate
from evidencebench_core.runs.engines.batch import batches_under_way
from evidencebench_core.words import quantity


def session_budget() -> Budget:
    """A new budget with the caps of this session."""
    calls, tokens, money = (session_text(f"llm.cap.{name}") for name in ("calls", "tokens", "money"))
    return Budget(
        int(calls) if calls else None, int(tokens) if tokens else None, float(money) if money else None
    )


_CAPS: Final[tuple[tuple[str, str, type[int] | type[float], float, str], ...]] = (
    ("calls", "Most calls", int, 10, "Answers in the store are no calls."),
    ("tokens", "Most tokens", int, 10_000, "Of prompts and answers together."),
    ("money", "Most dollars", float, 0.5, "Needs the model's price: see docs/models.md."),
)


def draw_caps() -> None:
    """Caps in calls, tokens and dollars; empty ones do not count."""
    for column, (name, label, kind, step, help_text) in zip(st.columns(len(_CAPS)), _CAPS, strict=True):
        with column:
            st.number_input(
                label,
                min_value=kind(0),
                value=None,
                step=kind(step),
                placeholder="no cap",
                help=help_text,
                **_cap_widget(name, kind),
            )
    st.caption(
        "A run that reaches a cap stops there. What is answered is kept, and costs nothing the next time."
    )


def _cap_widget(name: str, kind: type[int] | type[float]) -> dict[str, Any]:
    def read(value: float | None) -> str:
        return "" if value is None else str(value)

    widget = session_text_widget(f"llm.cap.{name}", read=read)
    text = session_text(f"llm.cap.{name}")
    st.session_state[widget["key"]] = kind(text) if text else None
    return widget


def session_llm(budget: Budget | None = None) -> LLM:
    """The server of this browser session, with its answers kept in the store."""
    return LLM(session_connection(), resources.store(), budget=budget)


def closing_note(job: Job, budget: Budget | None, steps: Iterable[tuple[int, int, str]]) -> str:
    """Report the steps of a job (done, total, what came of it so far); the last, what was asked, how to go on.

    A job that reaches a cap ends as stopped, under the same note and the cap.
    """
    text = "Nothing was asked."

    def note(text: str) -> str:
        return text if budget is None else f"{text} Asked: {spent_text(budget.spent)}."

    try:
        for done, total, text in steps:
            job.report(done, total, note(text))
    except BudgetReachedError as reached:
        raise JobStopped(f"{note(text)} {reached}") from reached
    return f"{note(text)} Start it again to go on where it stopped." if job.cancelled() else note(text)


def draw_batches(run_ids: Iterable[str]) -> None:
    """A warning where a server may still have batches of these runs, which who asks now pays twice."""
    for run_id in run_ids:
        for address, n in batches_under_way(resources.store(), run_id).items():
            st.warning(
                f"{quantity(n, 'batch')} of this run may still be under way at {literal(address)}: "
                "`evidencebench run --engine batch` goes on with them. What is asked otherwise is paid twice."
            )


def draw_estimate(made: Callable[[], RunEstimate], noun: str = "instance") -> bool:
    """Draw the cost of work with the session's server; returns whether it can begin.

    Parameters
    ----------
    made : callable
        Makes the estimate; may take its time, and raise an error of ours, which is shown.
    noun : str
        What ``n_instances`` of the estimate counts.
    """
    connection = session_connection()
    try:
        with st.spinner("Estimating …"):
            cost = made()
    except EvidenceBenchError as error:
        st.warning(literal(str(error)))
        return False
    asked = f" {literal(cost.model)} is asked, at {address_text(connection)}." if cost.calls else ""
    st.info(f"{estimate_text(cost, noun)}{asked}")
    if cost.calls and cost.price is None and session_text("llm.cap.money"):
        st.warning("A cap in dollars needs the model's price. See docs/models.md.")
        return False
    return True


def estimate_text(cost: RunEstimate, noun: str = "instance") -> str:
    """``"96 instances, about 96 calls, 1,200,000 tokens, $1.23."``, as Markdown."""
    if not cost.calls:
        return "Nothing is left to ask: every answer is in the store."
    tokens = cost.prompt_tokens + cost.completion_tokens
    each = round(cost.calls / max(1, cost.n_instances))
    parts = [
        quantity(cost.n_instances, noun),
        f"about {quantity(cost.calls, 'call')}{f' ({each:,} each)' if each > 1 else ''}",
        f"{tokens:,} tokens",
    ]
    price = cost.price
    if price is None:
        parts.append(f"the price of {literal(cost.model)} is not known: tokens only")
    else:
        parts.append(f"{literal(dollars(cost.money))} (prices of {literal(price.date or 'your table')})")
    kept_answers = f" {quantity(cost.cached, 'answer')} in the store cost nothing." if cost.cached else ""
    looked = f" Estimated from {cost.n_looked_at:,} instances." if cost.n_looked_at < cost.n_instances else ""
    return f"{', '.join(parts)}.{kept_answers}{looked}"


def spent_text(spent: Spending) -> str:
    """``"12 calls, 34,000 tokens, $0.12"``, plain."""
    parts = [quantity(spent.calls, "call"), f"{spent.tokens:,} tokens"]
    if spent.calls:
        parts.append("price unknown" if spent.money is None else dollars(spent.money))
    if spent.cached:
        parts.append(f"{spent.cached:,} from the store")
    if spent.failed:
        parts.append(quantity(spent.failed, "failed call"))
    return ", ".join(parts)


def dollars(money: float | None) -> str:
    """``$1.20``, with four decimals below ten cents; ``price unknown`` for ``None``."""
    if money is None:
        return "price unknown"
    return f"${money:,.2f}" if money >= 0.1 or money == 0 else f"${money:,.4f}"
