"""Engines answer the units of a plan; whichever does, the results are the same and land in the same store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from evidencebench_core.errors import EvidenceBenchError, LLMCancelledError, RetrieverError
from evidencebench_core.llm import LLM, results
from evidencebench_core.retrievers import Query, Retrieval, Retriever
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.runs.plan import Plan, RetrievalPlan, Unit

if TYPE_CHECKING:
    from evidencebench_core.runs.store import Results

_COMMIT: Final = 0.25  # seconds of computing between two commits


class Engine(Protocol):
    """One way to answer units; ``note`` says what it waits for, in a line for people."""

    note: str

    def check(self, plan: Plan) -> None:
        """Raise an `EvidenceBenchError` where it cannot answer the units of a plan; nothing is begun."""
        ...

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        """Results as they come, in any order; once ``stopped`` says so no unit is begun.

        An `EvidenceBenchError` that every further unit would meet is raised after all that was answered before it.
        """
        ...


@dataclass(slots=True)
class LocalEngine:
    """One unit after the other in this process; of a server, as many as there may be calls at once.

    Once the run is stopped, calls under way have ``grace`` seconds to end; their answers are kept.
    """

    grace: float = 30.0
    note: str = ""

    def check(self, plan: Plan) -> None:
        """Any unit can be answered here."""

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        if plan.llm is not None:
            pieces = ((unit.id, partial(ask, plan, unit)) for unit in plan.units())
            for ready in results(plan.llm, pieces, stopped=stopped, grace=self.grace):
                yield dict(cast("Any", ready))
            return
        computed: dict[str, dict[str, Any]] = {}
        last = 0.0  # so that the first result is there at once
        retrieval_plan = cast("RetrievalPlan", plan)
        for unit in retrieval_plan.units():
            if stopped():
                break
            computed[unit.id] = compute(retrieval_plan.retriever_for(unit), unit)
            if time.monotonic() > last + _COMMIT:
                yield computed
                computed, last = {}, time.monotonic()
        yield computed


def compute(retriever: Retriever, unit: Unit) -> dict[str, Retrieval | str]:
    """The answers of a retriever that asks no server, by task, or in one line why there is none."""
    answers: dict[str, Retrieval | str] = {}
    for task, query in unit.queries.items():
        try:
            answers[task] = timed(retriever.retrieve)(cast("Query", query))
        except RetrieverError as error:
            answers[task] = str(error)
    return answers


async def ask(plan: Plan, unit: Unit, llm: LLM) -> dict[str, Any]:
    """The results of a unit by task, asked of a server side by side, or in one line why there is none."""
    tasks = list(unit.queries)
    results = await asyncio.gather(
        *(_attempt(plan, unit, task, llm) for task in tasks), return_exceptions=True
    )
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:  # calls that were cancelled are consequences of another error
        raise min(errors, key=lambda error: isinstance(error, LLMCancelledError))
    return dict(zip(tasks, results, strict=True))


async def _attempt(plan: Plan, unit: Unit, task: str, llm: LLM) -> Any:
    try:
        return await plan.answer(llm, unit, task)
    except EvidenceBenchError as error:
        if not (isinstance(error, LLMCancelledError) or getattr(error, "stops_run", False)):
            return str(error)
        llm.stop()
        raise
