"""Engines answer the questions of a plan; whichever does, the results are the same and land in the same store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, cast

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Query
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.runs.plan import Plan, Question, RetrievalPlan

Answered: TypeAlias = tuple[Question, Any]
"""A question, and its result, or the `EvidenceBenchError` that says why there is none."""


class Engine(Protocol):
    """One way to answer questions."""

    def check(self, plan: Plan) -> None:
        """Raise an `EvidenceBenchError` where it cannot answer the questions of a plan; nothing is begun."""
        ...

    def answers(
        self, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        """Results as they come, in any order. Once ``stopped`` says so no question is begun.

        Raises
        ------
        EvidenceBenchError
            One that every further question would meet, after all that was answered before it.
        """
        ...


def work_of(plan: Plan, question: Question) -> Any:
    """The work of a question for `llm.results`."""
    return partial(_work, plan, question)


async def _work(plan: Plan, question: Question, llm: Any) -> Any:
    return await plan.answer(llm, question)


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """One question after the other in this process; to a server, as many as there may be calls at once.

    Once the run is stopped, calls under way have ``grace`` seconds to end; their answers are kept.
    """

    grace: float = 30.0

    def check(self, plan: Plan) -> None:
        """Any question can be asked here."""

    def answers(
        self, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        if plan.llm is not None:
            from evidencebench_core.llm.work import results

            pieces = ((question, work_of(plan, question)) for question in questions)
            yield from results(plan.llm, pieces, stopped=stopped, grace=self.grace)
            return
        for question in questions:
            if stopped():
                return
            yield [(question, computed(cast("RetrievalPlan", plan), question))]


def computed(plan: RetrievalPlan, question: Question) -> Any:
    """The answer of a retriever that asks no server, or its error."""
    try:
        return timed(plan.retriever_for(question).retrieve)(cast("Query", question.query))
    except RetrieverError as error:
        return error
