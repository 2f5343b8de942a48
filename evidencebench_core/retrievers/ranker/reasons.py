"""Why a sentence was picked: as data in the details of a retrieval, read back from there, and in plain words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Query, Retrieval
from evidencebench_core.retrievers.ranker.features import FEATURES, TABLE
from evidencebench_core.retrievers.ranker.selection import Pick

_LISTED: Final = 6  # features of an explanation
_MOST: Final = 3  # reasons of a pick
_LEAST: Final = 0.05  # of the largest contribution; what adds less is no reason


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


def explained_retrieval(
    query: Query,
    scores: NDArray[np.float64],
    picks: Sequence[Pick],
    rows: NDArray[np.float32],
    contributions: NDArray[np.float64],
) -> Retrieval:
    """The picks in their order, explained, then the rest of the pool by score.

    The scores of the retrieval are those given: along the picks they need not fall. ``rows`` are the features of the
    picks within the budget, ``contributions`` what each column adds to their scores: first the features, then what
    embeddings say of the sentence, then what they say of the sentences around it.
    """
    first = dict.fromkeys(pick.sentence for pick in picks)
    ranking = tuple(first | dict.fromkeys(np.argsort(-scores, kind="stable").tolist()))
    explanation = _explanation_text(picks[: query.budget], scores, rows, contributions)
    return Retrieval(
        ranking,
        tuple(round(float(scores[index]), 6) for index in ranking),
        ranking if query.budget is None else ranking[: query.budget],
        details=MappingProxyType({"explanation": explanation}),
    )


def _explanation_text(
    picks: Sequence[Pick],
    scores: NDArray[np.float64],
    rows: NDArray[np.float32],
    contributions: NDArray[np.float64],
) -> str:
    """As JSON: by sentence index the other fields of `PickExplanation`, rounded."""
    places = np.argsort(np.argsort(-scores, kind="stable"), kind="stable") + 1
    n_features = len(FEATURES)
    n_topics = (contributions.shape[1] - n_features) // 3
    columns = {name: [at for at, row in enumerate(TABLE) if row["group"] == name] for name in _GROUPS}
    if n_topics:
        columns[_SAYS] = list(range(n_features, n_features + n_topics))
        columns["neighbours"] += range(n_features + n_topics, contributions.shape[1])
    explained: dict[str, dict[str, object]] = {}
    for pick, values, adds in zip(picks, rows, contributions, strict=True):
        most = np.argsort(-np.abs(adds[:n_features]), kind="stable")[:_LISTED].tolist()
        explained[str(pick.sentence)] = {
            "score": round(float(scores[pick.sentence]), 3),
            "place": int(places[pick.sentence]),
            "gain": round(pick.gain, 4),
            "repeated": round(pick.repeated, 3),
            "groups": {name: round(float(adds[of].sum()), 3) for name, of in columns.items()},
            "features": [
                Contribution(FEATURES[at], round(float(values[at]), 3), round(float(adds[at]), 3))
                for at in most
            ],
        }
    return json.dumps(explained)


_SAYS: Final = "what it says"
_GROUPS: Final = tuple(dict.fromkeys(row["group"] for row in TABLE))


def explanations_in(retrieval: Retrieval) -> dict[int, PickExplanation]:
    """The explanations of a retrieval's picks by sentence; none where its retriever gives none."""
    try:
        raw = json.loads(retrieval.details.get("explanation", "{}"))
        return {
            int(key): PickExplanation(
                sentence=int(key),
                features=tuple(Contribution(*feature) for feature in one["features"]),
                **{name: one[name] for name in ("score", "place", "gain", "repeated", "groups")},
            )
            for key, one in raw.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


# -- in words ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wording:
    """A feature in words."""

    topic: str  # of several features of one topic only the one with the highest ``sharp`` is said
    sharp: int
    says: tuple[tuple[float, str], ...]  # of a sentence with at least so much; the last that applies counts

    def phrase(self, value: float) -> str:
        """The words for a sentence with this value; empty where there are none."""
        return next((words for least, words in reversed(self.says) if value >= least), "")


def _wording(row: Mapping[str, str]) -> Wording:
    says = [part.split(":", 1) for part in row["says"].split(";") if part]
    words = tuple((float(least), text.strip()) for least, text in says)
    return Wording(row["topic"], int(row["sharp"] or 0), words)


WORDINGS: Final = MappingProxyType({row["name"]: _wording(row) for row in TABLE})
"""By the names of `FEATURES`; a cell ``says`` of the table is ``least: words; ...``."""


GROUP_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "words shared": "shares words with the hypothesis",
        "meaning shared": "close to the hypothesis in meaning",
        _SAYS: "says what evidence often says",
        "neighbours": "stands among sentences that bear on the hypothesis",
        "centrality": "says what the paper is about",
        "place": "stands where evidence often stands",
        "kind of text": "is in a part that often holds evidence",
        "surface": "is as long and as full of figures as evidence often is",
        "cue words": "is worded as evidence often is",
    }
)
"""By the groups of `PickExplanation`."""


def reasons(explanation: PickExplanation) -> tuple[str, ...]:
    """Up to three reasons in plain words, as parts of a sentence, the weightiest first.

    A feature is a reason if it added to the score and its value bears the words out: that a sentence cites
    nobody may have helped it, but is not why one would read it. Of the features of one topic the one that
    says most is named. Where no feature is left, the group that added most is; if none added anything, there
    is no reason.
    """
    by_topic: dict[str, tuple[int, str]] = {}
    most = max((abs(one.adds) for one in explanation.features), default=0.0)
    for name, value, adds in explanation.features:
        wording = WORDINGS.get(name)
        if wording is None or adds <= _LEAST * most or not (phrase := wording.phrase(value)):
            continue
        if wording.topic not in by_topic or wording.sharp > by_topic[wording.topic][0]:
            by_topic[wording.topic] = (wording.sharp, phrase)
    if by_topic:
        return tuple(phrase for _, phrase in by_topic.values())[:_MOST]
    group, adds = max(explanation.groups.items(), key=lambda item: item[1], default=("", 0.0))
    return (GROUP_REASONS[group],) if adds > 0 and group in GROUP_REASONS else ()


def why_texts(retrieval: Retrieval) -> dict[int, str]:
    """One plain sentence a pick, by sentence index; none for a pick without reasons.

    >>> why_texts(Retrieval((), (), (), 0.0))
    {}
    """
    joined = {index: "; ".join(reasons(one)) for index, one in explanations_in(retrieval).items()}
    return {index: f"{text[0].upper()}{text[1:]}." for index, text in joined.items() if text}
