"""Mounts the list and takes its clicks; all text goes to the browser as data and is written as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from components.widgets.component import component, sentence_event
from evidencebench_core.papers import Paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.llm import reasons_in
from evidencebench_core.retrievers.ranker.reasons import why_texts

_HERE: Final = Path(__file__).parent
_AROUND: Final = 400  # characters of a neighbouring sentence
_WORDS: Final = 4  # that a neighbour has at least


@dataclass(frozen=True, slots=True)
class Pick:
    """One sentence of the list."""

    index: int
    place: int
    """From 1, in the order of the picks."""
    section: str
    text: str
    before: str = ""
    after: str = ""
    """Its neighbours under the same heading."""
    why: str = ""
    """Why it was picked, where the retriever says."""
    others: str = ""
    """The other retrievers that picked it too."""


def explanations(retrieval: Retrieval) -> dict[int, str]:
    """Why sentences were picked, by sentence index.

    A model says it in its own words; a ranker's ``explanation`` is put into words (`why_texts`); any other
    retriever may have under ``why`` a JSON object from sentence index to text. Anything else is left out.
    """
    why = _texts_by_index(retrieval.details.get("why", ""))
    return {**reasons_in(retrieval), **why_texts(retrieval), **why}


def _texts_by_index(text: str) -> dict[int, str]:
    """A JSON object whose keys are sentence indices; empty where the text is none."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    if not isinstance(found, Mapping):
        return {}
    return {int(key): str(why) for key, why in found.items() if key.isascii() and key.isdigit()}


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


_component = component("picks_list", _HERE, '<ol class="picks"></ol>', palette=".picks")


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

    A ``plain`` one has no sentence indices; after ``height`` pixels it scrolls inside itself.
    """
    on_change = sentence_event(key, {pick.index for pick in picks}, on_pick)
    data: dict[str, Any] = {
        "picks": [asdict(pick) for pick in picks],
        "selected": selected,
        "plain": plain,
        "empty": empty,
        "height": height,
    }
    _component(key=key, data=data, on_event_change=on_change)
