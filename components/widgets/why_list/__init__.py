"""Picks with what counted for each: a strip of the groups of features, and the features on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from components.widgets.component import component, sentence_event
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.retrievers.ranker.explanation import PickExplanation, explanations_in
from evidencebench_core.retrievers.ranker.reasons import (
    GROUP_WORDINGS,
    WORDINGS,
    coverage_line,
    value_text,
    why_texts,
)

__all__ = ["why_list", "whys_of"]

_LEAST: Final = 0.005  # what would be written as 0.00 is not drawn


def whys_of(retrieval: Retrieval, sentences: Sequence[str], limit: int = 60) -> list[dict[str, Any]]:
    """The picks that the retrieval explains, in order, as the browser gets them; none where it explains nothing."""
    explained, texts = explanations_in(retrieval), why_texts(retrieval)
    picks = enumerate(dict.fromkeys(retrieval.selection), start=1)
    return [
        _why(explained[index], number, sentences[index], texts.get(index, ""))
        for number, index in picks
        if number <= limit and index in explained and index < len(sentences)
    ]


def _why(explanation: PickExplanation, number: int, text: str, reason: str) -> dict[str, Any]:
    hues = {name: place for place, name in enumerate(GROUP_WORDINGS)}  # the ninth is hatched
    groups = [
        {"label": GROUP_WORDINGS[name].label, "adds": adds, "hue": hues[name]}
        for name, adds in sorted(explanation.groups.items(), key=lambda item: -item[1])
        if name in hues and abs(adds) >= _LEAST
    ]
    features = [
        {"label": WORDINGS[one.name].label, "adds": one.adds, "value": value_text(one.name, one.value)}
        for one in explanation.features
        if one.name in WORDINGS and abs(one.adds) >= _LEAST
    ]
    return {
        "index": explanation.sentence,
        "number": number,
        "text": text,
        "reason": reason or "No one feature stands out.",
        "coverage": coverage_line(explanation, number),
        "groups": groups,
        "features": features,
    }


_component = component("why_list", Path(__file__).parent, '<ol class="whys"></ol>', palette=".whys")


def why_list(
    whys: Sequence[dict[str, Any]],
    *,
    key: str,
    on_sentence: Callable[[int], None] = lambda index: None,
    opened: bool = False,
    height: int | None = None,
) -> None:
    """Draw the list; ``on_sentence`` hears the index of a sentence that was clicked.

    Where it is ``opened``, the bars of every pick show at once, without its number, which says what is known
    already; after ``height`` pixels it scrolls inside itself.
    """
    on_change = sentence_event(key, {why["index"] for why in whys}, on_sentence)
    _component(key=key, data={"whys": whys, "opened": opened, "height": height}, on_event_change=on_change)
