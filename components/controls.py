"""Small controls: a switch, boxes, chips of sentences and aspects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from components.markdown import literal
from components.state import PageState
from components.table import Chip, Column, Row, TableEvent, table
from evidencebench_core.data import Aspect


def option_switch(
    state: PageState,
    param: str,
    label: str,
    options: Mapping[str, str],
    *,
    reset: Sequence[str] = (),
    **look: Any,
) -> str:
    """A few options and their words side by side; returns the one that the address names, else the default.

    A change lets ``reset`` go back to their defaults.
    """
    if state[param] not in options:
        shown = literal(options[state.defaults[param]])
        st.warning(f"There is no {param} {literal(state[param], 80)}; “{shown}” is shown instead.")
        state.put(**{param: None})
    st.segmented_control(
        label,
        list(options),
        format_func=lambda name: literal(options[name]),
        required=True,
        **look,
        **state.widget(param, state[param], reset=reset),
    )
    return state[param]


def option_box(
    state: PageState, param: str, label: str, options: Mapping[str, str], *, noun: str = "", **look: Any
) -> str:
    """The same in a box, where the first is the default; it warns of an unknown name if that has a ``noun``."""
    if noun and state[param] and state[param] not in options:
        st.warning(f"There is no {literal(noun)} {literal(state[param], 80)}; another is shown.")
    chosen = state[param] if state[param] in options else next(iter(options))
    reset = look.pop("reset", ())
    words = options.__getitem__
    st.selectbox(label, list(options), format_func=words, **look, **state.widget(param, chosen, reset=reset))
    return chosen


def mark_box(state: PageState, param: str, label: str, marks: Mapping[str, str], **look: Any) -> str:
    """The mark of a chart that was clicked, or is chosen here without a mouse; empty where none is."""
    chosen = state[param] if state[param] in marks else None
    st.selectbox(
        label,
        list(marks),
        format_func=marks.__getitem__,
        placeholder="Click a mark, or choose it here",
        **look,
        **state.widget(param, chosen, lambda mark: mark, part=label),
    )
    return chosen or ""


def aspect_chip(aspect: Aspect, number: int, filled: bool = True) -> Chip:
    """The chip of an aspect; its text, where the data has one, on hover."""
    return Chip(f"aspect:{aspect.label}", aspect.label, number, aspect.text or "", filled)


def sentence_chip(index: int, text: str = "") -> Chip:
    return Chip(f"sentence:{index}", str(index), title=text)


def go_to(state: PageState, event: TableEvent) -> None:
    """Follow a chip: show its sentence, or pin its aspect (a second click lets go)."""
    kind, _, value = event.value.partition(":") if event.kind == "chip" else ("", "", "")
    if kind == "sentence":
        state.put(sentence=value)
    elif kind == "aspect":
        state.put(aspect=None if state["aspect"] == value else value)


def chip_table(state: PageState, columns: Sequence[Column], rows: Sequence[Row], **look: Any) -> None:
    """A table beside a paper, whose chips lead to sentences and aspects of that; it scrolls where it is long."""
    table(columns, rows, on_event=partial(go_to, state), height=480, **look)
