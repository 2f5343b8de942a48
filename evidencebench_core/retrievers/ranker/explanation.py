"""Why a sentence was picked: as data in the details of a retrieval, and read back from there."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Retrieval
from evidencebench_core.retrievers.ranker.features import FEATURES, GROUPS
from evidencebench_core.retrievers.ranker.model import AROUND, COLUMNS, MEANING
from evidencebench_core.retrievers.ranker.selection import Pick

GROUP_OF: Final[Mapping[str, str]] = {
    **{name: group for group, names in GROUPS.items() for name in names},
    **dict.fromkeys((*COLUMNS[len(FEATURES) :], MEANING), "what it says"),
    AROUND: "neighbours",
}
"""The group of every column of `RankerModel.contributions`, in their order."""

_MOST: Final = 6


class Contribution(NamedTuple):
    """A feature's ``value``, and what it ``adds`` to the score (or takes, below 0)."""

    name: str
    value: float
    adds: float


@dataclass(frozen=True, slots=True)
class PickExplanation:
    """Why a sentence was picked."""

    sentence: int
    score: float  # in standard deviations over the paper
    place: int  # rank by score alone, from 1
    gain: float  # this and the next as in `Pick`
    repeated: float
    groups: Mapping[str, float]  # what each group of features adds to the score
    features: tuple[Contribution, ...]  # the few that add or take most, the largest first


def explanation_text(
    picks: Sequence[Pick],
    scores: NDArray[np.float64],
    rows: NDArray[np.float32],
    contributions: NDArray[np.float64],
) -> str:
    """Why each pick was picked, as JSON: by sentence index the other fields of `PickExplanation`, rounded.

    ``scores`` are of the whole pool, ``rows`` the picks' features, and ``contributions`` theirs as of
    `RankerModel.contributions`, or of the features alone.
    """
    places = np.argsort(np.argsort(-scores, kind="stable"), kind="stable") + 1
    explained: dict[str, dict[str, object]] = {}
    for pick, values, adds in zip(picks, rows, contributions, strict=True):
        groups: dict[str, float] = {}
        for group, amount in zip(GROUP_OF.values(), adds.tolist(), strict=False):
            groups[group] = groups.get(group, 0.0) + amount
        most = np.argsort(-np.abs(adds[: len(FEATURES)]), kind="stable")[:_MOST].tolist()
        explained[str(pick.sentence)] = {
            "score": round(float(scores[pick.sentence]), 3),
            "place": int(places[pick.sentence]),
            "gain": round(pick.gain, 4),
            "repeated": round(pick.repeated, 3),
            "groups": {name: round(amount, 3) for name, amount in groups.items()},
            "features": [
                Contribution(FEATURES[at], round(float(values[at]), 3), round(float(adds[at]), 3))
                for at in most
            ],
        }
    return json.dumps(explained)


def explanations_in(retrieval: Retrieval) -> dict[int, PickExplanation]:
    """The explanations of a retrieval's picks by sentence; none where its retriever gives none.

    What is not as `explanation_text` writes it is left out: details come from files and other packages too.
    """
    try:
        raw = json.loads(retrieval.details.get("explanation", "{}"))
    except (ValueError, RecursionError):
        return {}
    explained: dict[int, PickExplanation] = {}
    for key, one in raw.items() if isinstance(raw, dict) else ():
        try:
            explained[int(key)] = PickExplanation(
                int(key),
                _number(one["score"]),
                int(_number(one["place"])),
                _number(one["gain"]),
                _number(one["repeated"]),
                {str(name): _number(adds) for name, adds in one["groups"].items()},
                tuple(
                    Contribution(str(name), _number(value), _number(adds))
                    for name, value, adds in one["features"]
                ),
            )
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            continue
    return explained


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError
    return float(value)  # type: ignore[arg-type]
