"""One instance's queries put to a retriever; what comes of it, whichever thread does it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.errors import LLMCancelledError, LLMError, RetrieverError
from evidencebench_core.retrievers import Query, Retrieval, Retriever
from evidencebench_core.runs.variant import (
    Perturbed,
    arranged_evidence,
    in_original_indices,
    perturbed_query,
)
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True)
class Item:
    """An instance with the tasks it is to be asked; ``perturbed`` is ``None`` if its variant leaves it out."""

    instance: Instance
    perturbed: Perturbed | None
    tasks: Sequence[Task]


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of one instance."""

    instance_id: str
    answers: Mapping[str, Retrieval | str] = field(default_factory=dict)
    whole: bool = True
    left_out: bool = False

    @property
    def reasons(self) -> list[str]:
        """Why there are no answers, where there are none."""
        return [answer for answer in self.answers.values() if isinstance(answer, str)]


class Asker:
    """Asks, for any number of threads if the retriever is fit for that."""

    def __init__(
        self, retriever_for: Callable[[EvidenceSet], Retriever], cancelled: Callable[[], bool]
    ) -> None:
        self._retriever_for, self._cancelled = retriever_for, cancelled
        self._stopping = threading.Event()
        self.stopped_by: LLMError | None = None

    def stop(self) -> None:
        """Begin no other query."""
        self._stopping.set()

    def answered(self, item: Item) -> Answered:
        """The answers of an instance, as many as there were before a cancel or an error that stops the run."""
        instance, perturbed = item.instance, item.perturbed
        if perturbed is None:
            return Answered(instance.id, left_out=True)
        answers: dict[str, Retrieval | str] = {}
        evidence = arranged_evidence(instance.evidence, perturbed.order)
        for task, query in zip(item.tasks, queries_of(item), strict=True):
            if self._stopping.is_set() or self._cancelled():
                break
            try:
                answer = _timed(self._retriever_for(evidence), query)
                answers[task.name] = in_original_indices(answer, perturbed.order)
            except LLMCancelledError:
                break
            except LLMError as error:
                if error.stops_run:
                    self.stopped_by = self.stopped_by or error
                    self.stop()
                    break
                answers[task.name] = str(error)
            except RetrieverError as error:
                answers[task.name] = str(error)
        return Answered(instance.id, answers, len(answers) == len(item.tasks))


def queries_of(item: Item) -> list[Query]:
    """The queries of an instance, one a task; none if it is left out."""
    if item.perturbed is None:
        return []
    evidence = item.instance.evidence
    return [
        perturbed_query(item.instance, item.perturbed, task.focus, task.budget_for(evidence))
        for task in item.tasks
    ]


def _timed(retriever: Retriever, query: Query) -> Retrieval:
    began = time.perf_counter()
    retrieval = retriever.retrieve(query)
    return retrieval if retrieval.seconds else replace(retrieval, seconds=time.perf_counter() - began)
