"""From scores or an order to a `Retrieval`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import Retrieval

_NO_DETAILS: Mapping[str, Any] = MappingProxyType({})
ALL: Final = "On the unconstrained task it selects every sentence."


def ranking_by_score(scores: ArrayLike, details: Mapping[str, Any] = _NO_DETAILS) -> Retrieval:
    """The whole pool by falling score, one a sentence; equal scores keep the order of the paper."""
    values = np.asarray(scores, dtype=float)
    if np.isnan(values).any():
        place = f"sentence {np.isnan(values).argmax()}"
        raise RetrieverError(place, "has no score (NaN)", "Check the retriever's settings.")
    order = np.argsort(-values, kind="stable")
    return Retrieval(tuple(order.tolist()), tuple(values[order].tolist()), details=details)


def ranking_in_order(order: Sequence[int]) -> Retrieval:
    """A given order, best first; the scores count down to 1."""
    scores = tuple(float(place) for place in range(len(order), 0, -1))
    return Retrieval(tuple(order), scores)
