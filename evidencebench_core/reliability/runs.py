"""Runs of reliability tasks: chat runs whose ids are those of probes, and judges' runs about them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.llm.conversation import Conversation
from evidencebench_core.llm.prompts import prompt_version
from evidencebench_core.llm.request import json_bytes
from evidencebench_core.perturb.drafts import Kind
from evidencebench_core.reliability.drafts import ItemDrafts, keep_wordings, kept_wordings, wordings_digest
from evidencebench_core.reliability.items import ItemSet, ItemWordings, item_set, item_set_info, item_sets
from evidencebench_core.reliability.judge import judge_probes
from evidencebench_core.reliability.probes import BEYOND, Probe, Probes, probes_of
from evidencebench_core.reliability.tasks import ReliabilityTask, reliability_task, task_settings
from evidencebench_core.runs import (
    MAX_TOKENS,
    ChatPlan,
    ChatRunInfo,
    ChatRuns,
    ChatRunSpec,
    Result,
    asked,
    chat_plan,
    request_settings,
    request_with,
)

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

WING: Final = "reliability"
_VERSION: Final = 1  # of how probes are made of items and seed: other probes need another number
_PUBLISHED_TOKENS: Final = 800  # of an answer, as in RAmBLA's code for models of OpenAI
_WORDINGS: Final[Mapping[str, Kind]] = {"paraphrase": "paraphrase", "negation": "negation"}  # by task


@dataclass(frozen=True, slots=True)
class ReliabilityRun:
    """A task of an item set, asked of a model; or a judge's run about one.

    Attributes
    ----------
    id : str
    items_sha256 : str
        Of the item set; of a judge's run too.
    task : ReliabilityTask
        Of a judge's run that of the run judged.
    model : str
        The model asked: of a judge's run the judge.
    settings : mapping
        Of the task (`task_settings`), ``as_published`` among them.
    request : mapping
        `runs.request_settings`.
    wordings : str
        Digest of the wordings used; empty for none.
    created_at : str
        ISO 8601, UTC.
    n_answered, n_failed : int
        Probes.
    judged : str
        The id of the run that a judge's run is about; else empty.
    """

    id: str
    items_sha256: str
    task: ReliabilityTask
    model: str
    settings: Mapping[str, Any]
    request: Mapping[str, Any]
    wordings: str
    created_at: str
    n_answered: int
    n_failed: int
    judged: str = ""

    @property
    def as_published(self) -> bool:
        """Whether its probes are the paper's construction."""
        return bool(self.settings["as_published"])

    @property
    def label(self) -> str:
        """The settings that are not its task's defaults, in words."""
        tokens = _PUBLISHED_TOKENS if self.as_published and not self.judged else MAX_TOKENS
        defaults = {**task_settings(self.task, {}, self.as_published), **request_settings(None, tokens)}
        words = [
            f"{name}={'+'.join(value) if isinstance(value, tuple) else value}"
            for name, value in {**self.settings, **self.request}.items()
            if value != defaults.get(name, value) and name != "examples_sha256"
        ]
        return " ".join(["as published"] * self.as_published + words)


def run_plan(  # noqa: PLR0913 - what is run, on what, and how it is asked
    store: Store,
    items: str | ItemSet,
    task: str,
    model: str,
    settings: Mapping[str, object] | None = None,
    *,
    as_published: bool = False,
    reviewed_only: bool = False,
    request: Mapping[str, object] | None = None,
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
) -> ChatPlan:
    """The questions of a task over an item set that are still open. Nothing is sent or stored.

    Parameters
    ----------
    store : Store
    items : str or ItemSet
        In the store.
    task, model : str
    settings : mapping, optional
        Of the task; those that differ from the defaults.
    as_published : bool
        The paper's construction instead of ours.
    reviewed_only : bool
        Leave out paraphrases and negations that nobody has read.
    request : mapping, optional
        See `runs.request_settings`.
    limit : int, optional
        Most items.
    llm, fresh
        See `runs.chat_plan`.

    Raises
    ------
    UnknownNameError
        If there is no such item set.
    SettingError
        If there is no such task or setting, or the set has not what the task needs.
    """
    whole = items if isinstance(items, ItemSet) else item_set(store, items)
    of = reliability_task(task)
    values = task_settings(of, settings or {}, as_published)
    examples = _examples(store, values)
    if examples is not None:
        values["examples_sha256"] = examples.sha256
    wordings = _wordings_now(store, whole, of, reviewed_only)
    probes = probes_of(whole, of, values, wordings=wordings, examples=examples, limit=limit)
    asking = request_settings(request, _PUBLISHED_TOKENS if values["as_published"] else MAX_TOKENS)
    spec = ChatRunSpec(
        WING,
        whole.sha256,
        {
            "task": of.name,
            "settings": values,
            "prompt": f"{of.prompts[whole.kind]} {prompt_version(of.prompts[whole.kind])}",
            "wordings": wordings_digest(wordings) if wordings else "",
            "version": _VERSION,
            "model": _model(model),
            "request": asking,
        },
    )
    plan = _plan(store, spec, probes.probes, llm, fresh)
    prepare = (lambda: keep_wordings(store, whole.name, wordings)) if wordings else plan.prepare
    reasons = Counter(reason for reason in probes.left_out.values() if not reason.startswith(BEYOND))
    return replace(plan, reasons=dict(reasons.most_common()), prepare=prepare)


def judge_plan(
    store: Store,
    run_id: str,
    model: str,
    *,
    request: Mapping[str, object] | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
) -> ChatPlan:
    """The open questions to a judge of a run's answers in free text, and its controls.

    The other arguments are those of `run_plan`. A run that has failures is judged as far as it goes.

    Raises
    ------
    UnknownNameError
        If there is no such run.
    SettingError
        If its answers need no judge, or there is none yet.
    """
    run = reliability_run(store, run_id)
    place = f"run {run.id}"
    if run.judged or not run.task.judge_prompt:
        raise SettingError(
            place, f"is of the task {run.task.name}, whose answers need no judge", "Score it as it is."
        )
    probes = _judge_probes(store, run)
    if not probes:
        raise SettingError(place, "has no answers to judge yet", "Run it first.")
    spec = ChatRunSpec(
        WING,
        run.id,
        {
            "task": run.task.name,
            "prompt": f"{run.task.judge_prompt} {prompt_version(run.task.judge_prompt)}",
            "version": _VERSION,
            "as_published": run.as_published,
            "model": _model(model),
            "request": request_settings(request),
        },
    )
    results = ChatRuns(store).results(spec.id)
    return _plan(store, spec, probes, llm, fresh, results.keys() - _current(results, probes))


def _model(name: str) -> str:
    if not name.strip():
        raise SettingError("model", "is not named", "Name one as the server does.")
    return name.strip()


def _judge_probes(store: Store, run: ReliabilityRun) -> tuple[Probe, ...]:
    """The questions to a judge about a run's answers as they stand."""
    return judge_probes(
        run.task,
        items_of(store, run),
        run_probes(store, run).probes,
        results_of(store, run),
        not run.as_published,
    )


def _plan(
    store: Store,
    spec: ChatRunSpec,
    probes: Sequence[Probe],
    llm: LLM | None,
    fresh: bool,
    changed: Collection[str] = (),
) -> ChatPlan:
    by_id = {probe.id: probe for probe in probes}
    settings = spec.settings
    as_published = bool(settings.get("settings", settings)["as_published"])

    def conversation(one: str) -> Conversation[Result]:
        messages = by_id[one].messages(as_published)
        result = yield from asked(request_with(settings["model"], settings["request"], messages))
        return {**result, "fields": _digest(by_id[one])}

    return chat_plan(store, spec, tuple(by_id), conversation, llm, fresh=fresh, changed=changed)


def _digest(probe: Probe) -> str:
    """Of what its prompt is filled with: a judge's answer is about a text that may have been asked for again."""
    return hashlib.sha256(json_bytes(dict(probe.fields))).hexdigest()[:12]


def _current(results: Mapping[str, Result | str], probes: Sequence[Probe]) -> set[str]:
    """The ids of those results that are about these probes, and of failures."""
    digests = {probe.id: _digest(probe) for probe in probes}
    return {
        one
        for one, result in results.items()
        if isinstance(result, str) or result["fields"] == digests.get(one)
    }


# -- what is in the store -------------------------------------------------------------------------


def reliability_runs(store: Store, items: str | None = None) -> tuple[ReliabilityRun, ...]:
    """All runs of tasks, oldest first, or those over one item set; judges' runs are not among them.

    Raises
    ------
    UnknownNameError
        If there is no such item set.
    """
    sha256 = None if items is None else item_set_info(store, items).sha256
    found = (_run(store, info) for info in ChatRuns(store).runs(WING, sha256))
    return tuple(run for run in found if not run.judged)


def judge_runs(store: Store, run_id: str) -> tuple[ReliabilityRun, ...]:
    """The judges' runs about a run, oldest first."""
    return tuple(_run(store, info) for info in ChatRuns(store).runs(WING, run_id))


def reliability_run(store: Store, id_or_prefix: str) -> ReliabilityRun:
    """The run of this id, or the only one whose id starts like this; `UnknownNameError` if there is none, or more."""
    info = ChatRuns(store).run(id_or_prefix)
    if info.wing != WING:
        problem = f"is a run of {info.wing}, not of reliability"
        raise UnknownNameError(f"run {info.id}", problem, "`evidencebench reliability runs` lists them.")
    return _run(store, info)


def items_of(store: Store, run: ReliabilityRun) -> ItemSet:
    """The item set that a run is about."""
    for info in item_sets(store):
        if info.sha256 == run.items_sha256:
            return item_set(store, info.name)
    raise UnknownNameError(
        f"run {run.id}", "is about an item set that has been deleted", "Ingest its file again."
    )


def run_probes(store: Store, run: ReliabilityRun, limit: int | None = None) -> Probes:
    """The probes of a run, made again: the same as when it was planned; of a judge's run those it is about."""
    examples = None
    if run.settings.get("examples_sha256"):
        wanted = [info.name for info in item_sets(store) if info.sha256 == run.settings["examples_sha256"]]
        if not wanted:
            name = shown(run.settings["examples_from"])
            problem = f"took its examples from the item set {name}, which has been deleted"
            raise UnknownNameError(f"run {run.id}", problem, "Ingest its file again.")
        examples = item_set(store, wanted[0])
    whole = items_of(store, run)
    if run.wordings:  # which somebody may have reviewed since
        wordings = kept_wordings(store, run.wordings)
        return probes_of(whole, run.task, run.settings, wordings=wordings, examples=examples, limit=limit)
    return _probes(whole, run.task.name, tuple(run.settings.items()), examples, limit)


@lru_cache(maxsize=12)
def _probes(
    items: ItemSet,
    task: str,
    settings: tuple[tuple[str, Any], ...],
    examples: ItemSet | None,
    limit: int | None,
) -> Probes:
    """The same for every model that is asked."""
    return probes_of(items, reliability_task(task), dict(settings), examples=examples, limit=limit)


def results_of(store: Store, run: ReliabilityRun) -> dict[str, Result | str]:
    """By probe id the result, or in one line why there is none; probes that were not asked yet are not in it.

    Of a judge's run the id is that of `judge_probes`; what it said of a text that has changed since is left out.
    """
    results = ChatRuns(store).results(run.id)
    if not run.judged:
        return results
    current = _current(results, _judge_probes(store, reliability_run(store, run.judged)))
    return {one: result for one, result in results.items() if one in current}


def delete_run(store: Store, run: ReliabilityRun) -> None:
    """Delete a run and the judges' runs about it. Stored answers of models stay, and are found again."""
    ChatRuns(store).delete(ChatRuns(store).run(run.id))


def _run(store: Store, info: ChatRunInfo) -> ReliabilityRun:
    settings, items, judged = info.settings, info.subject, ""
    if "settings" not in settings:  # a judge's
        first = ChatRuns(store).run(info.subject)
        items, judged = first.subject, first.id
        settings = {**first.settings, "model": settings["model"], "request": settings["request"]}
    return ReliabilityRun(
        id=info.id,
        items_sha256=items,
        task=reliability_task(settings["task"]),
        model=settings["model"],
        settings=MappingProxyType({name: _tuples(value) for name, value in settings["settings"].items()}),
        request=MappingProxyType(settings["request"]),
        wordings=settings["wordings"],
        created_at=info.created_at,
        n_answered=info.n_answered,
        n_failed=info.n_failed,
        judged=judged,
    )


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _examples(store: Store, settings: Mapping[str, Any]) -> ItemSet | None:
    name = settings.get("examples_from")
    return item_set(store, name) if name else None


def _wordings_now(store: Store, items: ItemSet, task: ReliabilityTask, reviewed_only: bool) -> ItemWordings:
    """The wordings that a task uses, as they stand; none where they come with the items alone."""
    if task.name not in _WORDINGS or items.kind != "questions":
        return {}
    return ItemDrafts(store, items.name).wordings(_WORDINGS[task.name], reviewed_only)
