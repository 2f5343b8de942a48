"""A plan carried out, as a generator of progress.

Whoever drives it decides the pace: the command shows a bar, the app a page. What an instance yields is stored in
one transaction before its progress is reported, so a kill at any moment loses at most the instances in hand, and
another plan of the same run goes on from there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final, cast

from evidencebench_core.errors import EvidenceBenchError, RetrieverError, StoreError
from evidencebench_core.runs.engines import Answered, Engine, LocalEngine
from evidencebench_core.runs.plan import AnyPlan, AnyQuestion

_Answers = dict[str, dict[str, Any]]  # what is stored by id and task name; a failure is its reason

# A run in which nothing at all has worked after so many tries would go on failing: no server, no model.
_HOPELESS_AFTER: Final = 5


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    run_id : str
    done : int
        Instances with an answer for every task asked for, earlier calls included.
    total : int
        Instances that can be answered: those with something to cover in at least one of the tasks.
    failed : int
        Instances of this call for which at least one task has no answer.
    elapsed : float
        Seconds since this call began.
    remaining : float or None
        Seconds still to go at this call's pace; ``None`` before its first instance.
    instance_id : str or None
        The instance just stored; ``None`` in the first report, which comes before any work, and in those that
        only have a new note or count of calls.
    left_out : int
        Instances that the run's variant has no version of; they are not in ``total``.
    note : str
        Why it waits, where it does: a limit of the server, a server that is gone.
    calls : int
        Answered by the server so far, by the plan's budget: they go on while no instance is done yet.
    """

    run_id: str
    done: int
    total: int
    failed: int
    elapsed: float
    remaining: float | None
    instance_id: str | None
    left_out: int = 0
    note: str = ""
    calls: int = 0


def execute(
    plan: AnyPlan, engine: Engine | None = None, cancelled: Callable[[], bool] | None = None
) -> Iterator[Progress]:
    """Ask what a plan has found missing, and store the answers.

    The engine is checked before this returns; the work is done as the iterator is consumed. The run is in the store
    with its first answers, or once there is nothing left to ask.

    Parameters
    ----------
    plan : Plan or ChatPlan
    engine : Engine, optional
        Without it the questions are answered here (`engines.local`).
    cancelled : callable, optional
        Asked again and again; once it says true no question is begun, what is answered is stored, and the
        run ends.

    Yields
    ------
    Progress
        Once before any work, then after every instance that was not cut short by a cancel, and where there is
        a new note or count of calls.

    Raises
    ------
    RetrieverError
        If a run without any answer has been tried at least five times and never worked. What is stored stays.
    LLMError
        If every further call would fail like the one that did: a key that is refused, a cap that is reached, a
        server that is gone for good. What is stored stays.
    SettingError
        If the engine cannot ask this retriever.
    """
    engine = engine or LocalEngine()
    engine.check(plan)
    return _Execution(plan, any_answer=plan.any_stored).progress(engine, cancelled or (lambda: False))


@dataclass(slots=True)
class _Execution:
    """Counts what one call of `execute` has done."""

    plan: AnyPlan
    any_answer: bool  # to a query, of earlier calls too
    began: float = field(default_factory=time.monotonic)
    failed: int = 0  # instances
    answered: int = 0  # instances
    n_failures: int = 0  # queries
    left_out: int = 0  # instances that turned out to have no variant
    note: str = ""
    calls: int = 0  # when last reported
    is_created: bool = False
    parts: _Answers = field(default_factory=dict)  # of instances under way
    unasked: deque[str] = field(default_factory=deque)  # instances that turned out to have no variant

    def progress(self, engine: Engine, cancelled: Callable[[], bool]) -> Iterator[Progress]:
        yield self.report(None)
        answers = cast(
            "Generator[Sequence[Answered]]", engine.answers(self.plan, self.questions(), cancelled)
        )
        try:
            with closing(answers):
                for batch in answers:
                    yield from self.stored(self.completed(batch))
                    note = getattr(engine, "note", "") or (self.plan.llm.note if self.plan.llm else "")
                    if (note, self.n_calls()) != (self.note, self.calls):
                        self.note = note
                        yield self.report(None)
        except StoreError as error:
            self.parts.clear()  # to try again would take as long
            if waiting := self.plan.llm.note if self.plan.llm else "":
                raise StoreError(error.place, error.problem, f"{error.remedy} {waiting}") from error
            raise
        finally:
            self.keep(self.parts)
        yield from self.stored({})
        self.create()

    def questions(self) -> Iterator[AnyQuestion]:
        """Read ahead by the engine, perhaps in another thread."""
        for instance_id, questions in self.plan.questions():
            if not questions:
                self.unasked.append(instance_id)
            yield from questions

    def completed(self, batch: Sequence[Answered]) -> _Answers:
        """The instances that a batch completes, with all their answers."""
        whole: _Answers = {}
        for question, answer in batch:
            one = question.instance_id
            if answer is None:
                self.unasked.append(one)
                continue
            parts = self.parts.setdefault(one, {})
            is_error = isinstance(answer, EvidenceBenchError)
            parts[question.task] = str(answer) if is_error else self.plan.result(question, answer)
            if len(parts) == len(self.plan.missing[one]):
                whole[one] = self.parts.pop(one)
        return whole

    def stored(self, whole: _Answers) -> Iterator[Progress]:
        self.keep(whole)
        while self.unasked:
            self.left_out += 1
            yield self.report(self.unasked.popleft())
        for instance_id, answers in whole.items():
            reasons = [answer for answer in answers.values() if isinstance(answer, str)]
            self.n_failures += len(reasons)
            self.failed, self.answered = self.failed + bool(reasons), self.answered + (not reasons)
            yield self.report(instance_id)
            self.any_answer |= len(reasons) < len(answers)
            if not self.any_answer and self.n_failures >= _HOPELESS_AFTER:
                raise RetrieverError(
                    f"run {self.plan.run_id}",
                    f"nothing has worked in the first {self.n_failures} tries; the last one said:"
                    f" {reasons[-1].rstrip('.')}",
                    "Fix that, then start the run again: it goes on from here.",
                )

    def keep(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        if answers:
            self.create()
            self.plan.keep(answers)

    def create(self) -> None:
        if not self.is_created:
            self.plan.create()
            self.is_created = True

    def report(self, instance_id: str | None) -> Progress:
        plan, n_missing = self.plan, len(self.plan.missing)
        elapsed, tried = time.monotonic() - self.began, self.failed + self.answered + self.left_out
        remaining = elapsed / tried * (n_missing - tried) if tried else None
        self.calls = self.n_calls()
        return Progress(
            plan.run_id,
            plan.total - n_missing + self.answered,
            plan.total - self.left_out,
            self.failed,
            elapsed,
            remaining if n_missing else 0.0,
            instance_id,
            plan.left_out + self.left_out,
            self.note,
            self.calls,
        )

    def n_calls(self) -> int:
        return self.plan.llm.budget.spent.calls if self.plan.llm else 0
