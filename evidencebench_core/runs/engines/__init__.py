"""Engines answer the questions of a plan; whichever does, the answers are the same and land in the same store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs.plan import Plan, Question

Answered = tuple[Question, Retrieval | EvidenceBenchError]
"""A question, and its answer or why there is none."""


class Engine(Protocol):
    """One way to answer questions."""

    def check(self, plan: Plan) -> None:
        """Raise an `EvidenceBenchError` where it cannot answer the questions of a plan; nothing is begun."""
        ...

    def answers(
        self, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        """Answers as they come, in any order.

        Questions are read as they can be begun. Once ``stopped`` says so none is begun; those under way may
        end. A question that was cut short has no answer.

        Raises
        ------
        EvidenceBenchError
            One that every further question would meet, after all that was answered before it.
        """
        ...
