"""Why an aspect may have been missed: suggestions with their rule in words, never verdicts.

Every rule looks at what is in the table of `missed_text.with_text` and at nothing else, so that whoever doubts
a suggestion can check it. Several may apply: the first in the order of `CAUSES` is suggested, all are shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from evidencebench_core.data.strict_json import unique_keys
from evidencebench_core.errors import SettingError, shown


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the rules draw their lines.

    Attributes
    ----------
    budget_places, near_places : int
        *Budget* and *near miss*: a covering sentence stands at most so many places below K.
    redundant_picks : int
        *Redundancy*: at least so many picks only repeat aspects.
    vocabulary_overlap : float
        *Vocabulary gap*: no covering sentence has more than this share of the hypothesis' content words.
    middle : tuple of float
        *Position*: what counts as the middle of the paper, as shares of its sentences.
    front_share : float
        *Headings and abstract*: at least this share of the picks are headings or abstract sentences.
    """

    budget_places: int = 3
    redundant_picks: int = 1
    vocabulary_overlap: float = 0.1
    middle: tuple[float, float] = (1 / 3, 2 / 3)
    front_share: float = 0.5
    near_places: int = 10

    def __post_init__(self) -> None:
        for name in ("budget_places", "redundant_picks", "near_places"):
            if getattr(self, name) < 0:
                raise SettingError(name, f"is {shown(getattr(self, name))}", "Give 0 or more.")
        low, high = self.middle
        shares = {"vocabulary_overlap": self.vocabulary_overlap, "front_share": self.front_share}
        for name, share in (*shares.items(), ("middle", low), ("middle", high)):
            if not 0 <= share <= 1:
                raise SettingError(name, f"is {shown(share)}", "Give a share from 0 to 1.")

    def text(self) -> str:
        """All thresholds as JSON; `from_text` reads it."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Thresholds:
        """The inverse of `text`; names that are absent have their defaults."""
        try:
            values = json.loads(text, object_pairs_hook=unique_keys) if text else {}
            if "middle" in values:
                low, high = values["middle"]
                values["middle"] = (low, high)
            return cls(**values)
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            known = ", ".join(field.name for field in fields(cls))
            raise SettingError(
                "thresholds", f"are {shown(text)}", f"Give a JSON object with: {known}."
            ) from error


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that can be suggested, or, without a rule, one that only people can see.

    Attributes
    ----------
    name, title : str
        As notes store it, and as people read it.
    rule : str
        When it is suggested, with ``{threshold}`` placeholders.
    why : callable or None
        What makes the rule apply to a row of `missed_text.with_text`, with the numbers; empty where it does not apply.
    """

    name: str
    title: str
    rule: str = ""
    why: Callable[[Mapping[str, Any], Thresholds], str] | None = None

    def rule_text(self, thresholds: Thresholds) -> str:
        """The rule with its thresholds filled in."""
        low, high = thresholds.middle
        return self.rule.format(**asdict(thresholds), low=low, high=high)


def _is_known(value: Any) -> bool:
    """Not ``None``, not NaN, not ``pandas.NA`` (which no comparison may be made with)."""
    return value is not None and str(value) not in {"nan", "<NA>"}


def _within(row: Mapping[str, Any], places: int) -> bool:
    return _is_known(row["distance"]) and bool(row["distance"] <= places)


def _budget(row: Mapping[str, Any], limits: Thresholds) -> str:
    if _within(row, limits.budget_places):
        return _rank_sentence(row)
    if _is_known(row["budget"]) and 1 < row["budget"] <= row["n_picks"] == row["n_adding"]:
        return f"All {row['n_picks']} picks add an aspect; no place was wasted."
    return ""


def _redundancy(row: Mapping[str, Any], limits: Thresholds) -> str:
    if row["n_repeating"] and row["n_repeating"] >= limits.redundant_picks:
        return f"{row['n_repeating']} of {row['n_picks']} picks repeat what earlier picks cover."
    return ""


def _vocabulary(row: Mapping[str, Any], limits: Thresholds) -> str:
    overlap = row["overlap"]
    if _is_known(overlap) and overlap <= limits.vocabulary_overlap:
        return f"The closest covering sentence has {100 * overlap:.0f}% of the hypothesis' content words."
    return ""


def _position(row: Mapping[str, Any], limits: Thresholds) -> str:
    low, high = limits.middle
    last = max(row["n_sentences"] - 1, 1)
    in_middle = all(low <= index / last <= high for index in row["covering"])
    if not in_middle or not row["picks"] or any(low <= pick / last <= high for pick in row["picks"]):
        return ""
    n = row["n_covering"]
    covering = "The one covering sentence stands" if n == 1 else f"All {n} covering sentences stand"
    return f"{covering} in the middle of the paper, none of the {row['n_picks']} picks."


def _front(row: Mapping[str, Any], limits: Thresholds) -> str:
    share = row["front_share"]
    covering_body = all(kind == "normal_paragraph" for kind in row["types"])
    if covering_body and _is_known(share) and share > 0 and share >= limits.front_share:
        return f"{100 * share:.0f}% of the picks are headings or abstract sentences, no covering sentence is."
    return ""


def _near(row: Mapping[str, Any], limits: Thresholds) -> str:
    return _rank_sentence(row) if _within(row, limits.near_places) else ""


def _far(row: Mapping[str, Any], limits: Thresholds) -> str:
    if not _is_known(row["distance"]):
        return "The ranking does not reach any covering sentence."
    return "" if _within(row, limits.near_places) else _rank_sentence(row)


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
        "Budget",
        "A covering sentence is ranked within K + {budget_places}, or every pick adds an aspect, so that K is too"
        " small for this aspect beside what the run already covers.",
        _budget,
    ),
    Cause(
        "redundancy",
        "Redundancy",
        "Picks that cover only what earlier picks cover already: {redundant_picks} or more.",
        _redundancy,
    ),
    Cause(
        "vocabulary",
        "Vocabulary gap",
        "No covering sentence has more than {vocabulary_overlap:.0%} of the hypothesis' content words.",
        _vocabulary,
    ),
    Cause(
        "position",
        "Position",
        "All covering sentences stand in the middle of the paper (from {low:.0%} to {high:.0%} of it), and no pick"
        " does.",
        _position,
    ),
    Cause(
        "front",
        "Headings or abstract",
        "At least {front_share:.0%} of the picks are headings or abstract sentences, and no covering sentence is.",
        _front,
    ),
    Cause("near", "Near miss", "A covering sentence is ranked within K + {near_places}.", _near),
    Cause(
        "far",
        "Far miss",
        "No covering sentence is ranked within K + {near_places}, or the ranking reaches none.",
        _far,
    ),
    Cause("gold", "Gold in doubt"),
    Cause("reasoning", "Needs reasoning"),
    Cause("other", "Another cause"),
)

CAUSES: Final[Mapping[str, Cause]] = MappingProxyType({cause.name: cause for cause in _CAUSES})
"""By name. Those with a rule stand in the order in which they are suggested; the others are for analysts."""


def cause_title(cause: str | None) -> str:
    """A noted cause as people read it; one that is no cause of ours as it was noted, none as ""."""
    return "" if cause is None else CAUSES[cause].title if cause in CAUSES else cause


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A cause whose rule applies to a miss; ``why`` says what makes it apply here, with the numbers."""

    cause: Cause
    why: str


def suggestions(row: Mapping[str, Any], thresholds: Thresholds | None = None) -> tuple[Suggestion, ...]:
    """The causes whose rules apply to one row of `missed_text.with_text`, in order; at least one."""
    limits = thresholds or Thresholds()
    whys = [(cause, cause.why(row, limits)) for cause in _CAUSES if cause.why is not None]
    return tuple([Suggestion(cause, why) for cause, why in whys if why])


def with_causes(outcomes: pd.DataFrame, thresholds: Thresholds | None = None) -> pd.DataFrame:
    """Found and missed rows of `missed_text.with_text` with the causes suggested for the missed.

    Returns
    -------
    DataFrame
        With ``cause``, the name of the first that is suggested, and ``causes``, the tuple of the names of
        all whose rules apply; ``None`` for found ones.
    """
    causes: list[tuple[str, ...] | None] = []
    for missed, *values in zip(outcomes["missed"], *(outcomes[name].tolist() for name in _READ), strict=True):
        row = dict(zip(_READ, values, strict=True))
        causes.append(tuple([s.cause.name for s in suggestions(row, thresholds)]) if missed else None)
    frame = outcomes.assign(
        cause=pd.Series([names and names[0] for names in causes], index=outcomes.index, dtype=object),
        causes=pd.Series(causes, index=outcomes.index, dtype=object),
    )
    frame.attrs.update(outcomes.attrs)
    return frame


_READ: Final = (
    "budget", "best_rank", "distance", "n_picks", "n_adding", "n_repeating", "overlap", "covering", "n_covering",
    "n_sentences", "picks", "front_share", "types",
)  # fmt: skip
