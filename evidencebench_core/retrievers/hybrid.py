"""Several retrievers merged into one."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final, Self

from pydantic import Field, PrivateAttr

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.retrievers.base import Query, Retrieval, Retriever
from evidencebench_core.retrievers.ranking import ALL, retrieval_by_score
from evidencebench_core.retrievers.settings import Setting
from evidencebench_core.retrievers.trained_on import TrainedOn

_OWNER: Final = "retriever hybrid"


class Hybrid(Retriever, extra="allow"):
    """The members' rankings, merged by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

    The score of a sentence is the sum over members of ``1 / (k + rank)``, ranks from 1; a member
    that leaves the sentence out of its ranking adds nothing. Equal scores keep the order of the
    paper. Settings of members stand beside its own as ``bm25.k1``.
    """

    name = "hybrid"
    summary = f"Two or more retrievers merged by reciprocal rank fusion. {ALL}"

    of: tuple[str, ...] = Field(
        ("bm25", "dense"),
        description="The retrievers to merge, separated by commas; their own settings as bm25.k1=1.2.",
    )
    k: float = Field(
        60.0, ge=1, le=1e6, description="Added to every rank: the larger, the less the first places weigh."
    )
    _members: dict[str, Retriever] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _: object) -> None:
        """Read the settings of the members, which are sorted: their order changes nothing."""
        from evidencebench_core.retrievers.table import retriever_entry

        if len(self.of) < 2 or len(set(self.of)) != len(self.of):
            raise SettingError(_OWNER, f"of is {','.join(self.of)}", "Name two or more different retrievers.")
        given: dict[str, dict[str, Any]] = {name: {} for name in sorted(self.of)}
        for key, value in (self.model_extra or {}).items():
            member, _, setting = key.partition(".")
            if member not in given:
                problem = f"there is a setting for {shown(member)}, which is not one of its members"
                raise SettingError(_OWNER, problem, f"Members (setting of) are: {', '.join(given)}.")
            given[member][setting] = value
        for name, settings in given.items():
            entry = retriever_entry(name)
            if entry is Hybrid or entry.sees_gold or entry.asks_server:
                remedy = "Merge retrievers that run here and see no gold."
                raise SettingError(_OWNER, f"{name} cannot be one of its members", remedy)
            self._members[name] = entry.read(f"retriever {name}", settings)

    @property
    def settings(self) -> dict[str, Setting]:
        values: dict[str, Setting] = {"of": tuple(self._members), "k": self.k}
        for name, member in self._members.items():
            values |= {f"{name}.{key}": value for key, value in member.settings.items()}
        return values

    @property
    def training(self) -> tuple[TrainedOn, ...]:
        return tuple(data for member in self._members.values() for data in member.training)

    def prepared(self) -> Self:
        hybrid = self.model_copy()
        hybrid._members = {name: member.prepared() for name, member in self._members.items()}
        return hybrid

    def retrieve(self, query: Query) -> Retrieval:
        scores = [0.0] * len(query.sentences)
        details: dict[str, Any] = {}
        for name, member in self._members.items():
            retrieval = member.retrieve(query)
            for rank, index in enumerate(retrieval.ranking, start=1):
                scores[index] += 1.0 / (self.k + rank)
            details.update({f"{name}: {key}": value for key, value in retrieval.details.items()})
        return retrieval_by_score(query, scores, MappingProxyType(details))
