"""The hypothesis of an instance, which a reader may edit or swap for one of its other wordings.

Gold was made for the original. Of a paraphrase or negation that came with the data or a variants file we
know that it still applies; of what somebody typed we do not, so the reader is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import streamlit as st

from components import resources
from components.markdown import literal
from components.state import PageState
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.perturb import NEGATION, PARAPHRASE

_MAX_CHARS = 2000


def hypothesis_editor(state: PageState, dataset: DatasetInfo, instance: Instance) -> tuple[str, bool]:
    """Draw the hypothesis with its editor: what retrievers are to be asked, and whether the gold applies.

    For a typed hypothesis it applies only once the reader has said so, which ``state["asif"]`` keeps.
    """
    wordings = {
        name: texts[instance.id]
        for name, texts in resources.wordings(dataset).items()
        if instance.id in texts
    }
    asked = state["h"].strip() or instance.hypothesis
    with st.container(horizontal=True, gap="xsmall", key="hypothesis"):
        st.markdown(f"# {literal(asked)}")
        with st.popover("Edit hypothesis", key=f"edit-{crc32(asked.encode())}"):  # closed once it was edited
            _editor(state, instance, asked, wordings)
        if asked != instance.hypothesis:
            st.button("Back to the original", on_click=state.put, kwargs={"h": None, "asif": None})
    if asked == instance.hypothesis:
        return asked, True
    st.caption(
        f":blue-background[Edited] Original: {literal(instance.hypothesis)} The gold was made for the original."
    )
    known = next((name for name, text in wordings.items() if text == asked), None)
    if known is None:
        agreed = state["asif"] == "1"
        st.checkbox(
            "Score it as if the gold still applied",
            help="Tick this if the edited hypothesis asks for the same evidence as the original: in other words, or "
            "negated, since what supported the original then refutes it. Otherwise the scores mean nothing.",
            **state.widget("asif", agreed, lambda ticked: "1" if ticked else None),
        )
        return asked, agreed
    why = (
        "This is its negation: evidence that supported the original now refutes, so the gold stays the same."
        if known == NEGATION
        else f"This is its paraphrase {literal(known.removeprefix(PARAPHRASE))}, which asks for the same, so the gold "
        "stays the same."
    )
    maker = resources.wording_makers(dataset).get((known, instance.id))
    st.caption(f"{why} Made by: {literal(maker)}." if maker else why)
    return asked, True


def _editor(state: PageState, instance: Instance, asked: str, wordings: Mapping[str, str]) -> None:
    def read(text: str) -> str | None:
        text = " ".join(text.split())
        return None if text == instance.hypothesis else text

    st.text_area(
        "Hypothesis that the retrievers are asked",
        height=120,
        max_chars=_MAX_CHARS,
        help="Press Ctrl+Enter to ask again. Clear it to go back to the original.",
        **state.widget("h", asked, read, reset=("asif",)),
    )
    if wordings:
        st.caption("Other wordings of this instance, from the data or a variants file")
    for name, text in wordings.items():
        st.button(
            f"{literal(name.removeprefix(PARAPHRASE))}: {literal(text)}",
            key=f"wording.{name}",
            width="stretch",
            on_click=state.put,
            kwargs={"h": text, "asif": None},
        )
