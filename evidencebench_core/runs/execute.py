"""One retriever over one dataset, as a generator of progress: an instance at a time, or many for a server.

Whoever drives the generator decides the pace: the command shows a bar, the app a page. What an
instance yields is stored in one transaction before its progress is reported, so a kill at any moment
loses at most the instances in hand, and a later call goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.runs.asking import Answered, Asker, Item
from evidencebench_core.runs.pending import Pending, pending_of
from evidencebench_core.runs.prepared import Prepared, prepared
from evidencebench_core.runs.store import RunInfo, RunStore
from evidencebench_core.runs.trained import keep_trained
from evidencebench_core.runs.variant import Perturbed, Variant
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.retrievers.llm.session import Session


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
    left_out : int
        Instances that the run's variant has no version of, as far as they are known by now: an
        arrangement tells only once the instance is read. They are not in ``total``.
    """

    run_id: str
    done: int
    total: int
    failed: int
    elapsed: float
    remaining: float | None
    instance_id: str | None
    left_out: int = 0


def execute(  # noqa: PLR0913 - the first three say what is run, the others how
    store: Store,
    dataset: str,
    retriever: str,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    cancelled: Callable[[], bool] | None = None,
    *,
    variant: Variant | None = None,
    session: Session | None = None,
    concurrency: int | None = None,
) -> Iterator[Progress]:
    """Run a retriever over a dataset, from where an earlier call left off.

    Everything is checked, and the run created, before this returns; the work is done as the iterator
    is consumed. Only pairs of instance and task without an answer are asked for, those that failed
    before at the end. Instances with nothing to cover in a task are not asked for it.

    A retriever that asks a server is asked for several instances at once, and its answers are stored as
    they come: then reports are in no order. When it is stopped, calls under way may end first.

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
    variant : Variant, optional
        Perturbs the instances; those that it has no version of are left out and counted. Gold, budget
        and the sentence indices of what is stored are those of the original.
    session : Session, optional
        How a server is asked (`retrievers.llm.session_for`): which one, with what cap. A fresh one asks
        for everything again, and its answers take the place of those of the run. Without it the server
        that is in force is asked, and answers are kept in the store.
    concurrency : int, optional
        Instances at once; without it as many as the retriever says. Of no use to those that ask no server.

    Yields
    ------
    Progress
        Once before any work, then after every instance that was not cut short by a cancel.

    Raises
    ------
    UnknownNameError, SettingError
        At the call: no such dataset, retriever, setting or task. While running: an arrangement that
        is none.
    RetrieverError
        At the call, if the retriever cannot be loaded; while running, if a run without any answer has
        been tried at least five times and never worked. What is stored stays.
    LLMError
        While running, if every further call would fail like the one that did: a key that is refused, a cap
        that is reached. What is stored stays.
    """
    ready = prepared(store, dataset, retriever, settings, variant, session)
    chosen = tuple(dict.fromkeys(task if isinstance(task, Task) else task_named(task) for task in tasks))
    runs = RunStore(store)
    run = runs.create(ready.spec, ready.dataset)
    for digest, trained in ready.trained.items():
        keep_trained(store, digest or run.id, trained)
    n_workers = 1
    if ready.served is not None:
        n_workers = ready.served.concurrency if concurrency is None else max(1, concurrency)
    execution = _Execution(runs, run, ready, chosen, cancelled or _never, variant, n_workers)
    return execution.progress(limit)


def _never() -> bool:
    return False


class _Execution:
    """Counts what one call of `execute` has done."""

    def __init__(
        self,
        runs: RunStore,
        run: RunInfo,
        ready: Prepared,
        tasks: tuple[Task, ...],
        cancelled: Callable[[], bool],
        variant: Variant | None,
        n_workers: int,
    ) -> None:
        self.runs, self.run_id, self.dataset = runs, run.id, run.dataset
        self.session, self.tasks, self.variant = ready.session, tasks, variant
        self.fresh = ready.session is not None and ready.session.fresh
        self.cancelled, self.n_workers = cancelled, n_workers
        # Workers stop on a signal; only whoever reads the progress asks whether to.
        self.asker = Asker(ready.retriever_for, cancelled if ready.session is None else _never)
        self.n_failures = 0  # queries of this call
        self.any_stored = False  # in this run, earlier calls included

    def progress(self, limit: int | None) -> Iterator[Progress]:
        pending = pending_of(
            self.runs, self.run_id, self.dataset, self.tasks, limit, self.variant, self.fresh
        )
        n_pending, total, left_out = len(pending.missing), pending.total, pending.left_out
        self.any_stored = pending.any_stored
        done, failed, tried, began = total - n_pending, 0, 0, time.monotonic()
        yield Progress(self.run_id, done, total, 0, 0.0, None if n_pending else 0.0, None, left_out)
        with closing(self.batches(pending)) as batches:
            for batch in batches:
                self.runs.add_all(self.run_id, {one.instance_id: one.answers for one in batch}, self.fresh)
                for one in batch:
                    if not one.whole:
                        continue
                    tried, elapsed = tried + 1, time.monotonic() - began
                    if one.left_out:
                        total, left_out = total - 1, left_out + 1
                    else:
                        done, failed = done + (not one.reasons), failed + bool(one.reasons)
                    remaining = None if one.left_out else elapsed / tried * (n_pending - tried)
                    yield Progress(
                        self.run_id, done, total, failed, elapsed, remaining, one.instance_id, left_out
                    )
                    self.check_hope(one)
        if self.asker.stopped_by is not None:
            raise self.asker.stopped_by

    def batches(self, pending: Pending) -> Generator[list[Answered], None, None]:
        """The work itself: what is answered, as it comes."""
        if self.session is not None:
            from evidencebench_core.llm.parallel import in_parallel

            yield from in_parallel(
                self.asker.answered,
                self.items(pending),
                self.n_workers,
                stopped=self.cancelled,
                stop=self.stop,
                close=self.session.close,
            )
            return
        for item in self.items(pending):
            answered = self.asker.answered(item)
            yield [answered]
            if not answered.whole:  # cancelled half-way
                return

    def stop(self) -> None:
        self.asker.stop()
        if self.session is not None:
            self.session.stop()

    def items(self, pending: Pending) -> Iterator[Item]:
        """The work to do, until there is an error that every call would meet."""
        for instance in self.runs.store.get_many(self.dataset, tuple(pending.missing)):
            if self.asker.stopped_by is not None:
                return
            perturbed = self.variant.perturbed(instance) if self.variant else Perturbed(instance.hypothesis)
            yield Item(instance, perturbed, pending.missing[instance.id])

    def check_hope(self, answered: Answered) -> None:
        self.n_failures += len(answered.reasons)
        self.any_stored |= len(answered.reasons) < len(answered.answers)
        if not self.any_stored and self.n_failures >= _HOPELESS_AFTER:
            raise RetrieverError(
                f"run {self.run_id}",
                f"nothing has worked in the first {self.n_failures} tries; the last one said:"
                f" {answered.reasons[-1].rstrip('.')}",
                "Mend that, then start the run again: it goes on from here.",
            )
