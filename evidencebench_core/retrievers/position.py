"""Retrievers that look only at where a sentence stands: any that reads should beat them."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranking import in_order

__all__ = ["AbstractTail", "Lead"]


class Lead:
    """The pool in the order of the paper."""

    name = "lead"

    def __init__(self) -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType({})

    def retrieve(self, query: Query) -> Retrieval:
        """The first sentences of the paper."""
        started = perf_counter()
        return in_order(query, range(len(query.sentences)), started)


class AbstractTail:
    """The abstract's sentences from last to first, then all others in the order of the paper.

    A paper without an abstract is read from the top, as by `Lead`.
    """

    name = "abstract-tail"

    def __init__(self) -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType({})

    def retrieve(self, query: Query) -> Retrieval:
        """The end of the abstract first."""
        started = perf_counter()
        abstract = [index for index, kind in enumerate(query.sentence_types) if kind == "abstract"]
        rest = [index for index, kind in enumerate(query.sentence_types) if kind != "abstract"]
        return in_order(query, abstract[::-1] + rest, started)
