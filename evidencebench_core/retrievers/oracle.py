"""The best selection there is."""

from __future__ import annotations

from collections.abc import Sequence

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.metrics import best_cover, optimal_cover
from evidencebench_core.retrievers.base import Query, Retrieval, Retriever
from evidencebench_core.retrievers.settings import Settings


class Oracle(Retriever):
    """Selects what covers most with the budget, and never more sentences than that needs: the ceiling.

    The only retriever that sees gold. The ranking is the selection, then the other sentences that
    cover an aspect of the focus, then the rest, each part but the first in the order of the paper;
    scores are 2, 1 and 0 for the three parts. The picks are in greedy order: next comes the one
    that adds most. Where there is nothing to cover (Result tasks of an instance without result
    aspects) the selection is empty. Where the best selection takes too long to find, it is the best found.
    """

    name = "oracle"
    summary = "The best selection there is, made with the gold in hand: the ceiling."
    sees_gold = True
    by_budget = True
    by_focus = True

    def __init__(
        self, settings: Settings | None = None, *, gold: EvidenceSet | None = None, **_: object
    ) -> None:
        super().__init__(settings, gold=gold)
        if gold is None:
            raise SettingError("retriever oracle", "was given no gold", "Pass the instance's evidence.")
        self._evidence = gold

    def rank(self, query: Query) -> Retrieval:
        n_sentences = len(query.sentences)
        if n_sentences != self._evidence.n_sentences:
            raise RetrieverError(
                "retriever oracle",
                f"was given the gold of a paper with {self._evidence.n_sentences} sentences, "
                f"but the query has {n_sentences}",
                "Make one oracle for every instance.",
            )
        covers = self._evidence.covers(query.focus)
        selection = _greedy_order(_best_selection(covers, query.budget), covers)
        covering = sorted(frozenset[int]().union(*covers).difference(selection))
        known = {*selection, *covering}
        rest = [index for index in range(n_sentences) if index not in known]
        return Retrieval(
            ranking=(*selection, *covering, *rest),
            scores=(2.0,) * len(selection) + (1.0,) * len(covering) + (0.0,) * len(rest),
            n_picks=len(selection),
        )


def _best_selection(covers: Sequence[frozenset[int]], budget: int | None) -> tuple[int, ...]:
    cover = optimal_cover(covers)
    return cover if budget is None or len(cover) <= budget else best_cover(covers, budget)


def _greedy_order(picks: Sequence[int], covers: Sequence[frozenset[int]]) -> tuple[int, ...]:
    left, open_aspects, order = sorted(picks), list(covers), list[int]()
    while left:
        pick = max(left, key=lambda index: sum(index in cover for cover in open_aspects))
        left.remove(pick)
        open_aspects = [cover for cover in open_aspects if pick not in cover]
        order.append(pick)
    return tuple(order)
