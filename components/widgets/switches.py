"""Switches that show and change a value of the page's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from components.app.state import PageState
from components.widgets.markdown import literal


def option_switch(
    state: PageState,
    param: str,
    label: str,
    options: Mapping[str, str],
    *,
    reset: Sequence[str] = (),
    fallback: str = "",
    **look: Any,
) -> str:
    """A few options and their words side by side; returns the one that the address names, else the default.

    A change lets ``reset`` go back to their defaults; ``fallback`` is what "is shown instead" of an unknown name.
    """
    if state[param] not in options:
        if fallback:
            named = literal(state[param], 80)
            st.warning(f"There is no {param} {named}; {fallback} shown instead.")
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


def on_off_switch(
    state: PageState, param: str, label: str, *, reset: Sequence[str] = (), **look: Any
) -> bool:
    """A toggle; the address has ``1`` where it is on."""
    on = state[param] == "1"
    st.toggle(label, **look, **state.widget(param, on, lambda now: "1" if now else "", reset=reset))
    return on
