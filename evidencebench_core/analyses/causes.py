"""Why an aspect may have been missed: named rules, each with the quantity that it goes by; never verdicts.

Several may apply: the first in the order of `CAUSES` is suggested, all are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

_BUDGET_PLACES: Final = 3  # a covering sentence stands at most so many places below K
_NEAR_PLACES: Final = 10
_VOCABULARY: Final = 0.1  # no covering sentence has more than this share of the hypothesis' content words
_MIDDLE: Final = (1 / 3, 2 / 3)  # of the paper
_FRONT: Final = 0.5  # at least this share of the picks are headings or abstract sentences


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that can be suggested, or, without a rule, one that only people can see.

    ``name`` is as notes store it. ``measure`` says of a row of `missed.outcomes` what makes the rule apply, with
    the numbers; it is empty where the rule does not apply.
    """

    name: str
    title: str
    rule: str = ""
    measure: Callable[[Mapping[str, Any]], str] | None = None


def _is_known(value: Any) -> bool:
    return value is not None and not pd.isna(value)


def _within(row: Mapping[str, Any], places: int) -> bool:
    return _is_known(row["distance"]) and bool(row["distance"] <= places)


def _budget(row: Mapping[str, Any]) -> str:
    if _within(row, _BUDGET_PLACES):
        return _rank_sentence(row)
    if _is_known(row["budget"]) and 1 < row["budget"] <= row["n_picks"] == row["n_adding"]:
        return f"All {row['n_picks']} picks add an aspect; no place was wasted."
    return ""


def _redundancy(row: Mapping[str, Any]) -> str:
    if row["n_repeating"]:
        return f"{row['n_repeating']} of {row['n_picks']} picks repeat what earlier picks cover."
    return ""


def _vocabulary(row: Mapping[str, Any]) -> str:
    if _is_known(row["overlap"]) and row["overlap"] <= _VOCABULARY:
        return (
            f"The closest covering sentence has {100 * row['overlap']:.0f}% of the hypothesis' content words."
        )
    return ""


def _position(row: Mapping[str, Any]) -> str:
    low, high = _MIDDLE
    last = max(row["n_sentences"] - 1, 1)
    in_middle = all(low <= index / last <= high for index in row["covering"])
    if not in_middle or not row["picks"] or any(low <= pick / last <= high for pick in row["picks"]):
        return ""
    n = row["n_covering"]
    covering = "The one covering sentence stands" if n == 1 else f"All {n} covering sentences stand"
    return f"{covering} in the middle of the paper, none of the {row['n_picks']} picks."


def _front(row: Mapping[str, Any]) -> str:
    share = row["front_share"]
    covering_body = all(kind == "normal_paragraph" for kind in row["types"])
    if covering_body and _is_known(share) and share >= _FRONT:
        return f"{100 * share:.0f}% of the picks are headings or abstract sentences, no covering sentence is."
    return ""


def _near(row: Mapping[str, Any]) -> str:
    return _rank_sentence(row) if _within(row, _NEAR_PLACES) else ""


def _far(row: Mapping[str, Any]) -> str:
    if not _is_known(row["distance"]):
        return "The ranking does not reach any covering sentence."
    return "" if _within(row, _NEAR_PLACES) else _rank_sentence(row)


def _rank_sentence(row: Mapping[str, Any]) -> str:
    distance = row["distance"]
    edge = "K" if _is_known(row["budget"]) else "the picks"
    if distance <= 0:
        return f"The best covering sentence is ranked {row['best_rank']}, within {edge}, and yet it was not picked."
    places = "1 place" if distance == 1 else f"{distance} places"
    return f"The best covering sentence is ranked {row['best_rank']}, {places} below {edge}."


_CAUSES: Final = (
    Cause(
        "budget",
        "Budget too small",
        f"A covering sentence is ranked within K + {_BUDGET_PLACES}, or every pick adds an aspect.",
        _budget,
    ),
    Cause(
        "redundancy", "Redundant picks", "A pick covers only what earlier picks cover already.", _redundancy
    ),
    Cause(
        "vocabulary",
        "Other words",
        f"No covering sentence has more than {_VOCABULARY:.0%} of the hypothesis' content words.",
        _vocabulary,
    ),
    Cause(
        "position",
        "Middle of the paper",
        "All covering sentences stand in the middle third of the paper, and no pick does.",
        _position,
    ),
    Cause(
        "front",
        "Picks in headings and abstract",
        f"At least {_FRONT:.0%} of the picks are headings or abstract sentences, and no covering sentence is.",
        _front,
    ),
    Cause("near", "Ranked just below K", f"A covering sentence is ranked within K + {_NEAR_PLACES}.", _near),
    Cause("far", "Ranked far below K", f"No covering sentence is ranked within K + {_NEAR_PLACES}.", _far),
    Cause("gold", "Gold in doubt"),
    Cause("reasoning", "Needs reasoning"),
    Cause("other", "Another cause"),
)

CAUSES: Final[Mapping[str, Cause]] = MappingProxyType({cause.name: cause for cause in _CAUSES})
"""By name. Those with a rule stand in the order in which they are suggested; the others are for analysts."""


def cause_title(cause: str | None) -> str:
    """A noted cause as people read it; one that is no cause of ours as it was noted, none as ""."""
    return "" if cause is None else CAUSES[cause].title if cause in CAUSES else cause


def suggestions(row: Mapping[str, Any]) -> dict[str, str]:
    """By the name of each cause whose rule applies to a missed row of `missed.outcomes`, what it goes by."""
    measured = {cause.name: cause.measure(row) for cause in _CAUSES if cause.measure is not None}
    return {name: text for name, text in measured.items() if text}
