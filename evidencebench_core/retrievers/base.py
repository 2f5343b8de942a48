"""The seam between retrievers and everything else.

A retriever is given a `Query` and never an `Instance`, so gold cannot leak into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from evidencebench_core.data.model import Focus, Instance, SentenceType

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM

Setting = str | int | float | bool | None | tuple["Setting", ...]


@dataclass(frozen=True, slots=True)
class Query:
    """All that a retriever may know: the hypothesis, the candidate pool in the order of the paper, and the task."""

    hypothesis: str
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]  # same length
    sections: tuple[str, ...]  # same length
    focus: Focus = "all"  # which aspects the task asks for
    budget: int | None = 10  # how many sentences may be selected; None for the unconstrained task


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A retriever's raw answer to a query; scores are computed from it later. Rankers pick ``ranking[:budget]``."""

    ranking: tuple[
        int, ...
    ]  # sentence indices, best first, each at most once; the whole pool or the head of it
    scores: tuple[float, ...]  # same length, not increasing where each sentence is scored on its own
    selection: tuple[int, ...]  # the picks in the order in which they were made
    seconds: float = 0.0  # wall-clock time of the call; 0.0 where nobody timed it
    # Anything a reader should see beside the picks: a prompt, an answer.
    details: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Retriever(Protocol):
    """Chooses sentences for a query.

    ``name`` is the retriever's name in the table of names, ``settings`` everything that changes
    its answers, defaults included: both go into the id of a run.
    """

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Setting]: ...

    def retrieve(self, query: Query) -> Retrieval:
        """Rank and select; `RetrieverError` if no answer can be given."""
        ...


@runtime_checkable
class ServedRetriever(Retriever, Protocol):
    """A retriever that asks a server, for many queries at once."""

    def connected(self, store: Store) -> Self:
        """The same retriever, with what it needs of a store; `SettingError` if what its settings name is not there."""
        ...

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """The answer to a query, asked of a server; `LLMError` or `RetrieverError` if none can be given."""
        ...


def query_of(instance: Instance, focus: Focus, budget: int | None, hypothesis: str | None = None) -> Query:
    """The query of an instance, optionally with another hypothesis; its gold stays behind."""
    return Query(
        hypothesis=instance.hypothesis if hypothesis is None else hypothesis,
        sentences=instance.sentences,
        sentence_types=instance.sentence_types,
        sections=instance.sections,
        focus=focus,
        budget=budget,
    )
