"""Chips in tables: an aspect, a sentence, and what a click on one means."""

from __future__ import annotations

from components.app.state import PageState
from components.widgets.table import Chip, TableEvent
from evidencebench_core.data import Aspect


def aspect_chip(aspect: Aspect, number: int, filled: bool = True) -> Chip:
    """The chip of an aspect; its text, where the data has one, on hover."""
    return Chip(f"aspect:{aspect.label}", aspect.label, number, aspect.text or "", filled)


def sentence_chip(index: int, text: str = "", words: str = "", filled: bool = True) -> Chip:
    """A sentence to go to, with what is said of it."""
    return Chip(f"sentence:{index}", f"{index}{words}", None, text, filled)


def go_to(state: PageState, event: TableEvent) -> None:
    """Follow a chip: show its sentence, or pin its aspect (a second click lets go)."""
    kind, _, value = event.value.partition(":") if event.kind == "chip" else ("", "", "")
    if kind == "sentence":
        state.put(sentence=value)
    elif kind == "aspect":
        state.put(aspect=None if state["aspect"] == value else value)
