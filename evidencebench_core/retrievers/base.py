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
    """All that a retriever may know.

    Attributes
    ----------
    hypothesis : str
    sentences, sentence_types, sections : tuples of one length
        The candidate pool in the order of the paper.
    focus : {"all", "results"}
        Which aspects the task asks for.
    budget : int or None
        How many sentences may be selected; ``None`` for the unconstrained task.
    """

    hypothesis: str
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]
    sections: tuple[str, ...]
    focus: Focus = "all"
    budget: int | None = 10


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A retriever's raw answer to a query; scores are computed from it later.

    Attributes
    ----------
    ranking : tuple of int
        Sentence indices, best first, each at most once; the whole pool or the head of it.
    scores : tuple of float
        Same length as ``ranking``, not increasing where the retriever scores each sentence on its own.
    selection : tuple of int
        The picks in the order in which they were made. Rankers pick ``ranking[:budget]``
        (the whole ranking where the budget is ``None``).
    seconds : float
        Wall-clock time of the call; 0.0 where nobody timed it.
    details : mapping of str to str
        Anything a reader should see beside the picks: a prompt, an answer.
    """

    ranking: tuple[int, ...]
    scores: tuple[float, ...]
    selection: tuple[int, ...]
    seconds: float = 0.0
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
        """Rank and select.

        Raises
        ------
        RetrieverError
            If no answer can be given.
        """
        ...


@runtime_checkable
class ServedRetriever(Retriever, Protocol):
    """A retriever that asks a server, for many queries at once."""

    def connected(self, store: Store) -> Self:
        """The same retriever, with what it needs of a store; its settings may tell more then.

        Raises
        ------
        SettingError
            If what the settings name is not there.
        """
        ...

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """The answer to a query, asked of a server.

        Raises
        ------
        LLMError, RetrieverError
            If no answer can be given.
        """
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
