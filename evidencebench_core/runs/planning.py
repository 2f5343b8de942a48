"""Plans of runs: their identity, and the questions that are still open."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM
from evidencebench_core.retrievers import (
    OWN,
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    make_retriever,
    query_of,
    read_settings,
    retriever_entry,
)
from evidencebench_core.retrievers.own import OwnSystem
from evidencebench_core.runs.model import RunSpec, Sample, retrieval_spec
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import Task, task_named

Fresh = bool | Literal["unread"] | frozenset[str]
"""Which stored answers are asked for again: none, all, or those that could not be read (as their keys)."""

DEFAULT_TASKS: Final = ("er@optimal", "er@10", "result-er@optimal", "result-er@5")


@dataclass(frozen=True, slots=True)
class Variant:
    """Other wordings of hypotheses, by instance id; instances without one are left out."""

    name: str  # "paraphrase:lexical", "negation", "spelling:n=3,seed=0"
    hypotheses: Mapping[str, str]

    @property
    def digest(self) -> str:
        """A digest of the texts: a variant with the same name and other texts makes another run."""
        return digest([self.name, dict(self.hypotheses)])[:12]


@dataclass(frozen=True, slots=True)
class Unit:
    """What is asked in one go: an instance with its open questions, or one conversation with a model.

    ``queries`` are by question: a focus, a task's name where K decides, ``""`` where neither does.
    """

    id: str
    queries: Mapping[str, Query | None]  # for a conversation with a model {"": None}
    retriever: Retriever | None = None  # the local one that answers them


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that could begin; made by `plan` or `chat_plan`."""

    store: Store
    spec: RunSpec
    missing: Mapping[str, Sequence[str]]  # `open_questions` by unit
    total: int  # units that can be answered
    units: Callable[[Mapping[str, Sequence[str]]], Iterator[Unit]]  # makes the units of some open questions
    ask: Callable[[Unit, str, LLM], Awaitable[Any]] | None = None  # asks a model a unit's question
    llm: LLM | None = None  # None for a retriever that asks no server
    fresh: bool | frozenset[str] = False  # of `Fresh`; new results replace older ones
    retriever: Retriever | None = None  # None for questions to a model, and the oracle: one for each instance
    left_out: int = 0  # instances that the variant does not have

    @property
    def run_id(self) -> str:
        return self.spec.id

    @property
    def model(self) -> str:
        """The model that is asked; empty if none is."""
        of_retriever = self.spec.settings.get("settings", {})
        return str(self.spec.settings.get("model") or of_retriever.get("model") or "")


def plan(  # noqa: PLR0913 - what is run, on what, and how
    store: Store,
    dataset: str,
    retriever: str | OwnSystem,
    settings: Mapping[str, object] | None = None,
    tasks: Sequence[str | Task] = DEFAULT_TASKS,
    limit: int | None = None,
    *,
    sample: Sample | None = None,
    variant: Variant | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
) -> Plan:
    """Check what is to be run, load its retriever, and find what is still to be asked. Nothing is sent or stored.

    A retriever is asked once a hypothesis, a paper, and a focus where that makes a difference; where K does, once a
    task. Of the dataset the first ``limit`` instances are asked, or a ``sample``, in the words of ``variant``;
    instances that it does not have are left out and counted. ``llm`` is how a server is asked, by default the one in
    force; ``fresh`` asks all again, or what is ``"unread"``: answers that were cut off, or that nobody could read.

    `UnknownNameError` or `SettingError` if there is no such dataset, retriever, setting or task, or for options of
    servers to a retriever that asks none; `RetrieverError` if it cannot be loaded.
    """
    info = store.dataset(dataset)
    made: Retriever | None = None
    if isinstance(retriever, OwnSystem):
        name, made, values = OWN, retriever, {"name": retriever.label} | retriever.settings.values()
    else:
        name, values = retriever, read_settings(retriever, settings).values()
        if not retriever_entry(name).sees_gold:
            made = make_retriever(name, values, store=store)
    kind = made or retriever_entry(name)
    if isinstance(made, ServedRetriever):
        llm = llm or LLM(store=store)
    elif llm is not None or (fresh and name != OWN):
        remedy = "Remove the options for servers: limits, fresh answers, caps in calls, tokens and money."
        raise SettingError(f"retriever {name}", "asks no server", remedy)
    wording = (variant.name, variant.digest) if variant else None
    spec = retrieval_spec(info.sha256, name, values, kind.basis, variant=wording, sample=sample)
    all_ids = sample.ids(store, info) if sample else store.ids(info, limit)
    ids = [unit for unit in all_ids if variant is None or unit in variant.hypotheses]
    # Where the focus makes no difference, one question about all instances also answers the result tasks.
    chosen = sorted(map(task_named, tasks), key=lambda task: task.focus == "all")
    tasks_asked = {
        task.name if kind.by_budget else task.focus if kind.by_focus else "": task for task in chosen
    }
    # Instances without result aspects are not part of the result tasks.
    of_all = [question for question, task in tasks_asked.items() if task.focus == "all"]
    rows = store.rows(info, ids) if len(of_all) < len(tasks_asked) else ()
    resultless = {row.id for row in rows if not row.n_result_aspects}
    questions = {unit: of_all if unit in resultless else list(tasks_asked) for unit in ids}

    def units(missing: Mapping[str, Sequence[str]]) -> Iterator[Unit]:
        for instance in store.get_many(info, tuple(missing)):
            hypothesis = variant.hypotheses[instance.id] if variant else None
            queries = {}
            for question in missing[instance.id]:
                task = tasks_asked[question]
                budget = task.budget_for(instance.evidence) if kind.by_budget else None
                queries[question] = query_of(instance, task.focus, budget, hypothesis)
            yield Unit(instance.id, queries, made or make_retriever(name, values, gold=instance.evidence))

    async def ask(unit: Unit, question: str, client: LLM) -> Retrieval:
        return await cast("ServedRetriever", made).answer(client, cast("Query", unit.queries[question]))

    missing, again = open_questions(store, spec, questions, fresh)
    return Plan(
        store=store,
        spec=spec,
        missing=missing,
        total=sum(map(bool, questions.values())),
        units=units,
        ask=None if llm is None else ask,
        llm=llm,
        fresh=again,
        retriever=made,
        left_out=len(all_ids) - len(ids),
    )


def open_questions(
    store: Store, spec: RunSpec, questions: Mapping[str, Sequence[str]], fresh: Fresh
) -> tuple[dict[str, list[str]], bool | frozenset[str]]:
    """The questions by unit that are still to be asked, and which stored answers are to be asked for again.

    Units that failed before come last.
    """
    runs = RunStore(store)
    names = {question for of_unit in questions.values() for question in of_unit}
    done = {question: set() if fresh is True else runs.done(spec.id, question) for question in names}
    again: bool | frozenset[str] = fresh is True
    if not isinstance(fresh, bool):
        unread = {question: runs.unread(spec.id, question) for question in names}
        again = frozenset(
            key for of_question in unread.values() for keys in of_question.values() for key in keys
        )
        done = {question: units - unread[question].keys() for question, units in done.items()}
    failures = {unit for question in names for unit in runs.failures(spec.id, question)}
    missing: dict[str, list[str]] = {}
    for unit in sorted(questions, key=failures.__contains__):
        if of_unit := [question for question in questions[unit] if unit not in done[question]]:
            missing[unit] = of_unit
    return missing, again
