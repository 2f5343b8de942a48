"""The hypothesis of an instance, which a reader may edit or swap for one of its other wordings.

Gold was made for the original. Of a paraphrase or negation that came with the data or a variants file we
know that it still applies; of what somebody typed we do not, so the reader is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.perturb import NEGATION, PARAPHRASE

__all__ = ["hypothesis_editor"]

_MAX_CHARS = 2000


def hypothesis_editor(
    state: PageState, dataset: DatasetInfo, instance: Instance, param: str = "h", as_if: str = "asif"
) -> tuple[str, bool]:
    """Draw the hypothesis with its editor.

    Returns
    -------
    (str, bool)
        The hypothesis that retrievers are to be asked, and whether its picks may be scored against the
        gold: for a typed one only once the reader has said so, which is kept in ``state[as_if]``.
    """
    variants = {
        name.removeprefix(PARAPHRASE): texts[instance.id]
        for name, texts in resources.wordings(dataset).items()
        if instance.id in texts
    }
    edited = state[param].strip()
    asked = edited or instance.hypothesis
    st.markdown(f"## {literal(asked)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("Edit hypothesis"):
            _editor(state, instance, asked, variants, (param, as_if))
        if instance.synthetic:
            st.markdown(":orange-background[Synthetic paper: invented for this tool, not evidence]")
        if asked != instance.hypothesis:
            st.markdown(":blue-background[Edited]")
            if st.button("Back to the original"):
                state.put(**{param: None, as_if: None})
                st.rerun()
    if asked == instance.hypothesis:
        return asked, True
    st.caption(f"Original: {literal(instance.hypothesis)} The gold was made for the original.")
    known = next((name for name, text in variants.items() if text == asked), None)
    if known is None:
        return asked, _agreed(state, as_if)
    said = (
        "This is its negation: evidence that supported the original now refutes, so the gold stays the same."
        if known == NEGATION
        else f"This is its paraphrase {literal(known)}, which asks for the same, so the gold stays the same."
    )
    st.caption(f"{said}{_made_by(dataset, instance, known)}")
    return asked, True


def _made_by(dataset: DatasetInfo, instance: Instance, name: str) -> str:
    """Who made a wording, as Markdown; empty for those that came with the data."""
    stored = name if name == NEGATION else PARAPHRASE + name
    origin = resources.wording_origins(dataset).get(stored, {}).get(instance.id)
    return "" if origin is None else f" Made by: {literal(origin.origin)}."


def _agreed(state: PageState, as_if: str) -> bool:
    """Whether the reader wants a typed hypothesis scored."""
    agreed = state[as_if] == "1"
    st.checkbox(
        "Score it as if the gold still applied",
        help="Tick this if the edited hypothesis asks for the same evidence as the original: in other words, or "
        "negated, since what supported the original then refutes it. Otherwise the scores mean nothing.",
        **state.widget(as_if, agreed, lambda ticked: "1" if ticked else None),
    )
    return agreed


def _editor(
    state: PageState, instance: Instance, asked: str, variants: Mapping[str, str], params: tuple[str, str]
) -> None:
    param, as_if = params

    def read(text: str) -> str | None:
        text = " ".join(text.split())
        return None if text == instance.hypothesis else text

    st.text_area(
        "Hypothesis that the retrievers are asked",
        height=120,
        max_chars=_MAX_CHARS,
        help="Press Ctrl+Enter to ask again. Empty it to go back to the original.",
        **state.widget(param, asked, read, reset=(as_if,)),
    )
    if variants:
        st.caption("Other wordings of this instance, from the data or a variants file")
        for name, text in variants.items():
            if st.button(f"{literal(name)}: {literal(text)}", key=f"variant.{name}", width="stretch"):
                state.put(**{param: text, as_if: None})
                st.rerun()
