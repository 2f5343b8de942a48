"""Mounts the reader and takes its events; the drawing is done by ``reader.js``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

import streamlit as st

from components.app.state import component_event
from components.charts import palette
from components.widgets.paper_view.data import PaperView, paper_key, view_data

EventKind = Literal["sentence", "aspect", "system", "clear"]

_HERE: Final = Path(__file__).parent
_SCRIPTS: Final = ("draw.js", "minimap.js", "echo.js", "reader.js")  # one module, in this order


@dataclass(frozen=True, slots=True)
class PaperEvent:
    """A click or key in the reader: a sentence or aspect chosen or let go, another system, all let go (Esc).

    The selected sentence, the pinned aspect (its position) and the active system are those after it.
    """

    kind: EventKind
    sentence: int | None
    aspect: int | None
    system: int | None


_mount = st.components.v2.component(
    "evidencebench_paper_view",
    css=palette.css_variables(".reader", ".reader.dark") + (_HERE / "reader.css").read_text("utf-8"),
    js="\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS),
)


def paper_view(
    view: PaperView,
    *,
    key: str,
    height: int = 720,
    on_event: Callable[[PaperEvent], None] = lambda event: None,
) -> None:
    """Draw the reader.

    The browser shows a click at once. To keep it, and to let the rest of the page know, put the event's
    fields into the state that the next view is made of: ``on_event`` is called before the script runs again.

    Parameters
    ----------
    view : PaperView
    key : str
        One per place in the app. The same key with another paper draws that paper.
    height : int
        In pixels; the paper scrolls inside.
    on_event : callable
        Called with the `PaperEvent`.
    """

    def on_change() -> None:
        event = event_from(component_event(key), view)
        if event is not None:
            on_event(event)

    _mount(key=key, data=view_data(view, height), on_event_change=on_change)


def event_from(payload: object, view: PaperView) -> PaperEvent | None:
    """The event that a browser's message stands for; ``None`` where it is not of this paper."""
    if not isinstance(payload, Mapping) or payload.get("kind") not in get_args(EventKind):
        return None
    if payload.get("paper") != paper_key(view):
        return None
    sizes = {
        "sentence": len(view.sentences),
        "aspect": len(view.aspects),
        "system": len(view.systems),
    }
    fields: dict[str, int | None] = {}
    for name, size in sizes.items():
        value = payload.get(name)
        if value is not None and (type(value) is not int or not 0 <= value < size):
            return None
        fields[name] = value
    return PaperEvent(cast("EventKind", payload["kind"]), **fields)
