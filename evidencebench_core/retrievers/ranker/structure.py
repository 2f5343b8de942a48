"""The retriever ``structure``: fixed, readable weights on where a sentence stands and what it looks like."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Final

import numpy as np

from evidencebench_core.data.model import Focus
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranker.features import FEATURES, features_of
from evidencebench_core.retrievers.ranker.model import Selecting
from evidencebench_core.retrievers.ranker.retriever import picks_of, retrieval_of_picks

_BOTH: Final[Mapping[str, float]] = MappingProxyType(
    {
        "cosine standardised": 0.6,
        "bm25 standardised": 0.3,
        "centrality by relevance": 5.0,
        "abstract": 2.0,
        "heading": -1.5,
        "finding": 0.3,
        "conclusion": 0.3,
        "citation": -0.4,
    }
)
WEIGHTS: Final[Mapping[Focus, Mapping[str, float]]] = MappingProxyType(
    {
        "all": MappingProxyType({**_BOTH, "place in abstract": 1.0, "part: conclusion": 0.6}),
        "results": MappingProxyType(
            {
                **_BOTH,
                "place in abstract": 1.5,
                "part: conclusion": 0.8,
                "part: results": 0.5,
                "part: methods": -0.8,
                "significance": 0.5,
                "test statistic": 0.5,
            }
        ),
    }
)
"""What one unit of a feature adds to a sentence's score; cue words count once, however many there are."""

_CUES: Final = frozenset({"finding", "conclusion", "citation", "significance", "test statistic"})


class Structure:
    """Scores sentences by fixed weights (`WEIGHTS`) and selects as the trained ranker does.

    The weights were set by hand, looking at the benchmark's train set; nothing is learnt.

    Parameters
    ----------
    encoder : str
        The embedding model: ``"minilm"``, a local folder or a hub name.
    """

    name = "structure"

    def __init__(self, *, encoder: str = "minilm") -> None:
        from evidencebench_core.retrievers.encoding import check_model_name

        check_model_name(encoder)
        self.settings: Mapping[str, Setting] = MappingProxyType({"encoder": encoder})
        self._encoder = encoder

    def retrieve(self, query: Query) -> Retrieval:
        """Rank, select, and say why."""
        started = perf_counter()
        from evidencebench_core.retrievers.encoding import embeddings

        if not query.sentences:
            return Retrieval((), (), (), perf_counter() - started)
        vectors, _ = embeddings(self._encoder, (query.hypothesis, *query.sentences))
        features = features_of(query, vectors)
        rows = features.rows.astype(np.float64)
        weights = np.zeros(len(FEATURES))
        for place, name in enumerate(FEATURES):
            weights[place] = WEIGHTS[query.focus].get(name, 0.0)
            if name in _CUES:
                rows[:, place] = rows[:, place] > 0
            elif name == "place in abstract":
                rows[:, place] = np.maximum(rows[:, place], 0)
        scores = rows @ weights
        spread = float(scores.std()) or 1.0
        scores = (scores - scores.mean()) / spread
        picks = picks_of(scores, features.similarities, query.budget, Selecting())
        chosen = [pick.sentence for pick in picks[: query.budget]]
        adds = (rows[chosen] - rows.mean(axis=0)) * weights / spread
        return retrieval_of_picks(query, scores, picks, started, features.rows[chosen], adds)
