"""The seam between retrievers and everything else.

A retriever is given a `Query` and never an `Instance`, so gold cannot leak into it. It is made whole by its
constructor, of its settings and of what it needs, and ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.data.model import EvidenceSet, Focus, Instance, SentenceType
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.notebook import Tabular
from evidencebench_core.retrievers.settings import Settings
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import clipped_text

ALL: Final = "On the unconstrained task it selects every sentence."

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.retrievers.encoding import TrainedOn


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """All that a retriever may know: the hypothesis, the candidate pool in the order of the paper, and the focus."""

    hypothesis: str
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]  # same length
    sections: tuple[str, ...]  # same length
    focus: Focus = "all"  # which aspects are asked for
    budget: int | None = None  # how many sentences may be selected; None: not decided yet, or no limit

    def __repr__(self) -> str:
        n = len(self.sentences)
        return f"Query({self.hypothesis[:80]!r}, {n} sentences, focus {self.focus!r}, budget {self.budget})"


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval(Tabular):
    """The answer to a query; ``details`` are what a reader should see beside the picks, as JSON values."""

    ranking: tuple[int, ...]  # sentence indices, best first, each at most once; the whole pool or its head
    scores: tuple[float, ...]  # same length, not increasing where each sentence is scored on its own
    n_picks: int | None = None  # how many of the ranking are selected; None: all, until `cut` says how many
    seconds: float = 0.0  # wall-clock time of the call; 0.0 where nobody timed it
    details: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        picks = clipped_text(", ".join(map(str, self.selection)), 80)
        return f"Retrieval({len(self.selection):,} of {len(self.ranking):,}: {picks})"

    def to_pandas(self) -> pd.DataFrame:
        """The ranking: ``rank`` from 1, ``sentence``, ``score``, and whether it is ``picked``."""
        import pandas as pd

        picked = [place < len(self.selection) for place in range(len(self.ranking))]
        ranks = range(1, len(self.ranking) + 1)
        columns = {"rank": ranks, "sentence": self.ranking, "score": self.scores, "picked": picked}
        return pd.DataFrame(columns)

    @property
    def selection(self) -> tuple[int, ...]:
        """The picks, in the order in which they were made."""
        return self.ranking[: self.n_picks]

    def cut(self, budget: int | None) -> Retrieval:
        """The same with at most ``budget`` picks, unless it has chosen how many by itself."""
        if budget is not None and budget < 0:
            raise RetrieverError("budget", f"cannot be {budget}", "Give 0 or more, or None for no limit.")
        return self if self.n_picks is not None or budget is None else replace(self, n_picks=budget)


class Retriever:
    """Ranks the sentences of a paper for a query; `make_retriever` makes one by its name."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one or two sentences for a list of retrievers
    settings_class: ClassVar[type[Settings]] = Settings
    by_budget: ClassVar[bool] = False  # whether it picks others for another budget: it is asked for each
    sees_gold: ClassVar[bool] = False  # the oracle alone: it is made for one instance
    asks_server: ClassVar[bool] = False  # whether it sends its queries to a server: it may cost money

    by_focus: bool = False  # whether a query's focus makes a difference: if not, one ranking answers for both
    basis: Mapping[str, str] = MappingProxyType({})  # digests of weights, prompts, examples: all that decides
    training: tuple[TrainedOn, ...] = ()  # what the models in it have learnt from

    def __init__(
        self, settings: Settings | None = None, *, store: Store | None = None, gold: EvidenceSet | None = None
    ) -> None:
        """`SettingError` or `RetrieverError` if it cannot be made of these."""
        self.settings: Any = settings or self.settings_class()
        place = f"retriever {getattr(self, 'name', '')}"
        if getattr(self.settings, "model", "") is None:
            raise SettingError(place, "has no model", "Name one, as in --set model=NAME.")
        if self.asks_server and store is None:
            remedy = "Give one: make_retriever(name, settings, store=store)."
            raise SettingError(place, "has no store to keep paid answers in", remedy)
        if self.sees_gold and gold is None:
            raise SettingError(place, "was given no gold", "Pass the instance's evidence.")
        self.store, self.gold = store, gold

    def rank(self, query: Query) -> Retrieval:
        """The ranking; `RetrieverError` if no answer can be given."""
        raise NotImplementedError

    def retrieve(self, query: Query) -> Retrieval:
        """The ranking, timed, with the picks that the query's budget allows."""
        began = perf_counter()
        retrieval = self.rank(query) if query.sentences else Retrieval((), ())
        return replace(retrieval, seconds=perf_counter() - began).cut(query.budget)


class ServedRetriever(Retriever):
    """A retriever that asks a server, for many queries at once; the answers are kept in its store."""

    asks_server = True
    store: Store

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """The answer to a query, asked of a server; `LLMError` or `RetrieverError` if none can be given."""
        raise NotImplementedError

    def rank(self, query: Query) -> Retrieval:
        """The same, asking the server that the environment names."""
        from evidencebench_core.llm import LLM, answer_of

        return answer_of(LLM(store=self.store), lambda llm: self.answer(llm, query))


def query_of(
    instance: Instance, task: str | Task = "all", budget: int | None = None, hypothesis: str | None = None
) -> Query:
    """The query of an instance, optionally with another hypothesis; its gold stays behind.

    ``task`` is a task by name, which says focus and budget; or a focus, and the budget is given.
    """
    focus = cast("Focus", task)
    if task not in ("all", "results"):
        chosen = task_named(task)
        focus, budget = chosen.focus, chosen.budget_for(instance.evidence)
    return Query(
        hypothesis=instance.hypothesis if hypothesis is None else hypothesis,
        sentences=instance.sentences,
        sentence_types=instance.sentence_types,
        sections=instance.sections,
        focus=focus,
        budget=budget,
    )


def ranking_by_score(scores: ArrayLike) -> Retrieval:
    """The whole pool by falling score, one a sentence; equal scores keep the order of the paper."""
    values = np.asarray(scores, dtype=float)
    if np.isnan(values).any():
        place = f"sentence {np.isnan(values).argmax()}"
        raise RetrieverError(place, "has no score (NaN)", "Check the retriever's settings.")
    order = np.argsort(-values, kind="stable")
    return Retrieval(tuple(order.tolist()), tuple(values[order].tolist()))


def ranking_in_order(order: Sequence[int]) -> Retrieval:
    """A given order, best first; the scores count down to 1."""
    scores = tuple(float(place) for place in range(len(order), 0, -1))
    return Retrieval(tuple(order), scores)
