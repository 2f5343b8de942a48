"""The seam between retrievers and everything else.

A retriever is given a `Query` and never an `Instance`, so gold cannot leak into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import PrivateAttr

from evidencebench_core.data.model import Focus, Instance, SentenceType
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.retrievers.settings import Setting, Settings

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.retrievers.trained_on import TrainedOn


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

    ranking: tuple[int, ...]  # sentence indices, best first, each at most once; the whole pool or its head
    scores: tuple[float, ...]  # same length, not increasing where each sentence is scored on its own
    selection: tuple[int, ...]  # the picks in the order in which they were made
    seconds: float = 0.0  # wall-clock time of the call; 0.0 where nobody timed it
    # What a reader should see beside the picks, as JSON values: a model's weights, reasons, calls.
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class Retriever(Settings):
    """Chooses sentences for a query. Its fields are its settings; `make_retriever` makes one that is ready."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one or two sentences for a list of retrievers
    sees_gold: ClassVar[bool] = False  # the oracle alone
    asks_server: ClassVar[bool] = False  # whether it sends its queries to a server: it may cost money

    @property
    def settings(self) -> dict[str, Setting]:
        """Everything that changes its answers, defaults included: it goes into the id of a run with the name."""
        return self.values()

    @property
    def training(self) -> tuple[TrainedOn, ...]:
        """What the models in it have learnt from, of one that is ready."""
        return ()

    def prepared(self) -> Self:
        """The same, ready to be asked, with its derived settings; `SettingError` or `RetrieverError` if it cannot."""
        return self

    def retrieve(self, query: Query) -> Retrieval:
        """Rank and select; `RetrieverError` if no answer can be given."""
        raise NotImplementedError

    def _with(self, setting: str, value: Setting) -> Self:
        """The same with a derived setting; `SettingError` if it was given as something else."""
        given = getattr(self, setting)
        if given not in (None, value):
            problem = f"{setting} is {shown(given)} in the run's settings, and now it is {shown(value)}"
            remedy = f"Leave {setting} out: that begins another run."
            raise SettingError(f"retriever {self.name}", problem, remedy)
        return self.model_copy(update={setting: value})


class ServedRetriever(Retriever):
    """A retriever that asks a server, for many queries at once."""

    asks_server = True
    _store: Store | None = PrivateAttr(None)

    def connected(self, store: Store) -> Self:
        """The same retriever, with what it needs of a store; `SettingError` if what its settings name is not there."""
        retriever = self.model_copy()
        retriever._store = store
        return retriever

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """The answer to a query, asked of a server; `LLMError` or `RetrieverError` if none can be given."""
        raise NotImplementedError

    def retrieve(self, query: Query) -> Retrieval:
        """The same, asking the server that the environment names; answers are kept in the store at hand."""
        from evidencebench_core.data.store import open_store
        from evidencebench_core.llm import LLM, answer_of

        retriever = self if self._store else self.connected(open_store())
        return answer_of(LLM(store=retriever._store), lambda llm: retriever.answer(llm, query))


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
