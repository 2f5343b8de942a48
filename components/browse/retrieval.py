"""An instance as it is read: the hypothesis may be edited; the picks of retrievers that run on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from components.resources import cached
from components.retrievers import Choice
from evidencebench_core.data import DatasetInfo, Instance
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import RETRIEVERS, Query, Retrieval, Retriever, make_retriever, query_of
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True)
class Reading:
    """A paper, the hypothesis that it is searched for, and the task, which says how many may be picked."""

    dataset: DatasetInfo
    instance: Instance
    hypothesis: str
    task: Task

    @property
    def cache_key(self) -> tuple[str, str, str, str]:
        """Tells it from other readings, whatever its paper is called."""
        return (self.dataset.stamp, self.instance.id, self.task.name, self.hypothesis)

    def query(self) -> Query:
        """The question to retrievers; the gold stays behind."""
        budget = self.task.budget_for(self.instance.evidence)
        return query_of(self.instance, self.task.focus, budget, self.hypothesis)


@cached(entries=16)
def _retriever(choice: Choice) -> Retriever:
    return make_retriever(choice.name, choice.settings)


@cached(entries=512)
def _place(reading: Reading, choice: Choice) -> dict[str, Retrieval]:
    return {}


def retrieval_at_hand(reading: Reading, choice: Choice) -> Retrieval | None:
    """The `retrieval`, if it was computed before."""
    return _place(reading, choice).get("answer")


def retrieval(reading: Reading, choice: Choice) -> Retrieval:
    """Picks of a retriever, right now.

    ``RetrieverError`` for one that asks a server: it may cost, so it is asked on a click (`models.asking`).
    """
    place = _place(reading, choice)
    if "answer" not in place:
        place["answer"] = _computed(reading, choice)
    return place["answer"]


def _computed(reading: Reading, choice: Choice) -> Retrieval:
    entry = RETRIEVERS[choice.name]
    if entry.asks_server:
        raise RetrieverError(
            f"retriever {choice.name}", "is not asked by itself", "Ask it on the page Browse."
        )
    if entry.sees_gold:
        retriever = make_retriever(choice.name, choice.settings, gold=reading.instance.evidence)
    else:
        retriever = _retriever(choice)
    return retriever.retrieve(reading.query())
