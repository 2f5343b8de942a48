"""A system over a dataset in one call: kept as a run, scored, ready to be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers.own import OwnSystem
from evidencebench_core.runs.execution import execute
from evidencebench_core.runs.planning import DEFAULT_TASKS, plan
from evidencebench_core.runs.scores import score_run
from evidencebench_core.runs.store import RunInfo, RunStore
from evidencebench_core.tasks import Score, Task


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """A run and its scores; it can be given wherever the id of a run is asked for."""

    run: RunInfo
    scores: tuple[Score, ...]
    failures: tuple[str, ...] = ()  # why instances have no answer, a line each

    @property
    def id(self) -> str:
        return self.run.id

    def __repr__(self) -> str:
        lines = [f"run {self.run.id}: {self.run.label} over {self.run.dataset}", *map(repr, self.scores)]
        if self.failures:
            lines.append(f"{len(self.failures):,} failed, the first: {self.failures[0]}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        first, *_ = repr(self).splitlines()
        rows = "".join(score._repr_html_() for score in self.scores)
        return f"<p>{escape(first)}</p>{rows}"


def run(
    store: Store,
    dataset: str,
    retriever: str | OwnSystem,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    **options: Any,
) -> RunInfo:
    """Plan and execute a run, and return it; the arguments are those of `plan`."""
    planned = plan(store, dataset, retriever, settings, tasks, limit, **options)
    for _ in execute(planned):
        pass
    return RunStore(store).run(planned.run_id)


def evaluate(
    system: Any,
    dataset: str,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    *,
    name: str = "",
    settings: Mapping[str, object] | None = None,
    store: Store | None = None,
) -> Evaluation:
    """Run a system over a dataset of the store, keep it as a run, and score it.

    Parameters
    ----------
    system : str, callable or object
        A retriever by its name; a function of a `Query` that returns scores, a ranking or a `Retrieval`; or an object
        with such a method ``rank``. It is asked once a hypothesis, paper and focus, and its ranking is cut at K. With
        an attribute ``by_budget`` that is true it is asked once a task, and the length of its ranking is its pick.
    dataset : str
        Its name in the store.
    name : str
        Under which the run of a system of one's own is kept, by default the system's own name. The same name again
        takes the place of what it answered before.
    settings : mapping, optional
        Of a retriever that is given by its name.
    store : Store, optional
        By default the one in force.

    Raises
    ------
    SettingError
        If the system is none of these.
    RetrieverError
        If it failed on every instance; of one that failed on some the others are scored.
    """
    store = open_store() if store is None else store
    if isinstance(system, str):
        info = run(store, dataset, system, settings, tasks)
    else:
        if settings:
            raise SettingError("settings", "are given to a system of one's own", "Set them where it is made.")
        label = (
            name or getattr(system, "__name__", "") or getattr(system, "name", "") or type(system).__name__
        )
        own = OwnSystem(system, str(label))
        RunStore(store).clear(plan(store, dataset, own, tasks=tasks).run_id)  # its code may be another one
        info = run(store, dataset, own, tasks=tasks)
    failures = RunStore(store).reasons(info)
    if failures and not info.n_answered:
        raise RetrieverError(f"run {info.id}", f"has no answer: {failures[0]}", "Mend the system.")
    return Evaluation(info, tuple(score_run(store, info, task) for task in tasks), tuple(failures))
