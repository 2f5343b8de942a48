"""The retriever ``structure``: fixed, readable weights on where a sentence stands and what it looks like."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.data.model import Focus
from evidencebench_core.retrievers.base import ALL, Query, Retrieval, Retriever
from evidencebench_core.retrievers.encoding import MINILM, Encoder
from evidencebench_core.retrievers.ranker.features import FEATURES, Features, features_at, standardised
from evidencebench_core.retrievers.ranker.selection import Selecting, picks_of, ranking_of_picks
from evidencebench_core.retrievers.settings import Settings

WEIGHTS: Final[Mapping[Focus, Mapping[str, float]]] = tomllib.loads(  # type: ignore[assignment]
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
_CUES: Final = frozenset({"finding", "conclusion", "citation", "significance", "test statistic"})


def structure_scores(focus: Focus, features: Features) -> NDArray[np.float64]:
    """The sum of the weighted features of each sentence."""
    scores = np.zeros(len(features.rows))
    for name, weight in WEIGHTS[focus].items():
        values = features.rows[:, FEATURES.index(name)].astype(np.float64)
        if name in _CUES:
            values = (values > 0).astype(np.float64)
        elif name == "place in abstract":
            values = np.maximum(values, 0)
        scores += weight * values
    return scores


class Structure(Retriever):
    """Scores sentences by fixed weights (`WEIGHTS`) and selects as the trained ranker does.

    The weights were set by hand, looking at the benchmark's train set; nothing is learnt.
    """

    name = "structure"
    summary = (
        "Fixed, readable weights on where a sentence stands, what it looks like and how near it is to the "
        f"hypothesis; picks that repeat each other count less. {ALL}"
    )
    by_focus = True

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        super().__init__(settings, **needs)
        self.encoder = Encoder(MINILM)
        self.basis = {"encoder": self.encoder.identity}

    def rank(self, query: Query) -> Retrieval:
        features, _ = features_at(self.encoder, query)
        scores = standardised(structure_scores(query.focus, features))
        return ranking_of_picks(scores, picks_of(scores, features.similarities, Selecting()))
