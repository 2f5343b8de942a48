"""The hypothesis of an instance, which a reader may edit or swap for one of its other wordings.

Gold was made for the original. Of a paraphrase or negation that came with the data or a variants file we
know that it still applies; of what somebody typed we do not, so the reader is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.app import resources
from components.app.state import PageState
from components.widgets.copy_link import copy_link
from components.widgets.markdown import literal
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.perturb import NEGATION, PARAPHRASE

_MAX_CHARS = 2000


def hypothesis_editor(state: PageState, dataset: DatasetInfo, instance: Instance) -> tuple[str, bool]:
    """Draw the hypothesis with its editor: what retrievers are to be asked, and whether the gold applies.

    For a typed hypothesis it applies only once the reader has said so, which ``state["asif"]`` keeps.
    """
    variants = {
        name.removeprefix(PARAPHRASE): texts[instance.id]
        for name, texts in resources.wordings(dataset).items()
        if instance.id in texts
    }
    asked = state["h"].strip() or instance.hypothesis
    with st.container(horizontal=True, gap="xsmall", key="hypothesis"):
        st.markdown(f"# {literal(asked)}")
        with st.popover("Edit hypothesis"):
            _editor(state, instance, asked, variants)
        copy_link(state.link("instance", "task", "r", dataset=dataset.name))
        if asked != instance.hypothesis and st.button("Back to the original"):
            state.put(h=None, asif=None)
            st.rerun()
    if asked == instance.hypothesis:
        return asked, True
    st.caption(
        f":blue-background[Edited] Original: {literal(instance.hypothesis)} The gold was made for the original."
    )
    known = next((name for name, text in variants.items() if text == asked), None)
    if known is None:
        return asked, _gold_applies_to_typed(state)
    why = (
        "This is its negation: evidence that supported the original now refutes, so the gold stays the same."
        if known == NEGATION
        else f"This is its paraphrase {literal(known)}, which asks for the same, so the gold stays the same."
    )
    st.caption(f"{why}{_maker(dataset, instance, known)}")
    return asked, True


def _maker(dataset: DatasetInfo, instance: Instance, name: str) -> str:
    """Who made a wording, as Markdown; empty for those that came with the data."""
    stored = name if name == NEGATION else PARAPHRASE + name
    origin = resources.wording_origins(dataset).get((stored, instance.id))
    return f" Made by: {literal(origin)}." if origin else ""


def _gold_applies_to_typed(state: PageState) -> bool:
    agreed = state["asif"] == "1"
    st.checkbox(
        "Score it as if the gold still applied",
        help="Tick this if the edited hypothesis asks for the same evidence as the original: in other words, or "
        "negated, since what supported the original then refutes it. Otherwise the scores mean nothing.",
        **state.widget("asif", agreed, lambda ticked: "1" if ticked else None),
    )
    return agreed


def _editor(state: PageState, instance: Instance, asked: str, variants: Mapping[str, str]) -> None:
    def read(text: str) -> str | None:
        text = " ".join(text.split())
        return None if text == instance.hypothesis else text

    st.text_area(
        "Hypothesis that the retrievers are asked",
        height=120,
        max_chars=_MAX_CHARS,
        help="Press Ctrl+Enter to ask again. Empty it to go back to the original.",
        **state.widget("h", asked, read, reset=("asif",)),
    )
    if variants:
        st.caption("Other wordings of this instance, from the data or a variants file")
        for name, text in variants.items():
            if st.button(f"{literal(name)}: {literal(text)}", key=f"variant.{name}", width="stretch"):
                state.put(h=text, asif=None)
                st.rerun()
