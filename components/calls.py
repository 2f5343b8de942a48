"""What a model was asked for a selection and what it said, call by call."""

from __future__ import annotations

from typing import Final

import streamlit as st

from components import resources
from components.markdown import literal
from evidencebench_core.llm.answers import request_of
from evidencebench_core.llm.parse import OUTCOME_KINDS
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.llm.retriever import calls_in, reasons_in
from evidencebench_core.retrievers.llm.strategies import CallRecord
from evidencebench_core.runs.outcomes import OUTCOME_FLAGS
from evidencebench_core.words import dollars, quantity

_SHORT: Final = 400  # characters of a text that needs no scrolling
_LONGEST: Final = 200_000  # characters of an answer or a prompt


def outcome_line(retrieval: Retrieval) -> str:
    """The outcome by name, as Markdown; empty for a retriever that asks no model."""
    kind, *flags = retrieval.details.get("outcome", "").split() or [""]
    if not kind:
        return ""
    of = f" of {len(retrieval.selection):,}" if kind == "selection" else ""
    words = [OUTCOME_FLAGS.get(flag, literal(flag)) for flag in flags]
    return ", ".join([f"**{OUTCOME_KINDS.get(kind, literal(kind))}**{of}", *words])


def reason_line(retrieval: Retrieval, index: int) -> str:
    """The model's reason for a pick, as Markdown; empty if it gave none."""
    reason = reasons_in(retrieval).get(index, "")
    return f"“{literal(reason, 1200)}”" if reason else ""


def draw_calls(letter: str, label: str, retrieval: Retrieval) -> None:
    calls = calls_in(retrieval)
    if not calls:
        return
    with st.expander(f"{letter} {literal(label)}: what it was asked and what it said"):
        strategy = literal(retrieval.details.get("strategy", ""))
        seconds = sum(call.answer.seconds for call in calls)
        st.markdown(
            f"Strategy {strategy}: {outcome_line(retrieval)}. {quantity(len(calls), 'call')}, {seconds:.1f} s."
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
    """Plain text in a box of at most ``height`` pixels; only the beginning and the end of a very long one."""
    if len(text) > _LONGEST:
        st.caption(f"{len(text) - _LONGEST:,} of {len(text):,} characters are left out in the middle.")
        half = _LONGEST // 2
        text = f"{text[:half]}\n\n[...]\n\n{text[-half:]}"
    st.code(text, language=None, wrap_lines=True, height=height if len(text) > _SHORT else "content")
