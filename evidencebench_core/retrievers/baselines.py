"""Retrievers that read nothing: any that reads should beat them."""

from __future__ import annotations

import hashlib
import random

from pydantic import Field

from evidencebench_core.retrievers.base import (
    ALL,
    Query,
    Retrieval,
    Retriever,
    ranking_by_score,
    ranking_in_order,
)
from evidencebench_core.retrievers.settings import Settings


class Lead(Retriever):
    """The pool in the order of the paper."""

    name = "lead"
    summary = f"Sentences in the order of the paper. {ALL}"

    def rank(self, query: Query) -> Retrieval:
        return ranking_in_order(range(len(query.sentences)))


class AbstractTail(Retriever):
    """The abstract's sentences from last to first, then all others in the order of the paper.

    A paper without an abstract is read from the top, as by `Lead`.
    """

    name = "abstract-tail"
    summary = f"The abstract from its last sentence to its first, then the paper in order. {ALL}"

    def rank(self, query: Query) -> Retrieval:
        abstract = [index for index, kind in enumerate(query.sentence_types) if kind == "abstract"]
        rest = [index for index, kind in enumerate(query.sentence_types) if kind != "abstract"]
        return ranking_in_order(abstract[::-1] + rest)


class RandomSettings(Settings):
    seed: int = Field(0, ge=0, description="Another seed, another order.")


class RandomOrder(Retriever):
    """One independent uniform draw from [0, 1) a sentence, ranked from high to low.

    The generator is seeded with a hash of the seed, the hypothesis and the paper's text, so the
    answer depends neither on the order in which instances are asked nor on the process.
    """

    name = "random"
    summary = f"Sentences in random order, the same whenever it is asked again. {ALL}"
    settings_class = RandomSettings

    def rank(self, query: Query) -> Retrieval:
        digest = hashlib.sha256(str(self.settings.seed).encode())
        for text in (query.hypothesis, *query.sentences):
            part = text.encode("utf-8", "surrogatepass")
            digest.update(b"\0%d\0" % len(part))  # the length keeps ("ab", "c") apart from ("a", "bc")
            digest.update(part)
        draws = random.Random(int.from_bytes(digest.digest(), "big"))  # noqa: S311  (nothing secret here)
        return ranking_by_score([draws.random() for _ in query.sentences])
