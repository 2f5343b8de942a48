"""The answers of a run, instance by instance, and counts of what could not be exported."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evidencebench_core.data.model import EvidenceSet, Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.tasks.selection import validated_selection
from evidencebench_core.words import quantity


@dataclass(frozen=True, slots=True)
class Answer:
    """One instance of a run on one task.

    Attributes
    ----------
    instance_id : str
    evidence : EvidenceSet
    retrieval : Retrieval or None
        ``None`` where there is no answer; then ``reason`` says why.
    instance : Instance or None
        The whole instance, where the answers were asked for with their papers.
    pages : mapping of int to int
        The page of each sentence, of a paper that was read from a PDF.
    """

    instance_id: str
    evidence: EvidenceSet
    retrieval: Retrieval | None
    reason: str = ""
    instance: Instance | None = None
    pages: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunAnswers:
    """The answers of a run on a task, in the order of the dataset; iterate over it as often as you like.

    Every instance of the dataset comes up, answered or not; with ``with_papers`` it brings `Answer.instance`.
    Memory stays small.
    """

    store: Store
    run: RunInfo
    task: Task
    with_papers: bool = False

    def __iter__(self) -> Iterator[Answer]:
        runs = RunStore(self.store)
        failures = runs.failures(self.run.id, self.task.name)
        done = runs.done(self.run.id, self.task.name)
        for instance_id, evidence, instance in self._instances():
            retrieval = None
            if instance_id in done:
                retrieval = runs.retrieval(self.run.id, self.task.name, instance_id)
            reason = "" if retrieval is not None else failures.get(instance_id, "it was not asked")
            yield Answer(instance_id, evidence, retrieval, reason, instance)

    def _instances(self) -> Iterator[tuple[str, EvidenceSet, Instance | None]]:
        if self.with_papers:
            for instance in self.store.iter(self.run.dataset):
                yield instance.id, instance.evidence, instance
        else:
            for instance_id, evidence in self.store.evidence_sets(self.run.dataset):
                yield instance_id, evidence, None


def tasks_of(run: RunInfo, names: Sequence[str] | None, several: bool = True) -> tuple[Task, ...]:
    """The tasks asked for, or all that the run has answers for.

    `SettingError` for an unknown task, or where there are several and only one may be; `UnknownNameError` if
    the run has no answers, or none for one of the tasks.
    """
    there = ", ".join(run.tasks) or "no task yet"
    remedy = f"It has answers for {there}; `evidencebench run` goes on where it stopped."
    if not any(run.tasks.values()):
        raise UnknownNameError(f"run {run.id}", "has no answers yet", remedy)
    tasks = tuple(dict.fromkeys(task_named(name) for name in names or run.tasks))
    for task in tasks:
        if not run.tasks.get(task.name):
            raise UnknownNameError(f"run {run.id}", f"has no answers for {task.name}", remedy)
    if len(tasks) > 1 and not several:
        listed = ", ".join(task.name for task in tasks)
        raise SettingError(
            f"run {run.id}", f"has answers for {len(tasks)} tasks: {listed}", "Say which one with --task."
        )
    return tasks


@dataclass(slots=True)
class ExportCounts:
    """The content of an export; it grows while the export is written.

    Attributes
    ----------
    n_instances : int
        Instances with an answer, empty selections included.
    n_rows : int
        Lines or records written, headers not counted.
    unanswered, skipped : dict of str to str
        Instance id to the reason why there is no answer, and why the task asks nothing of it.
    empty, over_budget : list of str
        Instances answered with no sentence at all, and with more sentences than the task allows.
    notes : list of str
        What a reader of the file should know besides, a sentence each.
    """

    n_instances: int = 0
    n_rows: int = 0
    unanswered: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    over_budget: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, answer: Answer, task: Task) -> tuple[int, ...] | None:
        """Count an answer; its selection, or ``None`` without an answer.

        `SelectionError` if it picks a sentence that the paper does not have.
        """
        name, evidence = answer.instance_id, answer.evidence
        if answer.retrieval is None:
            if evidence.focused(task.focus):
                self.unanswered[name] = answer.reason
            else:
                self.skipped[name] = task.skip_reason(has_aspects=False)
            return None
        picks = validated_selection(answer.retrieval.selection, evidence.n_sentences, name)
        budget = task.budget_for(evidence)
        self.n_instances += 1
        if not picks:
            self.empty.append(name)
        if budget is not None and len(picks) > budget:
            self.over_budget.append(name)
        return picks

    def lines(self) -> tuple[str, ...]:
        """All there is to say, a sentence each; instances are named, at most five of a kind."""
        kinds: tuple[tuple[Collection[str], str], ...] = (
            (self.unanswered, "without an answer"),
            (self.skipped, "skipped, nothing to cover on this task"),
            (self.empty, "answered with no sentence"),
            (self.over_budget, "answered with more sentences than the budget"),
        )
        return (*(_line(list(ids), what) for ids, what in kinds if ids), *self.notes)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _line(ids: Sequence[str], what: str) -> str:
    more = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
    return f"{quantity(len(ids), 'instance')} {what}: {', '.join(ids[:5])}{more}."
