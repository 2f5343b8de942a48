"""The calls of a model, one by one, and what came of them; its words only ever as plain text."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components.app import resources
from components.widgets.markdown import literal
from evidencebench_core.llm.answers import request_of
from evidencebench_core.llm.parse import OUTCOME_KINDS
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.llm.retriever import calls_in, outcome_of, reasons_in
from evidencebench_core.retrievers.llm.strategies import CallRecord
from evidencebench_core.words import dollars, quantity

_SHORT: Final = 400  # characters of a text that needs no box to scroll in
_LONGEST: Final = 200_000  # characters of an answer or a prompt


def outcome_line(retrieval: Retrieval, budget: int | None) -> str:
    """The outcome by name, as Markdown; empty for a retriever that asks no model."""
    kind = outcome_of(retrieval)
    if not kind:
        return ""
    n_picks = len(retrieval.selection)
    of = f" of {n_picks:,}" if kind == "selection" else ""
    parts = [f"**{OUTCOME_KINDS.get(kind, literal(kind))}**{of}"]
    if budget is not None and n_picks > budget:
        parts.append(f"{n_picks} picks where K is {budget}: scored by expectation over every K of them")
    if n_unknown := retrieval.details.get("n_unknown"):
        parts.append(f"indices that were not shown: {n_unknown:,}, left out")
    flags = retrieval.details.get("outcome", "").split()
    if "partly" in flags:
        parts.append("at least one part of the paper, or one point searched for, was lost")
    if "regenerated" in flags:
        parts.append("asked once more for fewer")
    return "; ".join(parts)


def reason_line(retrieval: Retrieval, index: int) -> str:
    """The model's reason for a pick, as Markdown; empty if it gave none."""
    reason = reasons_in(retrieval).get(index, "")
    return f"“{literal(reason, 1200)}”" if reason else ""


def draw_calls(letter: str, label: str, retrieval: Retrieval) -> None:
    """An expander with every call: prompt, raw answer, tokens, seconds, cost."""
    calls = calls_in(retrieval)
    if not calls:
        return
    with st.expander(f"{letter} {literal(label)}: what it was asked and what it said"):
        strategy = literal(retrieval.details.get("strategy", ""))
        seconds = sum(call.answer.seconds for call in calls)
        st.markdown(
            f"Strategy {strategy}: {outcome_line(retrieval, None)}. {quantity(len(calls), 'call')}, {seconds:.1f} s."
        )
        if not retrieval.selection:
            st.caption("Nothing was picked, and nothing is invented in its place.")
        place = 0
        if len(calls) > 1:
            place = st.selectbox(
                "Call",
                range(len(calls)),
                format_func=lambda n: f"{n + 1}. {calls[n].step}",
                key=f"call.{letter}.{len(calls)}",
            )
        _draw_call(calls[place], letter)


def _draw_call(call: CallRecord, letter: str) -> None:
    kind = literal(OUTCOME_KINDS.get(call.kind, call.kind) or "not a choice of sentences")
    answer = call.answer
    tokens = "no count"
    if answer.prompt_tokens:
        tokens = f"{answer.prompt_tokens:,} + {answer.completion_tokens:,} tokens"
    cost = literal(dollars(call.cost))
    st.markdown(f"Prompt **{literal(call.prompt)}** · {kind} · {tokens} · {answer.seconds:.1f} s · {cost}")
    if answer.left_out:
        st.caption(f"The server did not take: {literal(', '.join(answer.left_out))}.")
    for title, text in (("Refusal", answer.refusal), ("Thoughts", answer.reasoning)):
        if text:
            st.markdown(title)
            _draw_text(text, 200)
    st.markdown("Raw answer")
    _draw_text(answer.text or "(empty)", 260)
    if st.toggle("Show the prompt", key=f"prompt-of.{letter}"):
        request = request_of(resources.store(), answer.key) or {}
        for message in request.get("messages", ()):
            st.caption(literal(message["role"]))
            _draw_text(message["content"], 320)


def _draw_text(text: str, height: int) -> None:
    """Text as it is, in at most so many pixels; of one too long for a browser the beginning and the end."""
    if len(text) > _LONGEST:
        st.caption(f"{len(text) - _LONGEST:,} of {len(text):,} characters are left out in the middle.")
        half = _LONGEST // 2
        text = f"{text[:half]}\n\n[...]\n\n{text[-half:]}"
    st.code(text, language=None, wrap_lines=True, height=height if len(text) > _SHORT else "content")
