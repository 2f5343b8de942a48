"""The floor and the ceiling: retrievers that read nothing, which any that reads should beat, and the best selection."""

import hashlib
import random
from collections.abc import Sequence

from pydantic import Field

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.metrics import best_cover, optimal_cover
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


class Oracle(Retriever):
    """Selects what covers most with the budget, and never more sentences than that needs: the ceiling.

    The only retriever that sees gold. The ranking is the selection in greedy order (next comes the one that adds
    most), then the other sentences that cover an aspect of the focus, then the rest; scores are 2, 1 and 0. Where
    there is nothing to cover the selection is empty; where the best takes too long to find, it is the best found.
    """

    name = "oracle"
    summary = "The best selection there is, made with the gold in hand: the ceiling."
    sees_gold = True
    by_budget = True
    by_focus = True
    gold: EvidenceSet

    def rank(self, query: Query) -> Retrieval:
        covers = self.gold.covers(query.focus)
        cover = optimal_cover(covers)
        if query.budget is not None and len(cover) > query.budget:
            cover = best_cover(covers, query.budget)
        selection = _greedy_order(cover, covers)
        covering = sorted(frozenset[int]().union(*covers).difference(selection))
        known = {*selection, *covering}
        rest = [index for index in range(len(query.sentences)) if index not in known]
        return Retrieval(
            ranking=(*selection, *covering, *rest),
            scores=(2.0,) * len(selection) + (1.0,) * len(covering) + (0.0,) * len(rest),
            n_picks=len(selection),
        )


def _greedy_order(picks: Sequence[int], covers: Sequence[frozenset[int]]) -> tuple[int, ...]:
    left, open_aspects, order = sorted(picks), list(covers), list[int]()
    while left:
        pick = max(left, key=lambda index: sum(index in cover for cover in open_aspects))
        left.remove(pick)
        open_aspects = [cover for cover in open_aspects if pick not in cover]
        order.append(pick)
    return tuple(order)
