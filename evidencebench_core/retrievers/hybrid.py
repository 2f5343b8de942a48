from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.make import make_retriever
from evidencebench_core.retrievers.ranking import retrieval_by_score


class Hybrid:
    """The members' rankings, merged by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

    The score of a sentence is the sum over members of ``1 / (k + rank)``, ranks from 1; a member
    that leaves the sentence out of its ranking adds nothing. Equal scores keep the order of the
    paper.
    """

    name = "hybrid"

    def __init__(
        self, *, of: tuple[str, ...] = ("bm25", "dense"), k: float = 60.0, **nested: Setting
    ) -> None:
        self.settings: Mapping[str, Setting] = MappingProxyType({"of": of, "k": k, **nested})
        self._k = k
        self._members = {
            member: make_retriever(
                member,
                {
                    key.removeprefix(f"{member}."): value
                    for key, value in nested.items()
                    if key.startswith(f"{member}.")
                },
            )
            for member in of
        }

    def retrieve(self, query: Query) -> Retrieval:
        """Ask every member, merge, select the best."""
        scores = [0.0] * len(query.sentences)
        details: dict[str, str] = {}
        for name, member in self._members.items():
            retrieval = member.retrieve(query)
            for rank, index in enumerate(retrieval.ranking, start=1):
                scores[index] += 1.0 / (self._k + rank)
            details.update({f"{name}: {key}": text for key, text in retrieval.details.items()})
        return retrieval_by_score(query, scores, MappingProxyType(details))
