"""A run before it begins: what it is, and what is still to be asked."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.data.query import Filter
from evidencebench_core.data.records import digest
from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.llm import LLM, Message, prompt
from evidencebench_core.perturb import hypothesis_variants, misspelling
from evidencebench_core.retrievers import (
    Query,
    Retriever,
    ServedRetriever,
    Setting,
    full_settings,
    make_retriever,
    query_of,
    retriever_entry,
)
from evidencebench_core.retrievers.table import RequestSettings
from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on
from evidencebench_core.runs.store import Result, RunSpec, RunStore, keep_trained, retrieval_spec
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    from evidencebench_core.data.model import EvidenceSet

DEFAULT_TASKS: Final = ("er@optimal", "er@10", "result-er@optimal", "result-er@5")

_SPELLING: Final = re.compile(r"spelling:n=(\d{1,4})(?:,seed=(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class Variant:
    """Another wording of hypotheses, by instance id; instances that are not in it are left out."""

    name: str  # "paraphrase:lexical", "negation", "spelling:n=3,seed=0"
    hypotheses: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Of the texts: two variants of one name with other texts are different runs."""
        return digest([self.name, dict(self.hypotheses)])[:12]


def variant_named(store: Store, dataset: str, name: str) -> Variant:
    """The variant that a name stands for on a dataset; `SettingError` if no instance has it.

    ``negation`` and ``paraphrase:NAME`` from the data or added since, ``spelling:n=N`` or ``spelling:n=N,seed=S``
    (without hypotheses that have no word to misspell).
    """
    if spelling := _SPELLING.fullmatch(name):
        n, seed = int(spelling[1]), int(spelling[2] or 0)
        if n < 1:
            raise SettingError("variant spelling:n=0", "is the original", "Run without a variant.")
        name = spelling_name(n, seed)
        rows = store.rows(dataset, store.ids(dataset))
        misspelt = {row.id: misspelling(row.hypothesis, n, seed) for row in rows}
        return Variant(name, {id_: text.text for id_, text in misspelt.items() if text.n_mutated})
    texts = hypothesis_variants(store, dataset)
    if name not in texts:
        names = ", ".join([*texts, "spelling:n=N"])
        remedy = f"There are: {names}. A file brings more: `evidencebench run --wordings FILE`."
        raise SettingError(f"variant {shown(name)}", f"is not in {shown(dataset)}", remedy)
    return Variant(name, texts[name])


def spelling_name(n: int, seed: int = 0) -> str:
    """``spelling:n=3,seed=0``."""
    return f"spelling:n={n},seed={seed}"


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

    def units(self, ids: Sequence[str] | None = None) -> Iterator[Unit]:
        """The units still to be asked, or some of them, made one by one."""
        for unit in self.missing if ids is None else ids:
            yield Unit(unit, dict.fromkeys(self.missing[unit]))

    def answer(self, llm: LLM, unit: Unit, task: str) -> Awaitable[Any]:
        """The result of a unit on a task, asked of a model."""
        raise NotImplementedError

    def create(self) -> None:
        """Have the run in the store."""
        RunStore(self.store).create(self.spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalPlan(Plan):
    """A retriever over a dataset; ``retriever`` is ``None`` for the oracle, which is made for every instance."""

    dataset: DatasetInfo
    retriever: Retriever | None
    tasks: tuple[Task, ...]
    variant: Variant | None = None
    trained: Sequence[TrainedOn] = ()  # what the models in the retriever have learnt from

    @property
    def retriever_name(self) -> str:
        return str(self.spec.settings["retriever"])

    def units(self, ids: Sequence[str] | None = None) -> Iterator[Unit]:
        sees_gold = retriever_entry(self.retriever_name).sees_gold
        tasks = {task.name: task for task in self.tasks}
        chosen = tuple(self.missing) if ids is None else ids
        for instance in self.store.get_many(self.dataset.name, chosen):
            gold = instance.evidence
            hypothesis = self.variant.hypotheses[instance.id] if self.variant else None
            queries = {
                name: query_of(instance, tasks[name].focus, tasks[name].budget_for(gold), hypothesis)
                for name in self.missing[instance.id]
            }
            yield Unit(instance.id, queries, gold if sees_gold else None)

    def answer(self, llm: LLM, unit: Unit, task: str) -> Awaitable[Any]:
        return cast("ServedRetriever", self.retriever).answer(llm, cast("Query", unit.queries[task]))

    def retriever_for(self, unit: Unit) -> Retriever:
        """The retriever that answers a unit here."""
        settings = self.spec.settings["settings"]
        return self.retriever or make_retriever(self.retriever_name, settings, evidence=unit.evidence)

    def create(self) -> None:
        RunStore(self.store).create(self.spec)
        if self.trained:
            keep_trained(self.store, self.run_id, *self.trained)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPlan(Plan):
    """Questions to a model, one under each unit."""

    ask: Callable[[LLM, str], Awaitable[Result]]

    def answer(self, llm: LLM, unit: Unit, task: str) -> Awaitable[Result]:
        return self.ask(llm, unit.id)


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
    retry_unreadable: bool = False,
) -> RetrievalPlan:
    """Check what is to be run, load its retriever, and find what is still to be asked. Nothing is sent or stored.

    Parameters
    ----------
    limit : int, optional
        Only the first so many instances of the dataset.
    variant : Variant, optional
        Other wordings of the hypotheses; instances without one are left out and counted.
    llm : LLM, optional
        How a server is asked, by default the one in force.
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
        llm = llm or LLM(store=store)
        made = made.connected(store)
    elif llm is not None or fresh or retry_unreadable:
        remedy = "Remove the options for servers: limits, fresh answers, caps in calls, tokens and money."
        raise SettingError(f"retriever {retriever}", "asks no server", remedy)
    if made is not None:
        # What a retriever filled in itself, such as the digest of a model, belongs to the run's identity.
        full = {**full, **{key: value for key, value in made.settings.items() if key in full}}
    runs = RunStore(store)
    words = (variant.name, variant.digest) if variant else ()
    spec = retrieval_spec(info.sha256, retriever, full, *words)
    chosen = tuple(dict.fromkeys(task_named(task) for task in tasks))
    all_ids = store.ids(dataset, limit)
    ids = [unit for unit in all_ids if variant is None or unit in variant.hypotheses]
    n_left_out = len(all_ids) - len(ids)

    done, again, any_stored = dict[str, set[str]](), set[str](), False
    for task in chosen:
        unreadable = set(runs.unreadable(spec.id, task.name)) if retry_unreadable else set()
        again.update(unreadable, runs.failures(spec.id, task.name))
        done[task.name] = runs.done(spec.id, task.name)
        any_stored |= bool(done[task.name])
        done[task.name] -= done[task.name] if fresh else unreadable
    resultless = frozenset(store.matching(info.name, Filter(ranges={"n_result_aspects": (None, 0)})))
    missing: dict[str, list[str]] = {}
    total = 0
    for unit in sorted(ids, key=again.__contains__):
        # Instances without result aspects are no part of the result tasks.
        names = [task.name for task in chosen if task.focus == "all" or unit not in resultless]
        total += bool(names)
        if open_names := [name for name in names if unit not in done[name]]:
            missing[unit] = open_names
    return RetrievalPlan(
        store=store,
        spec=spec,
        missing=missing,
        total=total,
        any_stored=any_stored,
        llm=llm,
        fresh=fresh or retry_unreadable,
        replaces=fresh or retry_unreadable,
        reasons={"no such variant": n_left_out} if n_left_out else {},
        dataset=info,
        retriever=made,
        tasks=chosen,
        variant=variant,
        trained=() if llm or made is None else training_behind(made, full),
    )


def chat_plan(
    store: Store,
    spec: RunSpec,
    units: Sequence[str],
    ask: Callable[[LLM, str], Awaitable[Result]],
    llm: LLM | None = None,
    *,
    fresh: bool = False,
    again: Collection[str] = (),
) -> ChatPlan:
    """Find which units of a run of questions to a model are still to be asked. Nothing is sent or stored.

    ``ask`` gives the result of a unit; units that failed before come last. With ``fresh`` all are asked again, else
    those of ``again``, such as those that were cut off.
    """
    runs = RunStore(store)
    done, failures = runs.done(spec.id), runs.failures(spec.id)
    wanted = [unit for unit in dict.fromkeys(units) if fresh or unit not in done or unit in again]
    tried = done | failures.keys()
    return ChatPlan(
        store=store,
        spec=spec,
        missing=dict.fromkeys(sorted(wanted, key=tried.__contains__), ("",)),
        total=len(set(units)),
        any_stored=bool(done),
        llm=llm or LLM(store=store),
        fresh=fresh or bool(again),
        replaces=fresh or bool(again),
        ask=ask,
    )


def prompt_plan(
    store: Store,
    spec: RunSpec,
    name: str,
    units: Sequence[str],
    fields: Callable[[str], Mapping[str, str]],
    llm: LLM | None = None,
    **options: Any,
) -> ChatPlan:
    """A `chat_plan` that fills one prompt with the fields of each unit; the spec has ``model`` and ``request``."""
    parameters = parameters_of(spec.settings["model"], spec.settings["request"])

    async def ask(client: LLM, unit: str) -> Result:
        return await ask_model(client, prompt(name).messages(**fields(unit)), parameters)

    return chat_plan(store, spec, units, ask, llm, **options)


MAX_TOKENS: Final = 4096
"""Of an answer, thoughts included: the same for all models."""

_KEPT: Final = (
    "text", "finish_reason", "refusal", "reasoning", "prompt_tokens", "completion_tokens", "seconds", "model", "key",
)  # fmt: skip


def request_settings(
    settings: Mapping[str, object] | None = None, max_tokens: int = MAX_TOKENS
) -> dict[str, Setting]:
    """All `RequestSettings` in canonical form, defaults filled in; `SettingError` for what cannot be set."""
    given = {"max_tokens": max_tokens, **(settings or {})}
    return RequestSettings.read("request", given).values()


def parameters_of(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request with these `request_settings`, but the messages."""
    return {
        "model": model,
        "temperature": request["temperature"],
        "max_tokens": request["max_tokens"] or None,
        "reasoning_effort": request["reasoning_effort"],
        **json.loads(request["extra_body"] or "{}"),
    }


async def ask_model(llm: LLM, messages: Sequence[Message], parameters: Mapping[str, Any]) -> Result:
    """The result of one call, with `parameters_of` a model. It has of the `Answer`:

    ``text, finish_reason, refusal, reasoning, prompt_tokens, completion_tokens, seconds, model`` and ``key``, which
    names request and answer in the store. An answer may be empty.
    """
    answer = await llm.chat(messages, allow_empty=True, **parameters)
    return {name: getattr(answer, name) for name in _KEPT}


def training_behind(retriever: object, settings: Mapping[str, Setting]) -> list[TrainedOn]:
    """The training data of the models in a retriever."""
    data: list[TrainedOn | None] = [getattr(retriever, "trained_on", None)]
    for key, value in settings.items():
        member, _, name = key.rpartition(".")
        if not isinstance(value, str) or name not in ("model", "encoder"):
            continue
        if member != "evidence-ranker":
            data.append(read_trained_on(Path(value).expanduser()))
            continue
        from evidencebench_core.retrievers.ranker.model_file import model_folder, read_model

        try:
            data.append(read_model(model_folder(value))[0].trained_on)
        except RetrieverError:
            continue
    return [trained for trained in data if trained is not None]
