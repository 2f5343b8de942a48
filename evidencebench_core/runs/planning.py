"""A run before it begins: what it is, and what is still to be asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import LLM, Message, prompt
from evidencebench_core.retrievers import (
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    Setting,
    full_settings,
    make_retriever,
    query_of,
    retriever_entry,
)
from evidencebench_core.retrievers.settings import RequestSettings, parameters_of
from evidencebench_core.runs.store import Result, RunSpec, RunStore, retrieval_spec
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.retrievers.trained_on import TrainedOn

DEFAULT_TASKS: Final = ("er@optimal", "er@10", "result-er@optimal", "result-er@5")


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of hypotheses, by instance id; instances that are not in it are left out."""

    name: str  # "paraphrase:lexical", "negation", "spelling:n=3,seed=0"
    hypotheses: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Of the texts: two variants of one name with other texts are different runs."""
        return digest([self.name, dict(self.hypotheses)])[:12]


@dataclass(frozen=True, slots=True)
class Unit:
    """What is asked together: an instance with its tasks still to be answered, or one question to a model."""

    id: str
    queries: Mapping[str, Query | None]  # by task; of a question to a model one None under ""
    evidence: EvidenceSet | None = None  # for the oracle only


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that could begin; made by `plan` or `chat_plan`."""

    store: Store
    spec: RunSpec
    missing: Mapping[str, Sequence[str]]  # tasks to be asked by unit; those that failed before come last
    total: int  # units that can be answered
    units: Callable[[Sequence[str]], Iterator[Unit]]  # makes some of the missing units, one by one
    ask: Callable[[Unit, str, LLM], Awaitable[Any]] | None = None  # asks a model about a unit's task
    make: Callable[[Unit], Retriever] | None = None  # or the retriever that computes it here
    llm: LLM | None = None  # None for a retriever that asks no server
    fresh: bool = False  # ask even where an answer is stored; new results take the place of those there are
    retriever: str = ""  # its name; empty for questions to a model
    trained_on: Sequence[TrainedOn] = ()  # what the models in the retriever have learnt from
    left_out: int = 0  # instances that the variant does not have

    @property
    def run_id(self) -> str:
        return self.spec.id

    @property
    def model(self) -> str:
        """The model that is asked; empty where there is none."""
        settings = self.spec.settings["settings"] if self.retriever else self.spec.settings
        return str(settings.get("model") or "")


def plan(  # noqa: PLR0913 - what is run, on what, and how
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
) -> Plan:
    """Check what is to be run, load its retriever, and find what is still to be asked. Nothing is sent or stored.

    Of the dataset the first ``limit`` instances, in the words of ``variant``; those that it does not have are left out
    and counted. ``llm`` is how a server is asked, by default the one in force; ``fresh`` asks all again.

    `UnknownNameError` or `SettingError` if there is no such dataset, retriever, setting or task, or for options of
    servers to a retriever that asks none; `RetrieverError` if it cannot be loaded.
    """
    info, entry = store.dataset(dataset), retriever_entry(retriever)
    full = full_settings(retriever, settings)
    made = None if entry.sees_gold else make_retriever(retriever, full)
    if isinstance(made, ServedRetriever):
        llm = llm or LLM(store=store)
        made = made.connected(store)
    elif llm is not None or fresh:
        remedy = "Remove the options for servers: limits, fresh answers, caps in calls, tokens and money."
        raise SettingError(f"retriever {retriever}", "asks no server", remedy)
    if made is not None:
        # What a retriever filled in itself, such as the digest of a model, belongs to the run's identity.
        full = {**full, **{key: value for key, value in made.settings.items() if key in full}}
    wording = (variant.name, variant.digest) if variant else ()
    spec = retrieval_spec(info.sha256, retriever, full, *wording)
    chosen = {task.name: task for task in map(task_named, tasks)}
    all_ids = store.ids(dataset, limit)
    ids = [unit for unit in all_ids if variant is None or unit in variant.hypotheses]
    missing, total = _missing(store, spec, info.name, ids, chosen, fresh)

    def units(wanted: Sequence[str]) -> Iterator[Unit]:
        for instance in store.get_many(info.name, wanted):
            gold = instance.evidence
            hypothesis = variant.hypotheses[instance.id] if variant else None
            queries = {
                name: query_of(instance, chosen[name].focus, chosen[name].budget_for(gold), hypothesis)
                for name in missing[instance.id]
            }
            yield Unit(instance.id, queries, gold if entry.sees_gold else None)

    def make(unit: Unit) -> Retriever:
        return made or make_retriever(retriever, full, evidence=unit.evidence)

    async def ask(unit: Unit, task: str, client: LLM) -> Retrieval:
        return await cast("ServedRetriever", made).answer(client, cast("Query", unit.queries[task]))

    return Plan(
        store=store,
        spec=spec,
        missing=missing,
        total=total,
        units=units,
        ask=None if llm is None else ask,
        make=make if llm is None else None,
        llm=llm,
        fresh=fresh,
        retriever=retriever,
        trained_on=made.training if made else (),
        left_out=len(all_ids) - len(ids),
    )


def _missing(
    store: Store, spec: RunSpec, dataset: str, ids: Sequence[str], tasks: Mapping[str, Task], fresh: bool
) -> tuple[dict[str, list[str]], int]:
    """The tasks to be asked by unit, and how many units have any task."""
    runs = RunStore(store)
    done = {name: runs.done(spec.id, name) for name in tasks}
    failures = {unit for name in tasks for unit in runs.failures(spec.id, name)}
    resultless = frozenset(row.id for row in store.rows(dataset, ids) if not row.n_result_aspects)
    missing: dict[str, list[str]] = {}
    total = 0
    for unit in sorted(ids, key=failures.__contains__):
        # Instances without result aspects are no part of the result tasks.
        names = [name for name, task in tasks.items() if task.focus == "all" or unit not in resultless]
        total += bool(names)
        if open_names := [name for name in names if fresh or unit not in done[name]]:
            missing[unit] = open_names
    return missing, total


# -- questions to a model ---------------------------------------------------------------------------


def chat_plan(
    store: Store,
    spec: RunSpec,
    units: Sequence[str],
    ask: Callable[[LLM, str], Awaitable[Result]],
    llm: LLM | None = None,
    *,
    fresh: bool = False,
) -> Plan:
    """Find which units of a run of questions to a model are still to be asked. Nothing is sent or stored.

    ``ask`` gives the result of a unit; units that failed before come last. With ``fresh`` all are asked again.
    """
    runs = RunStore(store)
    done, failures = runs.done(spec.id), runs.failures(spec.id)
    wanted = [unit for unit in dict.fromkeys(units) if fresh or unit not in done]

    async def ask_unit(unit: Unit, _: str, client: LLM) -> Result:
        return await ask(client, unit.id)

    return Plan(
        store=store,
        spec=spec,
        missing=dict.fromkeys(sorted(wanted, key=failures.__contains__), ("",)),
        total=len(set(units)),
        units=lambda ids: (Unit(unit, {"": None}) for unit in ids),
        ask=ask_unit,
        llm=llm or LLM(store=store),
        fresh=fresh,
    )


def prompt_plan(
    store: Store,
    spec: RunSpec,
    name: str,
    units: Sequence[str],
    fields: Callable[[str], Mapping[str, str]],
    llm: LLM | None = None,
    *,
    fresh: bool = False,
) -> Plan:
    """A `chat_plan` that fills one prompt with the fields of each unit; the spec has ``model`` and ``request``."""
    parameters = parameters_of(spec.settings["model"], spec.settings["request"])

    async def ask(client: LLM, unit: str) -> Result:
        return await ask_model(client, prompt(name).messages(**fields(unit)), parameters)

    return chat_plan(store, spec, units, ask, llm, fresh=fresh)


def request_settings(settings: Mapping[str, object] | None = None) -> dict[str, Setting]:
    """All `RequestSettings` in canonical form, defaults filled in; `SettingError` for what cannot be set."""
    return RequestSettings.read("request", settings).values()


async def ask_model(llm: LLM, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Result:
    """The fields of the `Answer` to one call, with `parameters_of` a model; its text may be empty."""
    answer = await llm.chat(messages, allow_empty=True, **parameters)
    return asdict(replace(answer, cached=False))
