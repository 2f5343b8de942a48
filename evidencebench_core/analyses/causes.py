"""Why an aspect may have been missed: named rules, each with the quantity that it goes by; never verdicts.

Several may apply: the first in the order of `CAUSES` is suggested, all are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    """A cause that can be suggested by its rule, or, without one, that only people can see.

    ``name`` is as notes store it; ``predicate`` says what such misses do: "rank far below K".
    """

    name: str
    title: str
    rule: str = ""
    predicate: str = ""


_CAUSES: Final = (
    Cause(
        "budget",
        "Budget too small",
        f"A covering sentence is ranked within K + {_BUDGET_PLACES}, or every pick adds an aspect.",
        "rank just outside the budget",
    ),
    Cause(
        "redundancy",
        "Redundant picks",
        "A pick covers only what earlier picks cover already.",
        "lost their place to redundant picks",
    ),
    Cause(
        "vocabulary",
        "Other words",
        f"No covering sentence has more than {_VOCABULARY:.0%} of the hypothesis' content words.",
        "share hardly a word with the hypothesis",
    ),
    Cause(
        "position",
        "Middle of the paper",
        "All covering sentences stand in the middle third of the paper, and no pick does.",
        "stand in the middle of the paper",
    ),
    Cause(
        "front",
        "Picks in headings and abstract",
        f"At least {_FRONT:.0%} of the picks are headings or abstract sentences, and no covering sentence is.",
        "lost to headings and the abstract",
    ),
    Cause(
        "near",
        "Ranked just below K",
        f"A covering sentence is ranked within K + {_NEAR_PLACES}.",
        "rank a few places below K",
    ),
    Cause(
        "far",
        "Ranked far below K",
        f"No covering sentence is ranked within K + {_NEAR_PLACES}.",
        "rank far below K",
    ),
    Cause("gold", "The gold is wrong"),
    Cause("cut", "The answer was cut"),
    Cause("reasoning", "Needs reasoning"),
    Cause("other", "Another cause"),
)

CAUSES: Final[Mapping[str, Cause]] = MappingProxyType({cause.name: cause for cause in _CAUSES})
"""By name. Those with a rule stand in the order in which they are suggested; the others are for analysts."""


def cause_title(cause: str | None) -> str:
    """A noted cause as people read it; one that is no cause of ours as it was noted, none as ""."""
    return "" if cause is None else CAUSES[cause].title if cause in CAUSES else cause


def suggestions(row: Mapping[str, Any]) -> dict[str, str]:
    """What each cause goes by whose rule applies to a missed row of `missed.outcomes`; the first is suggested."""
    n_picks, n_covering, distance, n = row["n_picks"], row["n_covering"], row["distance"], row["n_sentences"]
    is_near = not pd.isna(distance) and distance <= _NEAR_PLACES
    rank_text, texts = _rank_text(row), dict[str, str]()
    if is_near and distance <= _BUDGET_PLACES:
        texts["budget"] = rank_text
    elif not pd.isna(row["budget"]) and 1 < row["budget"] <= n_picks == row["n_adding"]:
        texts["budget"] = f"All {n_picks} picks add an aspect; no place was wasted."
    if row["n_repeating"]:
        texts["redundancy"] = f"{row['n_repeating']} of {n_picks} picks repeat what earlier picks cover."
    if row["overlap"] <= _VOCABULARY:
        share = f"{100 * row['overlap']:.0f}% of the hypothesis' content words"
        texts["vocabulary"] = f"The closest covering sentence has {share}."
    is_middle = all(_is_in_middle(index, n) for index in row["covering"])
    if n_picks and is_middle and not any(_is_in_middle(pick, n) for pick in row["picks"]):
        sentences = "The one covering sentence stands"
        if n_covering > 1:
            sentences = f"All {n_covering} covering sentences stand"
        texts["position"] = f"{sentences} in the middle of the paper, none of the {n_picks} picks."
    if row["front_share"] >= _FRONT and set(row["types"]) == {"normal_paragraph"}:
        share = f"{100 * row['front_share']:.0f}% of the picks"
        texts["front"] = f"{share} are headings or abstract sentences, no covering sentence is."
    return texts | {"near" if is_near else "far": rank_text}


def _is_in_middle(index: int, n_sentences: int) -> bool:
    return _MIDDLE[0] <= index / max(n_sentences - 1, 1) <= _MIDDLE[1]


def _rank_text(row: Mapping[str, Any]) -> str:
    distance = row["distance"]
    if pd.isna(distance):
        return "The ranking does not reach any covering sentence."
    edge = "the picks" if pd.isna(row["budget"]) else "K"
    if distance <= 0:
        return f"The best covering sentence is ranked {row['best_rank']}, within {edge}, and yet it was not picked."
    places = "1 place" if distance == 1 else f"{distance} places"
    return f"The best covering sentence is ranked {row['best_rank']}, {places} below {edge}."
