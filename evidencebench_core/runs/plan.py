"""A run before it begins: what it is, what is still to be asked, and with which retriever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from evidencebench_core.data.model import EvidenceSet
from evidencebench_core.data.query import Filter
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import (
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    full_settings,
    make_retriever,
    query_of,
    retriever_entry,
)
from evidencebench_core.retrievers.trained_on import TrainedOn
from evidencebench_core.runs.spec import RunSpec
from evidencebench_core.runs.store import RunStore
from evidencebench_core.runs.trained import keep_trained, training_behind
from evidencebench_core.runs.variant import Variant
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.llm.conversation import Conversation

DEFAULT_TASKS = ("er@optimal", "er@10", "result-er@optimal", "result-er@5")


class AnyQuestion(Protocol):
    """A question of a plan; ``task`` is empty where a plan has one question for each id."""

    @property
    def instance_id(self) -> str: ...
    @property
    def task(self) -> str: ...


class AnyPlan(Protocol):
    """The part of a plan that engines, `estimate` and `execute` need: a `Plan`, or a `ChatPlan`."""

    @property
    def run_id(self) -> str: ...
    @property
    def model(self) -> str:
        """The model that is asked; empty where there is none."""

    @property
    def store(self) -> Store: ...
    @property
    def llm(self) -> LLM | None: ...
    @property
    def fresh(self) -> bool: ...
    @property
    def missing(self) -> Mapping[str, Sequence[object]]:
        """The questions that are still open, by id."""

    @property
    def total(self) -> int: ...
    @property
    def left_out(self) -> int: ...
    @property
    def any_stored(self) -> bool: ...

    def questions(self, ids: Sequence[str] | None = None) -> Iterator[tuple[str, Sequence[AnyQuestion]]]:
        """The questions still to be asked by id, or those of some ids."""

    def conversation(self, question: Any) -> Conversation[Any]:
        """Gives the answer to a question, where a server is asked."""

    def about(self, question: Any) -> dict[str, Any]:
        """What a question is about, for people who read the files of a batch."""

    def result(self, question: Any, answer: Any) -> Any:
        """The part of an answer that is stored."""

    def create(self) -> None:
        """Have the run in the store."""

    def keep(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        """Store results, or in one line why there is none, by id and task, in one transaction."""


@dataclass(frozen=True, slots=True)
class Question:
    """One query of a run; ``evidence`` is the gold, for the oracle only."""

    instance_id: str
    task: str
    query: Query
    evidence: EvidenceSet | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A run that could begin; made by `plan`.

    Attributes
    ----------
    store : Store
    dataset : DatasetInfo
    spec : RunSpec
    retriever : Retriever or None
        ``None`` for the oracle, which is made for every instance.
    tasks : tuple of Task
    missing : mapping of str to sequence of Task
        The queries still to be asked, by instance id; those that failed before come last.
    total : int
        Instances that can be answered: those with something to cover in at least one of the tasks.
    left_out : int
        Instances that the variant has no version of, as far as that is known before they are read.
    any_stored : bool
        Whether the run has answers already.
    variant : Variant or None
    llm : LLM or None
        How the server is asked; ``None`` for a retriever that asks none.
    fresh : bool
        Whether what is answered already is asked again.
    trained : mapping of str to TrainedOn
        What the models in the retriever have learnt from, by their digest.
    """

    store: Store
    dataset: DatasetInfo
    spec: RunSpec
    retriever: Retriever | None
    tasks: tuple[Task, ...]
    missing: Mapping[str, Sequence[Task]]
    total: int
    left_out: int
    any_stored: bool
    variant: Variant | None = None
    llm: LLM | None = None
    fresh: bool = False
    trained: Mapping[str, TrainedOn] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        return self.spec.id

    @property
    def model(self) -> str:
        return str(self.spec.settings.get("model", ""))

    def conversation(self, question: Question) -> Conversation[Retrieval]:
        """Gives the answer to a question, of a retriever that asks a server."""
        return cast("ServedRetriever", self.retriever).conversation(question.query)

    def about(self, question: Question) -> dict[str, Any]:
        return {"id": question.instance_id, "task": question.task}

    def retriever_for(self, question: Question) -> Retriever:
        """The retriever that answers a question."""
        if self.retriever is None:
            return make_retriever(self.spec.retriever, self.spec.settings, evidence=question.evidence)
        return self.retriever

    def questions(self, ids: Sequence[str] | None = None) -> Iterator[tuple[str, tuple[Question, ...]]]:
        """The questions still to be asked, instance by instance; none where the variant has no version."""
        sees_gold = retriever_entry(self.spec.retriever).sees_gold
        for instance in self.store.get_many(self.dataset.name, tuple(self.missing) if ids is None else ids):
            hypothesis = self.variant.hypotheses[instance.id] if self.variant else instance.hypothesis
            gold = instance.evidence
            queries = (
                (task.name, query_of(instance, task.focus, task.budget_for(gold), hypothesis))
                for task in self.missing[instance.id]
            )
            yield (
                instance.id,
                tuple(Question(instance.id, *query, gold if sees_gold else None) for query in queries),
            )

    def result(self, question: Question, answer: Retrieval) -> Retrieval:
        return answer

    def create(self) -> None:
        """Have the run in the store, with what its models have learnt from."""
        RunStore(self.store).create(self.spec, self.dataset)
        for digest, trained in self.trained.items():
            keep_trained(self.store, digest or self.spec.id, trained)

    def keep(self, results: Mapping[str, Mapping[str, Retrieval | str]]) -> None:
        RunStore(self.store).add(self.spec.id, results, self.fresh)


def plan(  # noqa: PLR0913 - what is run, on what, and how it is asked
    store: Store,
    dataset: str,
    retriever: str,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    *,
    variant: Variant | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
    retry_lost: bool = False,
) -> Plan:
    """Check what is to be run, load its retriever, and find what is still to be asked. Nothing is sent or stored.

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
    variant : Variant, optional
        Perturbs the instances; those that it has no version of are left out and counted. Gold, budget
        and the sentence indices of what is stored are those of the original.
    llm : LLM, optional
        How a server is asked: which one, within which caps and limits. Without it the server that is in force
        is asked, and answers are kept in the store.
    fresh : bool
        Ask again for what is answered; new answers take the place of those of the run.
    retry_lost : bool
        Ask again for what gave no selection: refused, cut off, or not to be read.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset, retriever, setting or task; an ``llm`` for a retriever that asks no server.
    RetrieverError
        If the retriever cannot be loaded.
    """
    info = store.dataset(dataset)
    full = full_settings(retriever, settings)
    entry = retriever_entry(retriever)
    made = None if entry.sees_gold else make_retriever(retriever, full)
    if isinstance(made, ServedRetriever):
        if llm is None:
            from evidencebench_core.llm import LLM, AnswerCache

            llm = LLM(answers=AnswerCache(store))
        made = made.connected(store)
    elif llm is not None or fresh or retry_lost:
        raise SettingError(
            f"retriever {retriever}",
            "asks no server",
            "Leave out what is for one: concurrency, limits, fresh answers, caps in calls, tokens and money.",
        )
    if made is not None:
        # What a retriever filled in itself, such as the digest of a model, belongs to the run's identity.
        full = {**full, **{key: value for key, value in made.settings.items() if key in full}}
    name, digest = (variant.name, variant.digest) if variant else ("", "")
    spec = RunSpec(info.sha256, retriever, full, name, digest)
    chosen = tuple(dict.fromkeys(task if isinstance(task, Task) else task_named(task) for task in tasks))
    all_ids = store.ids(dataset, limit)
    ids = [one for one in all_ids if variant is None or variant.has(one)]
    missing, total, any_stored = _missing(store, info, spec, chosen, ids, fresh, retry_lost)
    n_left_out = len(all_ids) - len(ids)
    trained = {} if llm or made is None else training_behind(made, full)
    counts, again = (missing, total, n_left_out, any_stored), fresh or retry_lost
    return Plan(store, info, spec, made, chosen, *counts, variant, llm, again, trained)


def _missing(
    store: Store,
    info: DatasetInfo,
    spec: RunSpec,
    tasks: Sequence[Task],
    ids: Sequence[str],
    fresh: bool,
    retry_lost: bool,
) -> tuple[dict[str, Sequence[Task]], int, bool]:
    """The tasks still to be asked by instance, how many can be answered in all, and whether any is stored."""
    runs, again = RunStore(store), set[str]()
    done: dict[Task, set[str]] = {}
    for task in tasks:
        lost = runs.lost(spec.id, task.name) if retry_lost else set()
        done[task] = set() if fresh else runs.done(spec.id, task.name) - lost
        again |= lost.union(runs.failures(spec.id, task.name))
    # Instances without result aspects: the result tasks skip them (spec rule 4).
    resultless = frozenset(store.matching(info.name, Filter(ranges={"n_result_aspects": (None, 0)})))
    asked = {one: [task for task in tasks if task.focus == "all" or one not in resultless] for one in ids}
    missing = {one: [task for task in of if one not in done[task]] for one, of in asked.items()}
    in_order = sorted((one for one in ids if missing[one]), key=again.__contains__)
    return {one: missing[one] for one in in_order}, sum(map(bool, asked.values())), any(done.values())
