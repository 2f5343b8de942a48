"""Retrievers made of others: several merged into one, and the first of one ranked again by a cross-encoder."""

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, Field

from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.base import ALL, Query, Retrieval, Retriever, ranking_by_score
from evidencebench_core.retrievers.encoding import load_encoder, model_identity
from evidencebench_core.retrievers.settings import Settings


def _members(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, each once and sorted: their order changes nothing."""
    from evidencebench_core.retrievers.table import retriever_entry

    for entry in map(retriever_entry, names):
        if issubclass(entry, ComposedRetriever) or entry.sees_gold or entry.asks_server:
            remedy = "Take retrievers that run here, have no members and see no gold."
            raise SettingError(f"retriever {entry.name}", "cannot be a member of another", remedy)
    return tuple(sorted(set(names)))


Members = Annotated[tuple[str, ...], AfterValidator(_members)]


class ComposedRetriever(Retriever):
    """A retriever that asks its members, those that its setting ``of`` names, each with its defaults."""

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        from evidencebench_core.retrievers.table import make_retriever

        super().__init__(settings, **needs)
        self.members = {name: make_retriever(name) for name in self.settings.of}
        self.by_focus = any(member.by_focus for member in self.members.values())
        self.by_budget = any(member.by_budget for member in self.members.values())  # type: ignore[misc]
        self.training = tuple(data for member in self.members.values() for data in member.training)
        self.basis = {}
        for name, member in self.members.items():
            self.basis |= {f"{name}.{part}": digest for part, digest in member.basis.items()}


class HybridSettings(Settings):
    of: Members = Field(("bm25", "dense"), min_length=2, description="The two or more retrievers to merge.")
    k: float = Field(
        60.0, ge=1, le=1e6, description="Added to every rank: the larger, the less the first places weigh."
    )


class Hybrid(ComposedRetriever):
    """The members' rankings, merged by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).

    The score of a sentence is the sum over members of ``1 / (k + rank)``, ranks from 1; a member
    that leaves the sentence out of its ranking adds nothing. Equal scores keep the order of the paper.
    """

    name = "hybrid"
    summary = f"Two or more retrievers merged by reciprocal rank fusion. {ALL}"
    settings_class = HybridSettings

    def rank(self, query: Query) -> Retrieval:
        scores = [0.0] * len(query.sentences)
        for member in self.members.values():
            for rank, index in enumerate(member.rank(query).ranking, start=1):
                scores[index] += 1.0 / (self.settings.k + rank)
        return ranking_by_score(scores)


class RerankSettings(Settings):
    model: str | None = Field(
        None, description="A sentence-transformers cross-encoder: a folder or a Hugging Face name."
    )
    of: Members = Field(
        (),
        max_length=1,
        description="The retriever whose first sentences are ranked again; none: the whole paper.",
    )
    n: int = Field(50, ge=1, description="How many of its first sentences.")


class Rerank(ComposedRetriever):
    """Scores of a sentence-transformers ``CrossEncoder``, which sees hypothesis and sentence together.

    Behind the first ``n`` sentences of another retriever stand its others, in its order, with scores below.
    """

    name = "rerank"
    summary = f"A cross-encoder over the whole paper, or over the first sentences of another retriever. {ALL}"
    settings_class = RerankSettings

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        super().__init__(settings, **needs)
        self.basis = {**self.basis, "model": model_identity(self.settings.model)}

    def rank(self, query: Query) -> Retrieval:
        order = list(range(len(query.sentences)))
        for member in self.members.values():
            order = list(member.rank(query).ranking)
        head = order[: self.settings.n] if self.members else order
        pairs = [(query.hypothesis, query.sentences[index]) for index in head]
        try:
            encoder = load_encoder(self.settings.model, "CrossEncoder")
            scores = encoder.predict(pairs, show_progress_bar=False) if pairs else []
            of_head = np.asarray(scores, dtype=float).reshape(len(head))
        except (RuntimeError, ValueError, IndexError) as error:
            problem = f"could not score the sentences ({' '.join(str(error).split())[:120]})"
            raise RetrieverError(
                f"model {self.settings.model}", problem, "Give a cross-encoder with one output."
            ) from error
        values = np.full(len(query.sentences), -np.inf)
        values[order] = of_head.min(initial=0.0) - 1.0 - np.arange(len(order))
        values[head] = of_head
        return ranking_by_score(values)
