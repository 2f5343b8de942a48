"""Explanations read back from a retrieval, and said in plain words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evidencebench_core.retrievers.base import Retrieval
from evidencebench_core.retrievers.ranker.wordings import GROUP_WORDINGS, WORDINGS

__all__ = ["Contribution", "PickExplanation", "coverage_line", "explanations_in", "reasons", "why_texts"]

_MOST: Final = 3
_LEAST: Final = 0.05  # of the largest contribution; what adds less is no reason


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature did: its ``value``, and what it ``adds`` to the score (or takes, below 0)."""

    name: str
    value: float
    adds: float


@dataclass(frozen=True, slots=True)
class PickExplanation:
    """Why a sentence was picked; see `explained`, which writes these.

    Attributes
    ----------
    sentence : int
    score : float
        In standard deviations over the paper.
    place : int
        Rank by score alone, from 1.
    gain, repeated : float
        As in `Pick`.
    groups : mapping of str to float
        What each group of features adds to the score.
    features : tuple of Contribution
        The few that add or take most, the largest first.
    """

    sentence: int
    score: float
    place: int
    gain: float
    repeated: float
    groups: Mapping[str, float]
    features: tuple[Contribution, ...]


def explanations_in(retrieval: Retrieval) -> dict[int, PickExplanation]:
    """The explanations of a retrieval's picks by sentence; none where its retriever gives none.

    What is not as `explained` writes it is left out: details come from files and from other packages too.
    """
    try:
        raw = json.loads(retrieval.details.get("explanation", "{}"))
    except (ValueError, RecursionError):
        return {}
    found: dict[int, PickExplanation] = {}
    for key, one in raw.items() if isinstance(raw, dict) else ():
        try:
            explanation = _explanation(int(key), one)
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            continue
        found[explanation.sentence] = explanation
    return found


def _explanation(sentence: int, raw: Mapping[str, object]) -> PickExplanation:
    numbers = {name: _number(raw[name]) for name in ("score", "gain", "repeated")}
    groups, features = raw["groups"], raw["features"]
    if not isinstance(groups, dict) or not isinstance(features, list):
        raise TypeError
    return PickExplanation(
        sentence=sentence,
        place=int(_number(raw["place"])),
        groups={str(name): _number(adds) for name, adds in groups.items()},
        features=tuple(
            Contribution(str(name), _number(value), _number(adds)) for name, value, adds in features
        ),
        **numbers,
    )


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError
    return float(value)  # type: ignore[arg-type]


def reasons(explanation: PickExplanation) -> tuple[str, ...]:
    """Up to three reasons in plain words, as parts of a sentence, the weightiest first.

    A feature is a reason if it added to the score and its value bears the words out: that a sentence cites
    nobody may have helped it, but is not why one would read it. Of the features of one topic the one that
    says most is named. Where no feature is left, the group that added most is; if none added anything, there
    is no reason.
    """
    said: dict[str, tuple[int, str]] = {}
    most = max((abs(one.adds) for one in explanation.features), default=0.0)
    for one in explanation.features:
        wording = WORDINGS.get(one.name)
        if wording is None or one.adds <= _LEAST * most or not (phrase := wording.phrase(one.value)):
            continue
        if wording.topic not in said or wording.sharp > said[wording.topic][0]:
            said[wording.topic] = (wording.sharp, phrase)
    if said:
        return tuple(phrase for _, phrase in said.values())[:_MOST]
    group = max(explanation.groups, key=lambda name: explanation.groups[name], default="")
    if explanation.groups.get(group, 0) <= 0 or group not in GROUP_WORDINGS:
        return ()
    return (GROUP_WORDINGS[group].reason,)


def coverage_line(explanation: PickExplanation, number: int) -> str:
    """How the selection came to a sentence as its ``number``-th pick (from 1), as a sentence.

    >>> coverage_line(PickExplanation(4, 1.9, 7, 0.01, 0.38, {}, ()), 3)
    'Chosen for coverage: rank 7 by score alone, 38% already said by earlier picks.'
    """
    head = f"rank {explanation.place} by score alone"
    percent = round(100 * min(max(explanation.repeated, 0.0), 1.0))
    said = "nothing of it" if percent == 0 else "all of it" if percent == 100 else f"{percent}%"
    tail = "" if number == 1 else f", {said} already said by earlier picks"
    if explanation.place > number:
        return f"Chosen for coverage: {head}{tail}."
    return f"{head[0].upper()}{head[1:]}{tail}."


def why_texts(retrieval: Retrieval) -> dict[int, str]:
    """One plain sentence a pick, by sentence index; none for a pick without reasons.

    >>> why_texts(Retrieval((), (), (), 0.0))
    {}
    """
    texts: dict[int, str] = {}
    for index, explanation in explanations_in(retrieval).items():
        if said := "; ".join(reasons(explanation)):
            texts[index] = f"{said[0].upper()}{said[1:]}."
    return texts
