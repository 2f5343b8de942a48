from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from time import perf_counter
from types import MappingProxyType

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import Query, Retrieval

_NO_DETAILS: Mapping[str, str] = MappingProxyType({})


def retrieval_by_score(
    query: Query, scores: Sequence[float], started: float, details: Mapping[str, str] = _NO_DETAILS
) -> Retrieval:
    """The whole pool by falling score, the first ``budget`` selected; equal scores keep the order of the paper.

    ``started`` is `time.perf_counter` at the start of the call.
    """
    for index, score in enumerate(scores):
        if math.isnan(score):
            raise RetrieverError(f"sentence {index}", "has no score (NaN)", "Check the retriever's settings.")
    order = tuple(sorted(range(len(query.sentences)), key=lambda index: -scores[index]))
    return Retrieval(
        ranking=order,
        scores=tuple(float(scores[index]) for index in order),
        selection=_head(order, query.budget),
        seconds=perf_counter() - started,
        details=details,
    )


def retrieval_in_order(query: Query, order: Sequence[int], started: float) -> Retrieval:
    """A given order of the whole pool; the scores count down from the number of sentences to 1."""
    ranking = tuple(order)
    return Retrieval(
        ranking=ranking,
        scores=tuple(float(place) for place in range(len(ranking), 0, -1)),
        selection=_head(ranking, query.budget),
        seconds=perf_counter() - started,
    )


def _head(order: tuple[int, ...], budget: int | None) -> tuple[int, ...]:
    if budget is not None and budget < 0:
        raise RetrieverError("budget", f"is {budget}", "Give 0 or more, or None for no limit.")
    return order[:budget]
