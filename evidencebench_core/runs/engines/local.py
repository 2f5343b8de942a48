"""Answers computed in this process, or asked of a server from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import Retrieval, Retriever
from evidencebench_core.runs.engines import Answered
from evidencebench_core.runs.plan import Plan, Question


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """One question after the other; of those that ask a server, as many as there may be calls at once.

    Attributes
    ----------
    grace : float
        Seconds that calls under way have to end once the run is stopped; their answers are kept.
    """

    grace: float = 30.0

    def check(self, plan: Plan) -> None:
        """Any retriever can be asked here."""

    def answers(
        self, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        if plan.llm is not None:
            from evidencebench_core.llm.conversation import results

            llm, served = plan.served
            conversations = ((one, served.conversation(one.query)) for one in questions)
            yield from results(llm, conversations, fresh=plan.fresh, stopped=stopped, grace=self.grace)
            return
        for question in questions:
            if stopped():
                return
            try:
                yield [(question, answer_of(plan.retriever_for(question), question))]
            except RetrieverError as error:
                yield [(question, error)]


def answer_of(retriever: Retriever, question: Question) -> Retrieval:
    """The retriever's answer, with the time it took."""
    began = time.perf_counter()
    retrieval = retriever.retrieve(question.query)
    return retrieval if retrieval.seconds else replace(retrieval, seconds=time.perf_counter() - began)
