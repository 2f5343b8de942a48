"""The hypothesis of an instance, which a reader may edit or swap for a variant from the data."""

from __future__ import annotations

import streamlit as st

from components.markdown import literal
from components.state import PageState
from evidencebench_core.data import Instance

__all__ = ["hypothesis_editor"]

_MAX_CHARS = 2000


def hypothesis_editor(state: PageState, instance: Instance, param: str = "h") -> str:
    """Draw the hypothesis with its editor; returns the one that retrievers are to be asked."""
    edited = state[param].strip()
    asked = edited or instance.hypothesis
    st.markdown(f"## {literal(asked)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Edit hypothesis"):
            _editor(state, instance, asked, param)
        if instance.synthetic:
            st.badge("Synthetic paper: invented for this tool, not evidence", color="orange")
        if asked != instance.hypothesis:
            st.badge("Edited", color="blue")
            if st.button("Back to the original"):
                state.put(**{param: None})
                st.rerun()
    if asked != instance.hypothesis:
        st.caption(
            f"Original: {literal(instance.hypothesis)} The gold was made for the original; scores below assume "
            "that it still applies."
        )
    return asked


def _editor(state: PageState, instance: Instance, asked: str, param: str) -> None:
    def read(text: str) -> str | None:
        text = " ".join(text.split())
        return None if text == instance.hypothesis else text

    st.text_area(
        "Hypothesis that the retrievers are asked",
        height=120,
        max_chars=_MAX_CHARS,
        help="Press Ctrl+Enter to ask again. Empty it to go back to the original.",
        **state.widget(param, asked, read),
    )
    variants = {**instance.paraphrases, **({"negation": instance.negation} if instance.negation else {})}
    if variants:
        st.caption("Variants that come with the data")
        for name, text in variants.items():
            if st.button(f"{literal(name)}: {literal(text)}", key=f"variant.{name}", width="stretch"):
                state.put(**{param: text})
                st.rerun()
