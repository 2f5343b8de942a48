"""Small v2 components of one script and one style sheet, and the events that they send."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from evidencebench_core.export.reader import FOLDER, css_variables, visible_texts


def component(
    name: str, folder: Path, html: str, *, palette: str = "", before: Sequence[str] = ()
) -> Callable[..., Any]:
    """Mounts ``NAME.js`` and ``NAME.css`` of a folder, after ``dom.js`` and ``dom.css`` and the scripts ``before`` it.

    Its data reach the browser with `visible_texts`: no name or sentence turns what follows it round.
    ``palette`` is the CSS selector of what the app's colours are defined for, dark where it has the class; the style
    sheet may be left out.
    """
    scripts = (FOLDER / "dom.js", *(folder / script for script in (*before, f"{name}.js")))
    styles = (FOLDER / "dom.css", folder / f"{name}.css")
    colours = css_variables(palette, f"{palette}.dark") if palette else ""
    mounted = st.components.v2.component(
        f"evidencebench_{name}",
        html=html,
        css=colours + "".join(file.read_text("utf-8") for file in styles if file.exists()),
        js="".join(file.read_text("utf-8") for file in scripts),
    )

    def mount(*, data: object = None, **options: Any) -> Any:
        return mounted(data=visible_texts(data), **options)

    return mount


def component_event(key: str) -> object:
    """The event that the v2 component of that key has sent last, as the browser wrote it."""
    state = st.session_state.get(key)
    return state.get("event") if isinstance(state, Mapping) else None


def sentence_event(key: str, known: set[int], on_sentence: Callable[[int], None]) -> Callable[[], None]:
    """An ``on_event_change`` of the component of that key, which passes on the sentence that was clicked."""

    def on_change() -> None:
        index = sentence_in(component_event(key), known)
        if index is not None:
            on_sentence(index)

    return on_change


def sentence_in(payload: object, known: set[int]) -> int | None:
    """The sentence that a browser's message names; ``None`` where it is not among the known ones."""
    index = payload.get("sentence") if isinstance(payload, Mapping) else None
    return index if type(index) is int and index in known else None
