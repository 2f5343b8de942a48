"""Mounts the list and takes its clicks; all text goes to the browser as data and is written as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import streamlit as st

from components.app.state import component_event
from components.charts.palette import css_variables
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Retrieval

__all__ = ["Pick", "pick_from", "picks_list", "picks_of", "telling"]

_HERE: Final = Path(__file__).parent
_AROUND: Final = 400  # characters of a neighbouring sentence
_WORDS: Final = 4  # that a neighbour has at least


@dataclass(frozen=True, slots=True)
class Pick:
    """One sentence of the list.

    Attributes
    ----------
    index : int
        0-based sentence index.
    place : int
        From 1, in the order of the picks.
    section, text, before, after : str
        Where it stands, itself, and its neighbours under the same heading (empty where there are none).
    why : str
        Why it was picked, where the retriever says.
    others : str
        Which of the other retrievers picked it too.
    """

    index: int
    place: int
    section: str
    text: str
    before: str = ""
    after: str = ""
    why: str = ""
    others: str = ""


def picks_of(
    paper: Paper, retrieval: Retrieval, why: Mapping[int, str], others: Mapping[str, Retrieval]
) -> tuple[Pick, ...]:
    """The picks of a retrieval; ``others`` are the answers of other retrievers by their short name."""
    sections = paper.sections

    def neighbour(index: int, step: int) -> str:
        at = index + step
        inside = 0 <= at < len(paper.sentences) and sections[at] == sections[index]
        if not inside or "section_name" in (paper.sentence_types[at], paper.sentence_types[index]):
            return ""
        text = paper.sentences[at]
        if len(text.split()) < _WORDS:  # a label, such as "Methods" in an abstract
            return ""
        return text if len(text) <= _AROUND else text[: _AROUND - 1].rstrip() + "…"

    return tuple(
        Pick(
            index,
            place,
            _where(paper, index),
            paper.sentences[index],
            neighbour(index, -1),
            neighbour(index, 1),
            why.get(index, ""),
            ", ".join(name for name, other in others.items() if index in other.selection),
        )
        for place, index in enumerate(dict.fromkeys(retrieval.selection), start=1)
    )


def _where(paper: Paper, index: int) -> str:
    """The section of a sentence; of a heading that it is one."""
    if paper.sentence_types[index] == "section_name":
        return "Title" if index == 0 and paper.title else "Heading"
    return paper.sections[index] or "Before the first heading"


_component = st.components.v2.component(
    "evidencebench_picks_list",
    html='<ol class="picks"></ol>',
    css=css_variables(".picks", ".picks.dark") + (_HERE / "picks_list.css").read_text(encoding="utf-8"),
    js=(_HERE / "picks_list.js").read_text(encoding="utf-8"),
)


def picks_list(
    picks: Sequence[Pick],
    *,
    key: str,
    on_pick: Callable[[int], None],
    selected: int | None = None,
    plain: bool = False,
    empty: str = "Nothing was picked.",
    height: int | None = None,
) -> None:
    """Draw the list; ``on_pick`` hears the index of a sentence that was clicked.

    Parameters
    ----------
    plain : bool
        Without sentence indices.
    height : int or None
        Pixels after which it scrolls inside itself.
    """
    tell = telling(key, {pick.index for pick in picks}, on_pick)
    data: dict[str, Any] = {
        "picks": [asdict(pick) for pick in picks],
        "selected": selected,
        "plain": plain,
        "empty": empty,
        "height": height,
    }
    _component(key=key, data=data, on_event_change=tell)


def telling(key: str, known: set[int], on_sentence: Callable[[int], None]) -> Callable[[], None]:
    """What a component of that key calls when it has an event: passes on the sentence that was clicked."""

    def tell() -> None:
        index = pick_from(component_event(key), known)
        if index is not None:
            on_sentence(index)

    return tell


def pick_from(payload: object, known: set[int]) -> int | None:
    """The sentence that a browser's message names; ``None`` where it is none of the list."""
    index = payload.get("sentence") if isinstance(payload, Mapping) else None
    return index if type(index) is int and index in known else None
