"""From scores or an order to a `Retrieval`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.base import Query, Retrieval

_P = ParamSpec("_P")
_NO_DETAILS: Mapping[str, Any] = MappingProxyType({})
ALL: Final = "On the unconstrained task it selects every sentence."


def timed(retrieve: Callable[_P, Retrieval]) -> Callable[_P, Retrieval]:
    """The same call, with its wall-clock seconds in the retrieval."""

    @wraps(retrieve)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> Retrieval:
        began = perf_counter()
        retrieval = retrieve(*args, **kwargs)
        return replace(retrieval, seconds=perf_counter() - began)

    return call


def retrieval_by_score(
    query: Query, scores: ArrayLike, details: Mapping[str, Any] = _NO_DETAILS
) -> Retrieval:
    """The whole pool by falling score, the first ``budget`` selected; equal scores keep the order of the paper."""
    values = np.asarray(scores, dtype=float)
    if np.isnan(values).any():
        place = f"sentence {np.isnan(values).argmax()}"
        raise RetrieverError(place, "has no score (NaN)", "Check the retriever's settings.")
    order = np.argsort(-values, kind="stable")
    ranking = tuple(order.tolist())
    return Retrieval(ranking, tuple(values[order].tolist()), _head(ranking, query.budget), details=details)


def retrieval_in_order(query: Query, order: Sequence[int]) -> Retrieval:
    """A given order of the whole pool; the scores count down from the number of sentences to 1."""
    ranking = tuple(order)
    scores = tuple(float(place) for place in range(len(ranking), 0, -1))
    return Retrieval(ranking, scores, _head(ranking, query.budget))


def _head(order: tuple[int, ...], budget: int | None) -> tuple[int, ...]:
    if budget is not None and budget < 0:
        raise RetrieverError("budget", f"is {budget}", "Give 0 or more, or None for no limit.")
    return order[:budget]
