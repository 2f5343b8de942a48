"""Engines answer the questions of a plan; whichever does, the answers are the same and land in the same store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.runs.plan import AnyPlan, AnyQuestion, Plan, Question

Answered = tuple[AnyQuestion, Any]
"""A question, and its answer, or the `EvidenceBenchError` that says why there is none.

The answer is what the plan's conversation gives: a `Retrieval`, or a mapping that is JSON-able. ``None``: the
variant has no version of its instance.
"""


class Engine(Protocol):
    """One way to answer questions."""

    def check(self, plan: AnyPlan) -> None:
        """Raise an `EvidenceBenchError` where it cannot answer the questions of a plan; nothing is begun."""
        ...

    def answers(
        self, plan: AnyPlan, questions: Iterable[AnyQuestion], stopped: Callable[[], bool]
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


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """One question after the other in this process; of those that ask a server, as many as there may be calls at once.

    Attributes
    ----------
    grace : float
        Seconds that calls under way have to end once the run is stopped; their answers are kept.
    """

    grace: float = 30.0

    def check(self, plan: AnyPlan) -> None:
        """Any question can be asked here."""

    def answers(
        self, plan: AnyPlan, questions: Iterable[AnyQuestion], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        if plan.llm is not None:
            from evidencebench_core.llm.conversation import results

            conversations = ((one, plan.conversation(one)) for one in questions)
            yield from results(plan.llm, conversations, fresh=plan.fresh, stopped=stopped, grace=self.grace)
            return
        computing = cast("Plan", plan)
        for question in cast("Iterable[Question]", questions):
            if stopped():
                return
            try:
                yield [(question, timed(computing.retriever_for(question).retrieve)(question.query))]
            except RetrieverError as error:
                yield [(question, error)]
