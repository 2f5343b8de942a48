"""A plan carried out, as a generator of progress.

Whoever drives it decides the pace. What a unit yields is stored in one transaction before its progress is reported, so
a kill loses at most the units in hand, and another plan of the same run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final, cast

from evidencebench_core.errors import EvidenceBenchError, RetrieverError
from evidencebench_core.runs.engines import Answered, Engine, LocalEngine
from evidencebench_core.runs.plan import Plan
from evidencebench_core.runs.store import RunStore

_HOPELESS_AFTER: Final = 10  # failures of a run in which nothing has worked


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in units; a report without a unit has a new note or count of calls."""

    run_id: str
    done: int  # with a result for every task asked for, earlier calls included
    total: int
    failed: int  # of this call, with at least one task without a result
    elapsed: float  # seconds since this call began
    remaining: float | None  # seconds at this call's pace; None before its first unit
    unit: str | None  # the one just stored
    left_out: int = 0  # units without a version in the variant; not in the total
    note: str = ""  # why it waits, where it does
    calls: int = 0  # answered by the server so far


def execute(
    plan: Plan, engine: Engine | None = None, cancelled: Callable[[], bool] | None = None
) -> Iterator[Progress]:
    """Ask what a plan has found missing, and store the answers as the iterator is consumed.

    The engine (without one: `LocalEngine`) is checked before this returns. The first report comes before any work, then
    one after every unit. Once ``cancelled`` says true no question is begun, what is answered is stored, and the run
    ends. The run is in the store with its first answers, or once there is nothing left to ask.

    Raises
    ------
    StoreError
        If the run is under way in another process; if the store cannot be written.
    RetrieverError
        If a run without any result has failed ten times.
    LLMError
        If every further call would fail: a key that is refused, a cap that is reached, a server that is gone.
    SettingError
        If the engine cannot ask this retriever.
    """
    engine = engine or LocalEngine()
    engine.check(plan)
    return _Execution(plan).progress(engine, cancelled or (lambda: False))


@dataclass(slots=True)
class _Execution:
    """Counts what one call of `execute` has done."""

    plan: Plan
    began: float = field(default_factory=time.monotonic)
    n_failed: int = 0  # units
    n_answered: int = 0  # units
    n_failures: int = 0  # questions
    any_result: bool = False
    is_created: bool = False
    note: str = ""
    calls: int = 0  # when last reported
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)  # of units under way, by task

    def progress(self, engine: Engine, cancelled: Callable[[], bool]) -> Iterator[Progress]:
        plan = self.plan
        self.any_result = plan.any_stored
        yield self.report(None)
        if plan.llm is not None:
            plan.llm.fresh = plan.fresh
        with RunStore(plan.store).under_way(plan.run_id):
            questions = (question for _, part in plan.questions() for question in part)
            answers = cast("Generator[Sequence[Answered]]", engine.answers(plan, questions, cancelled))
            try:
                with closing(answers):
                    for answered in answers:
                        yield from self.stored(self.completed(answered))
                        note = getattr(engine, "note", "") or (plan.llm.note if plan.llm else "")
                        if (note, self.n_calls()) != (self.note, self.calls):
                            self.note = note
                            yield self.report(None)
            finally:
                self.keep(self.parts)
            self.create()

    def completed(self, answered: Sequence[Answered]) -> dict[str, dict[str, Any]]:
        """The units that have all their results now."""
        whole: dict[str, dict[str, Any]] = {}
        for question, result in answered:
            parts = self.parts.setdefault(question.unit, {})
            parts[question.task] = str(result) if isinstance(result, EvidenceBenchError) else result
            if len(parts) == len(self.plan.missing[question.unit]):
                whole[question.unit] = self.parts.pop(question.unit)
        return whole

    def stored(self, whole: dict[str, dict[str, Any]]) -> Iterator[Progress]:
        self.keep(whole)
        for unit, results in whole.items():
            reasons = [result for result in results.values() if isinstance(result, str)]
            self.n_failures += len(reasons)
            self.n_failed, self.n_answered = self.n_failed + bool(reasons), self.n_answered + (not reasons)
            yield self.report(unit)
            self.any_result |= len(reasons) < len(results)
            if not self.any_result and self.n_failures >= _HOPELESS_AFTER:
                raise RetrieverError(
                    f"run {self.plan.run_id}",
                    f"nothing has worked in the first {self.n_failures} tries; the last one says:"
                    f" {reasons[-1].rstrip('.')}",
                    "Fix that, then start the run again: it goes on from here.",
                )

    def keep(self, results: dict[str, dict[str, Any]]) -> None:
        if results:
            self.create()
            self.plan.keep(results)

    def create(self) -> None:
        if not self.is_created:
            self.plan.create()
            self.is_created = True

    def report(self, unit: str | None) -> Progress:
        plan, n_missing = self.plan, len(self.plan.missing)
        elapsed, tried = time.monotonic() - self.began, self.n_failed + self.n_answered
        remaining = elapsed / tried * (n_missing - tried) if tried else None
        self.calls = self.n_calls()
        return Progress(
            plan.run_id,
            plan.total - n_missing + self.n_answered,
            plan.total,
            self.n_failed,
            elapsed,
            remaining if n_missing else 0.0,
            unit,
            plan.left_out,
            self.note,
            self.calls,
        )

    def n_calls(self) -> int:
        return self.plan.llm.budget.spent.calls if self.plan.llm else 0
