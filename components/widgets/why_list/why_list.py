"""Mounts the list and takes its clicks; all text goes to the browser as data and is written as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

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

_LEAST: Final = 0.005  # what would be written as 0.00 is not drawn


@dataclass(frozen=True, slots=True)
class Bar:
    """What a group or a feature adds to the score, or takes from it.

    Attributes
    ----------
    hue : int
        Position of a group's colour; the ninth is hatched. -1 for a feature.
    value : str
        A feature's value, for people.
    """

    label: str
    adds: float
    hue: int = -1
    value: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """One pick and why.

    Attributes
    ----------
    index, number : int
        0-based sentence index; from 1, in the order of the picks.
    text : str
        The sentence, shown on hover.
    reason, coverage : str
        Plain sentences.
    score : float
        In standard deviations over the paper.
    groups : tuple of Bar
        By what they add, the most first.
    features : tuple of Bar
    """

    index: int
    number: int
    text: str
    reason: str
    coverage: str
    score: float
    groups: tuple[Bar, ...]
    features: tuple[Bar, ...]


def whys_of(retrieval: Retrieval, sentences: Sequence[str], limit: int = 60) -> tuple[Why, ...]:
    """The picks that the retrieval explains, in order; none for a retriever that explains nothing."""
    explained, texts = explanations_in(retrieval), why_texts(retrieval)
    picks = enumerate(dict.fromkeys(retrieval.selection), start=1)
    return tuple(
        _why(explained[index], number, sentences[index], texts.get(index, ""))
        for number, index in picks
        if number <= limit and index in explained and index < len(sentences)
    )


def _why(explanation: PickExplanation, number: int, text: str, reason: str) -> Why:
    order = {name: place for place, name in enumerate(GROUP_WORDINGS)}
    groups = [
        Bar(GROUP_WORDINGS[name].label, adds, order[name])
        for name, adds in explanation.groups.items()
        if name in order and abs(adds) >= _LEAST
    ]
    features = [
        Bar(WORDINGS[one.name].label, one.adds, value=value_text(one.name, one.value))
        for one in explanation.features
        if one.name in WORDINGS and abs(one.adds) >= _LEAST
    ]
    return Why(
        explanation.sentence,
        number,
        text,
        reason or "No one feature stands out.",
        coverage_line(explanation, number),
        explanation.score,
        tuple(sorted(groups, key=lambda bar: -bar.adds)),
        tuple(features),
    )


_component = component("why_list", Path(__file__).parent, '<ol class="whys"></ol>', palette=".whys")


def why_list(
    whys: Sequence[Why],
    *,
    key: str,
    on_sentence: Callable[[int], None] = lambda index: None,
    opened: bool = False,
    height: int | None = None,
) -> None:
    """Draw the list; ``on_sentence`` hears the index of a sentence that was clicked.

    Parameters
    ----------
    opened : bool
        Show the bars of every pick at once, without its number, which says what is known already.
    height : int or None
        Pixels after which it scrolls inside itself.
    """
    on_change = sentence_event(key, {why.index for why in whys}, on_sentence)
    data = {"whys": [asdict(why) for why in whys], "opened": opened, "height": height}
    _component(key=key, data=data, on_event_change=on_change)
