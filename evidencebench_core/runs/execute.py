"""One retriever over one dataset, an instance at a time, as a generator of progress.

Whoever drives the generator decides the pace: the command shows a bar, the app a page. What an
instance yields is stored in one transaction before its progress is reported, so a kill at any moment
loses at most the instance in hand, and a later call goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import (
    Query,
    Retrieval,
    Retriever,
    full_settings,
    make_retriever,
    query_of,
    retriever_entry,
)
from evidencebench_core.runs.spec import RunSpec
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Task, task_named

__all__ = ["DEFAULT_TASKS", "Progress", "execute"]

DEFAULT_TASKS = ("er@optimal", "er@10", "result-er@optimal", "result-er@5")

# A run in which nothing at all has worked after so many tries would go on failing: no server, no model.
_HOPELESS_AFTER = 5


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
        The instance just stored; ``None`` in the first report, which comes before any work.
    """

    run_id: str
    done: int
    total: int
    failed: int
    elapsed: float
    remaining: float | None
    instance_id: str | None


def execute(
    store: Store,
    dataset: str,
    retriever: str,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Iterator[Progress]:
    """Run a retriever over a dataset, from where an earlier call left off.

    Everything is checked, and the run created, before this returns; the work is done as the iterator
    is consumed. Only pairs of instance and task without an answer are asked for, those that failed
    before at the end. Instances with nothing to cover in a task are not asked for it.

    Parameters
    ----------
    store : Store
    dataset, retriever : str
        Names.
    settings : mapping of str to object, optional
        Those that differ from the defaults.
    tasks : sequence of str or Task
        Without them the four with a budget.
    limit : int, optional
        Only the first so many instances of the dataset.
    cancelled : callable, optional
        Asked before every query; once it says true, what is answered is stored and the run ends.

    Yields
    ------
    Progress
        Once before any work, then after every instance that was not cut short by a cancel.

    Raises
    ------
    UnknownNameError, SettingError
        At the call: no such dataset, retriever, setting or task.
    RetrieverError
        At the call, if the retriever cannot be loaded; while running, if a run without any answer has
        been tried at least five times and never worked. What is stored stays.
    """
    info = store.dataset(dataset)
    chosen = tuple(dict.fromkeys(task if isinstance(task, Task) else task_named(task) for task in tasks))
    full = full_settings(retriever, settings)
    retriever_for = _retriever_for(retriever, full)
    runs = RunStore(store)
    run = runs.create(RunSpec(info.sha256, retriever, full), info)
    return _Execution(runs, run.id, dataset, retriever_for, chosen, cancelled or _never).progress(limit)


def _never() -> bool:
    return False


def _retriever_for(name: str, settings: Mapping[str, object]) -> Callable[[Instance], Retriever]:
    """Gold is handed to the one retriever that may see it, an instance at a time; others are made once."""
    if retriever_entry(name).sees_gold:
        return lambda instance: make_retriever(name, settings, evidence=instance.evidence)
    retriever = make_retriever(name, settings)
    return lambda _: retriever


class _Execution:
    """Counts what one call of `execute` has done."""

    def __init__(
        self,
        runs: RunStore,
        run_id: str,
        dataset: str,
        retriever_for: Callable[[Instance], Retriever],
        tasks: tuple[Task, ...],
        cancelled: Callable[[], bool],
    ) -> None:
        self.runs, self.run_id, self.dataset = runs, run_id, dataset
        self.retriever_for, self.tasks, self.cancelled = retriever_for, tasks, cancelled
        self.n_failures = 0  # queries of this call
        self.any_stored = False  # in this run, earlier calls included

    def progress(self, limit: int | None) -> Iterator[Progress]:
        total, pending = self.pending(limit)
        done, failed, began = total - len(pending), 0, time.monotonic()
        yield Progress(self.run_id, done, total, 0, 0.0, None if pending else 0.0, None)
        instances = self.runs.store.get_many(self.dataset, tuple(pending))
        for tried, instance in enumerate(instances, start=1):
            answers = self.answers(instance, pending[instance.id])
            self.runs.add(self.run_id, instance.id, answers)
            if len(answers) < len(pending[instance.id]):  # cancelled half-way
                return
            complete = not any(isinstance(answer, str) for answer in answers.values())
            done, failed = done + complete, failed + (not complete)
            elapsed = time.monotonic() - began
            remaining = elapsed / tried * (len(pending) - tried)
            yield Progress(self.run_id, done, total, failed, elapsed, remaining, instance.id)
            self.check_hope(answers)

    def pending(self, limit: int | None) -> tuple[int, dict[str, list[Task]]]:
        """How many instances can be answered at all, and what is missing, in file order, failures last."""
        ids = self.runs.store.ids(self.dataset, limit)
        resultless = self.resultless(None if limit is None else ids)
        done = {task: self.runs.done(self.run_id, task.name) for task in self.tasks}
        failures = {task: self.runs.failures(self.run_id, task.name).keys() for task in self.tasks}
        self.any_stored = any(done.values())
        fresh: dict[str, list[Task]] = {}
        again: dict[str, list[Task]] = {}
        total = 0
        for instance_id in ids:
            asked = [task for task in self.tasks if task.focus == "all" or instance_id not in resultless]
            missing = [task for task in asked if instance_id not in done[task]]
            total += bool(asked)
            if missing:
                retry = any(instance_id in failures[task] for task in missing)
                (again if retry else fresh)[instance_id] = missing
        return total, fresh | again

    def resultless(self, ids: Sequence[str] | None) -> set[str]:
        """Instances without result aspects: the result tasks skip them (spec rule 4)."""
        if all(task.focus == "all" for task in self.tasks):
            return set()
        gold = self.runs.store.evidence_sets(self.dataset, ids)
        return {instance_id for instance_id, evidence in gold if not evidence.focused("results")}

    def answers(self, instance: Instance, tasks: Sequence[Task]) -> dict[str, Retrieval | str]:
        """By task the raw retrieval or why there is none; fewer than asked for once cancelled."""
        answers: dict[str, Retrieval | str] = {}
        for task in tasks:
            if self.cancelled():
                break
            query = query_of(instance, task.focus, task.budget_for(instance.evidence))
            try:
                answers[task.name] = _timed(self.retriever_for(instance), query)
            except RetrieverError as error:
                answers[task.name] = str(error)
        return answers

    def check_hope(self, answers: Mapping[str, Retrieval | str]) -> None:
        reasons = [answer for answer in answers.values() if isinstance(answer, str)]
        self.n_failures += len(reasons)
        self.any_stored |= len(reasons) < len(answers)
        if not self.any_stored and self.n_failures >= _HOPELESS_AFTER:
            raise RetrieverError(
                f"run {self.run_id}",
                f"nothing has worked in the first {self.n_failures} tries; the last one said:"
                f" {reasons[-1].rstrip('.')}",
                "Mend that, then start the run again: it goes on from here.",
            )


def _timed(retriever: Retriever, query: Query) -> Retrieval:
    began = time.perf_counter()
    retrieval = retriever.retrieve(query)
    return retrieval if retrieval.seconds else replace(retrieval, seconds=time.perf_counter() - began)
