"""The reader: one paper with its gold and what retrievers picked, marked as on a page; ``reader.js`` draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from components.component import component, component_event
from evidencebench_core.export.reader import FOLDER, PARTS, PaperView, paper_key, view_data

EventKind = Literal["sentence", "aspect", "system", "clear"]


@dataclass(frozen=True, slots=True)
class PaperEvent:
    """A click or key in the reader: a sentence or aspect chosen or let go, another system, all let go (Esc).

    The selected sentence, the pinned aspect (its position) and the active system are those after it.
    """

    kind: EventKind
    sentence: int | None
    aspect: int | None
    system: int | None


_component = component("reader", FOLDER, "", palette=".reader", before=PARTS)


def paper_view(
    view: PaperView,
    *,
    key: str,
    height: int = 720,
    on_event: Callable[[PaperEvent], None] = lambda event: None,
) -> None:
    """Draw the reader.

    The browser shows a click at once; ``on_event``, which is called before the script runs again, puts it into the
    state that the next view is made of. One key a place in the app, whatever paper it shows.
    """

    def on_change() -> None:
        event = event_from(component_event(key), view)
        if event is not None:
            on_event(event)

    _component(key=key, data=view_data(view, height), on_event_change=on_change)


def event_from(payload: object, view: PaperView) -> PaperEvent | None:
    """The event that a browser's message stands for; ``None`` where it is not of this paper."""
    if not isinstance(payload, Mapping) or payload.get("kind") not in get_args(EventKind):
        return None
    if payload.get("paper") != paper_key(view):
        return None
    sizes = {"sentence": len(view.sentences), "aspect": len(view.aspects), "system": len(view.systems)}
    fields: dict[str, int | None] = {}
    for name, size in sizes.items():
        value = payload.get(name)
        if value is not None and (type(value) is not int or not 0 <= value < size):
            return None
        fields[name] = value
    return PaperEvent(cast("EventKind", payload["kind"]), **fields)
