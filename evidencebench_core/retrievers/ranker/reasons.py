"""Why a sentence was picked, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.retrievers.base import Retrieval
from evidencebench_core.retrievers.ranker.features import FEATURES, TABLE

_STRONGEST: Final = 6  # features that are looked at for reasons
_MOST: Final = 3  # reasons of a pick
_LEAST: Final = 0.05  # of the largest contribution; what adds less is no reason

SAYS: Final = "what it says"
GROUP_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "words shared": "shares words with the hypothesis",
        "meaning shared": "close to the hypothesis in meaning",
        SAYS: "says what evidence often says",
        "neighbours": "stands among sentences that bear on the hypothesis",
        "centrality": "says what the paper is about",
        "place": "stands where evidence often stands",
        "kind of text": "is in a part that often holds evidence",
        "surface": "is as long and as full of figures as evidence often is",
        "cue words": "is worded as evidence often is",
    }
)
"""By the groups of features, and `SAYS` for what the embedding of a sentence adds."""


class Phrasing(NamedTuple):
    """A feature in words."""

    topic: str  # of several features of one topic only the one with the highest ``sharp`` is said
    sharp: int
    says: tuple[tuple[float, str], ...]  # of a sentence with at least so much; the last that applies counts

    def phrase(self, value: float) -> str:
        """The words for a sentence with this value; empty where there are none."""
        return next((words for least, words in reversed(self.says) if value >= least), "")


def _phrasing(row: Mapping[str, str]) -> Phrasing:
    says = [part.split(":", 1) for part in row["says"].split(";") if part]
    words = tuple((float(least), text.strip()) for least, text in says)
    return Phrasing(row["topic"], int(row["sharp"] or 0), words)


PHRASINGS: Final = tuple(_phrasing(row) for row in TABLE)
"""Of `FEATURES`; a cell ``says`` of the table is ``least: words; ...``."""


def explained_ranking(
    scores: NDArray[np.float64],
    picks: Sequence[int],
    rows: NDArray[np.float32],
    contributions: NDArray[np.float64],
) -> Retrieval:
    """The picks in their order, the first of them explained, then the rest of the pool by score.

    The scores of the retrieval are those given: along the picks they need not fall. ``rows`` are the features of the
    picks that are explained, ``contributions`` what each column adds to their scores: first the features, then what
    embeddings say of the sentence, then what they say of the sentences around it.
    """
    rest = np.argsort(-scores, kind="stable").tolist()
    ranking = tuple(dict.fromkeys((*picks, *rest)))
    why = {}
    for pick, values, adds in zip(picks, rows, contributions, strict=False):
        if text := "; ".join(reasons(values, adds)):
            why[str(pick)] = f"{text[0].upper()}{text[1:]}."
    return Retrieval(
        ranking,
        tuple(round(float(scores[index]), 6) for index in ranking),
        details=MappingProxyType({"why": why}),
    )


def why_texts(retrieval: Retrieval) -> dict[int, str]:
    """One plain sentence a pick, by sentence index; none for a pick without reasons."""
    return {int(index): text for index, text in retrieval.details.get("why", {}).items()}


def reasons(values: NDArray[np.float32], adds: NDArray[np.float64]) -> tuple[str, ...]:
    """Up to three reasons in plain words, as parts of a sentence, the weightiest first.

    A feature is a reason if it added to the score and its value bears the words out: that a sentence cites
    nobody may have helped it, but is not why one would read it. Of the features of one topic the one that
    says most is named. Where no feature is left, the group that added most is; if none added anything, there
    is no reason.
    """
    sizes = np.abs(adds[: len(FEATURES)])
    by_topic: dict[str, tuple[int, str]] = {}
    for column in np.argsort(-sizes, kind="stable")[:_STRONGEST]:
        topic, sharp, _ = phrasing = PHRASINGS[column]
        phrase = phrasing.phrase(float(values[column]))
        is_reason = adds[column] > _LEAST * sizes.max() and phrase
        if is_reason and (topic not in by_topic or sharp > by_topic[topic][0]):
            by_topic[topic] = (sharp, phrase)
    if by_topic:
        return tuple(phrase for _, phrase in by_topic.values())[:_MOST]
    groups = _groups(adds)
    strongest = max(groups, key=lambda name: groups[name])
    return (GROUP_REASONS[strongest],) if groups[strongest] > 0 else ()


def _groups(adds: NDArray[np.float64]) -> dict[str, float]:
    """What each group of columns adds to a score."""
    n_features = len(FEATURES)
    n_topics = (len(adds) - n_features) // 3
    groups = dict.fromkeys(GROUP_REASONS, 0.0)
    for row, share in zip(TABLE, adds, strict=False):
        groups[row["group"]] += float(share)
    groups[SAYS] = float(adds[n_features : n_features + n_topics].sum())
    groups["neighbours"] += float(adds[n_features + n_topics :].sum())
    return groups
