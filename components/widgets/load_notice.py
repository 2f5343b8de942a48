"""A thing that an address names to be loaded, a file or a hub's model, waits for a click that shows the name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from components.app.choices import Choice
from components.app.state import session_text, set_session_text
from components.widgets.markdown import literal
from evidencebench_core.retrievers import named_to_load

_LONGEST: Final = 300  # characters of a name that are shown whole


def loadable(choices: Sequence[Choice], where: str) -> tuple[Choice, ...]:
    """The choices that may be asked now; a notice with a button is drawn for what the others would load.

    ``where`` tells apart the notices of one page. A run is read, which loads nothing.
    """
    waiting: dict[str, str] = {}
    for choice in choices:
        waiting |= _waiting(choice)
    for place, name in waiting.items():
        retriever, _, setting = place.rpartition(".")
        would = f"**{literal(retriever)}** would load its {literal(setting)}"
        if len(name) > _LONGEST:
            st.warning(f"{would} by a name of {len(name):,} characters, too long to check: it is not loaded.")
            continue
        with st.container(border=True, key=f"load-notice.{where}.{place}"):
            st.markdown(
                f"{would} from **{literal(name)}**, a file or folder of this machine or a model of the Hugging Face "
                "hub, which nobody has chosen here yet. Load it only if you trust it."
            )
            st.button(
                f"Load {literal(name, 60)}",
                key=f"load.{where}.{place}={name}",
                on_click=set_session_text,
                args=(_key(place, name), "allowed"),
            )
    return tuple(choice for choice in choices if may_load(choice))


def may_load(choice: Choice) -> bool:
    """Whether everything that a choice would load was chosen in this session, or is a default."""
    return not _waiting(choice)


def allow_load(choice: Choice, setting: str) -> None:
    """Note that a setting was typed here."""
    place = f"{choice.name}.{setting}"
    if name := named_to_load(choice.name, choice.settings).get(place):
        set_session_text(_key(place, name), "allowed")


def _waiting(choice: Choice) -> dict[str, str]:
    if choice.run:
        return {}
    named = named_to_load(choice.name, choice.settings)
    return {place: name for place, name in named.items() if not session_text(_key(place, name))}


def _key(place: str, name: str) -> str:
    return f"load.{place}={name}"
