"""The pool in a random order that is always the same for the same seed, hypothesis and paper."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from time import perf_counter
from types import MappingProxyType

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.ranking import ranked

__all__ = ["RandomOrder"]


class RandomOrder:
    """One independent uniform draw from [0, 1) a sentence, ranked from high to low.

    The generator is seeded with a hash of the seed, the hypothesis and the paper's text, so the
    answer depends neither on the order in which instances are asked nor on the process. Focus and
    budget do not enter: the picks of a smaller budget are the first picks of a larger one.
    """

    name = "random"

    def __init__(self, *, seed: int = 0) -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType({"seed": seed})
        self._seed = seed

    def retrieve(self, query: Query) -> Retrieval:
        """Rank and select at random."""
        started = perf_counter()
        draws = random.Random(_seed_of(self._seed, query))  # noqa: S311  (nothing secret here)
        return ranked(query, [draws.random() for _ in query.sentences], started)


def _seed_of(seed: int, query: Query) -> int:
    digest = hashlib.sha256(str(seed).encode())
    for text in (query.hypothesis, *query.sentences):
        part = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(part))  # the length keeps ("ab", "c") apart from ("a", "bc")
        digest.update(part)
    return int.from_bytes(digest.digest(), "big")
