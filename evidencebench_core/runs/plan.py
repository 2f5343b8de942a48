"""A run before it begins: what it is, and what is still to be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.data.query import Filter
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers import (
    Query,
    Retriever,
    ServedRetriever,
    full_settings,
    make_retriever,
    query_of,
    retriever_entry,
)
from evidencebench_core.retrievers.trained_on import TrainedOn
from evidencebench_core.runs.spec import RunSpec, retrieval_spec
from evidencebench_core.runs.store import Result, Results, RunStore
from evidencebench_core.runs.trained import keep_trained, training_behind
from evidencebench_core.runs.variant import Variant
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.llm.client import LLM

DEFAULT_TASKS: Final = ("er@optimal", "er@10", "result-er@optimal", "result-er@5")


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a run: the ``task`` is empty where a unit has one question.

    Of a retriever's run it holds the query, and the gold for the oracle only.
    """

    unit: str
    task: str = ""
    query: Query | None = None
    evidence: EvidenceSet | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that could begin; made by `plan` or `chat_plan`."""

    store: Store
    spec: RunSpec
    missing: Mapping[
        str, Sequence[str]
    ]  # tasks still to be asked by unit; those that failed before come last
    total: int  # units that can be answered
    any_stored: bool  # whether the run has results already
    llm: LLM | None = None  # None for a retriever that asks no server
    fresh: bool = False  # whether the server is asked even where its answer is stored
    replaces: bool = False  # whether new results take the place of those there are
    reasons: Mapping[str, int] = field(default_factory=dict)  # how many units were left out, by why

    @property
    def run_id(self) -> str:
        return self.spec.id

    @property
    def model(self) -> str:
        """The model that is asked; empty where there is none."""
        settings = self.spec.settings
        return str(settings.get("settings", settings).get("model") or settings.get("model") or "")

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())

    def questions(self, units: Sequence[str] | None = None) -> Iterator[tuple[str, Sequence[Question]]]:
        """The questions still to be asked, unit by unit, or those of some units."""
        for unit in self.missing if units is None else units:
            yield unit, [Question(unit, task) for task in self.missing[unit]]

    def answer(self, llm: LLM, question: Question) -> Awaitable[Any]:
        """The result of a question to a model."""
        raise NotImplementedError

    def create(self) -> None:
        """Have the run in the store."""
        RunStore(self.store).create(self.spec)

    def keep(self, results: Results) -> None:
        """Store results, or in one line why there is none, in one transaction."""
        RunStore(self.store).add(self.spec.id, results, self.replaces)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalPlan(Plan):
    """A retriever over a dataset; ``retriever`` is ``None`` for the oracle, which is made for every instance.

    ``trained``: what the models in the retriever have learnt from, by their digest.
    """

    dataset: DatasetInfo
    retriever: Retriever | None
    tasks: tuple[Task, ...]
    variant: Variant | None = None
    trained: Mapping[str, TrainedOn] = field(default_factory=dict)

    @property
    def retriever_name(self) -> str:
        return str(self.spec.settings["retriever"])

    def questions(self, units: Sequence[str] | None = None) -> Iterator[tuple[str, Sequence[Question]]]:
        sees_gold = retriever_entry(self.retriever_name).sees_gold
        tasks = {task.name: task for task in self.tasks}
        for instance in self.store.get_many(
            self.dataset.name, tuple(self.missing) if units is None else units
        ):
            gold = instance.evidence
            hypothesis = self.variant.hypotheses[instance.id] if self.variant else None
            questions: list[Question] = []
            for name in self.missing[instance.id]:
                query = query_of(instance, tasks[name].focus, tasks[name].budget_for(gold), hypothesis)
                questions.append(Question(instance.id, name, query, gold if sees_gold else None))
            yield instance.id, questions

    def answer(self, llm: LLM, question: Question) -> Awaitable[Any]:
        return cast("ServedRetriever", self.retriever).answer(llm, cast("Query", question.query))

    def retriever_for(self, question: Question) -> Retriever:
        """The retriever that answers a question here."""
        if self.retriever is None:
            settings = self.spec.settings["settings"]
            return make_retriever(self.retriever_name, settings, evidence=question.evidence)
        return self.retriever

    def create(self) -> None:
        RunStore(self.store).create(self.spec)
        for digest, trained in self.trained.items():
            keep_trained(self.store, digest or self.spec.id, trained)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPlan(Plan):
    """Questions to a model, one under each unit; ``prepare`` is called before the run is in the store."""

    ask: Callable[[LLM, str], Awaitable[Result]]
    prepare: Callable[[], object] = lambda: None

    def answer(self, llm: LLM, question: Question) -> Awaitable[Result]:
        return self.ask(llm, question.unit)

    def create(self) -> None:
        self.prepare()
        RunStore(self.store).create(self.spec)


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
    retry_unreadable: bool = False,
) -> RetrievalPlan:
    """Check what is to be run, load its retriever, and find what is still to be asked. Nothing is sent or stored.

    Parameters
    ----------
    settings : mapping, optional
        Those that differ from the defaults.
    tasks : sequence of str or Task
        Without them the four with a budget.
    limit : int, optional
        Only the first so many instances of the dataset.
    variant : Variant, optional
        Other wordings of the hypotheses; instances without one are left out and counted.
    llm : LLM, optional
        How a server is asked. Without it the one in force is, and answers are kept in the store.
    fresh, retry_unreadable : bool
        Ask again for what is answered; for what gave no selection: refused, cut off, or without a list.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset, retriever, setting or task; an ``llm`` for a retriever that asks no server.
    RetrieverError
        If the retriever cannot be loaded.
    """
    info = store.dataset(dataset)
    full = full_settings(retriever, settings)
    made = None if retriever_entry(retriever).sees_gold else make_retriever(retriever, full)
    if isinstance(made, ServedRetriever):
        llm = llm or _default_llm(store)
        made = made.connected(store)
    elif llm is not None or fresh or retry_unreadable:
        remedy = "Remove the options for servers: limits, fresh answers, caps in calls, tokens and money."
        raise SettingError(f"retriever {retriever}", "asks no server", remedy)
    if made is not None:
        # What a retriever filled in itself, such as the digest of a model, belongs to the run's identity.
        full = {**full, **{key: value for key, value in made.settings.items() if key in full}}
    name, digest = (variant.name, variant.digest) if variant else ("", "")
    chosen = tuple(dict.fromkeys(task if isinstance(task, Task) else task_named(task) for task in tasks))
    all_ids = store.ids(dataset, limit)
    ids = [unit for unit in all_ids if variant is None or variant.has(unit)]
    n_left_out = len(all_ids) - len(ids)
    found = RetrievalPlan(
        store=store,
        spec=retrieval_spec(info.sha256, retriever, full, name, digest),
        missing={},
        total=0,
        any_stored=False,
        llm=llm,
        fresh=fresh or retry_unreadable,
        replaces=fresh or retry_unreadable,
        reasons={"no such variant": n_left_out} if n_left_out else {},
        dataset=info,
        retriever=made,
        tasks=chosen,
        variant=variant,
        trained={} if llm or made is None else training_behind(made, full),
    )
    return _with_missing(found, ids, fresh, retry_unreadable)


def _with_missing(
    found: RetrievalPlan, ids: Sequence[str], fresh: bool, retry_unreadable: bool
) -> RetrievalPlan:
    """The plan with what is still to be asked; instances without result aspects are no part of the result tasks."""
    runs, run_id, store = RunStore(found.store), found.spec.id, found.store
    done, again = dict[str, set[str]](), set[str]()
    for task in found.tasks:
        done[task.name] = runs.done(run_id, task.name)
        unreadable = runs.unreadable(run_id, task.name).keys() if retry_unreadable else ()
        again.update(unreadable, runs.failures(run_id, task.name))
        if fresh or retry_unreadable:
            done[task.name] -= done[task.name] if fresh else set(unreadable)
    any_stored = any(done.values())
    resultless = frozenset(store.matching(found.dataset.name, Filter(ranges={"n_result_aspects": (None, 0)})))
    missing: dict[str, list[str]] = {}
    total = 0
    for unit in sorted(ids, key=again.__contains__):
        asked = [task.name for task in found.tasks if task.focus == "all" or unit not in resultless]
        total += bool(asked)
        if open_tasks := [name for name in asked if unit not in done[name]]:
            missing[unit] = open_tasks
    return replace(found, missing=missing, total=total, any_stored=any_stored)


def chat_plan(  # noqa: PLR0913 - what is run, on what, and how it is asked
    store: Store,
    spec: RunSpec,
    units: Sequence[str],
    ask: Callable[[LLM, str], Awaitable[Result]],
    llm: LLM | None = None,
    *,
    fresh: bool = False,
    again: Collection[str] = (),
    changed: Collection[str] = (),
) -> ChatPlan:
    """Find which units of a run of questions to a model are still to be asked. Nothing is sent or stored.

    ``ask`` gives the result of a unit, as its turn comes; units that failed before come last. With ``fresh`` new
    results take the place of those there are; ``again`` are units that are asked again, such as those that were cut
    off, ``changed`` those under which something else is asked now: what is in the store answers it.
    """
    runs = RunStore(store)
    done, failures = runs.done(spec.id), runs.failures(spec.id)
    wanted = [
        unit for unit in dict.fromkeys(units) if fresh or unit not in done or unit in again or unit in changed
    ]
    tried = done | failures.keys()
    return ChatPlan(
        store=store,
        spec=spec,
        missing=dict.fromkeys(sorted(wanted, key=tried.__contains__), ("",)),
        total=len(set(units)),
        any_stored=bool(done),
        llm=llm or _default_llm(store),
        fresh=fresh or bool(again),
        replaces=fresh or bool(again or changed),
        ask=ask,
    )


def _default_llm(store: Store) -> LLM:
    from evidencebench_core.llm.client import LLM

    return LLM(store=store)
