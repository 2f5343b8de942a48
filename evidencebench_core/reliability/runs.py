"""Runs of reliability tasks, whose units are probes, and judges' runs about their free texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm.answers import Message
from evidencebench_core.llm.parse import after_thinking
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.reliability.draws import normal_form
from evidencebench_core.reliability.items import ITEM_SETS, ItemSet, item_set, item_sets
from evidencebench_core.reliability.tasks import (
    Probe,
    Probes,
    ReliabilityTask,
    probes_of,
    reliability_task,
    task_settings,
)
from evidencebench_core.runs import (
    Fresh,
    Plan,
    Result,
    RunInfo,
    RunSpec,
    RunStore,
    ask_model,
    chat_plan,
    parameters_of,
    prompt_plan,
    request_settings,
)

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

KIND: Final = "reliability"
_REWORDINGS: Final = {
    "question": ("reliability-paraphrase", "NEW QUESTION"),
    "context": ("reliability-negation", "NEW CONTEXT"),
}  # by the field that is reworded: the prompt, and what stands before the new text
Results = Mapping[str, Result | str]
"""By id of the probe its result, or in one line why there is none."""


@dataclass(frozen=True, slots=True)
class ReliabilityRun:
    """A task of an item set, asked of a model; of a judge's run ``judged`` is the id of the run it is about."""

    id: str
    items_sha256: str
    task: ReliabilityTask
    model: str
    settings: Mapping[str, Any]
    request: Mapping[str, Any]
    created_at: str  # ISO 8601, UTC
    n_answered: int
    stamp: str  # that of its `RunInfo`
    judged: str = ""

    @property
    def label(self) -> str:
        """The settings that are not the defaults, in words."""
        defaults = {**task_settings(self.task, {}), **request_settings()}
        return " ".join(
            f"{name}={'+'.join(value) if isinstance(value, tuple) else value}"
            for name, value in {**self.settings, **self.request}.items()
            if value != defaults[name]
        )


def run_plan(  # noqa: PLR0913 - what is run, on what, and how it is asked
    store: Store,
    items: str,
    task: str,
    model: str,
    settings: Mapping[str, object] | None = None,
    *,
    request: Mapping[str, object] | None = None,
    limit: int | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
) -> Plan:
    """The questions of a task over an item set that are still open. Nothing is sent or stored.

    ``settings`` are those of the task, ``request`` those of `runs.request_settings`, ``limit`` the most items;
    `SettingError` if there is no such task or setting, or the set has not what the task needs.
    """
    whole, row = item_set(store, items), reliability_task(task)
    values = task_settings(row, settings or {})
    probes = probes_of(whole, row, values, limit)
    by_id = {probe.id: probe for probe in probes.probes}
    used = [row.prompts[whole.kind], *{_REWORDINGS[p.reworded][0] for p in probes.probes if p.reworded}]
    prompts = {name: prompt(name).version for name in used}
    about = {"task": row.name, "settings": values, "prompts": prompts, "model": _model(model)}
    spec = RunSpec(KIND, whole.sha256, about | {"request": request_settings(request)})

    async def ask(llm: LLM, unit: str) -> Result:
        return await _answer(llm, by_id[unit], row.prompts[whole.kind], spec.settings)

    return chat_plan(store, spec, tuple(by_id), ask, llm, fresh=fresh)


async def _answer(llm: LLM, probe: Probe, prompt_name: str, settings: Mapping[str, Any]) -> Result:
    """The answer to a probe; a rewording that is missing comes first, and is part of the result."""
    model, request = settings["model"], settings["request"]
    parameters = parameters_of(model, request)
    if not probe.reworded:
        return await ask_model(llm, prompt(prompt_name).messages(**probe.fields), parameters)
    name, mark = _REWORDINGS[probe.reworded]
    messages = prompt(name).messages(**probe.fields, answer=str(probe.item.answer))
    writer = settings["settings"]["writer"] or model
    written = await ask_model(llm, messages, parameters_of(writer, request))
    wording = new_wording(mark, str(written["text"]), probe.fields[probe.reworded])
    if not wording:
        return {**written, "text": "", "wording": ""}
    fields = {**probe.fields, probe.reworded: wording}
    result = await ask_model(llm, prompt(prompt_name).messages(**fields), parameters)
    return {**result, "wording": wording}


def new_wording(mark: str, answer: str, original: str) -> str:
    """The text behind the last mark of an answer; empty where there is none, or it is the original again."""
    _, *behind = re.split(rf"\b{mark}[ \t*_`]*[:：]", after_thinking(answer[: 1 << 16]) or "")
    text = behind[-1].strip(" \t\n*_`\"'“”") if behind else ""
    return "" if normal_form(text) == normal_form(original) else text


def judge_plan(
    store: Store,
    run_id: str,
    model: str,
    *,
    request: Mapping[str, object] | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
) -> Plan:
    """The open questions to a judge of a run's answers in free text; what was not answered is not judged.

    `SettingError` if the answers need no judge, or there is none yet.
    """
    run = reliability_run(store, run_id)
    place = f"run {run.id}"
    if run.judged or not run.task.judge_prompt:
        problem = f"is of the task {run.task.name}, whose answers need no judge"
        raise SettingError(place, problem, "Score it as it is.")
    fields = judge_fields(run.task, run_probes(store, run), RunStore(store).results(run.id))
    if not fields:
        raise SettingError(place, "has no answers to judge yet", "Run it first.")
    name = run.task.judge_prompt
    about = {"task": run.task.name, "judge": {name: prompt(name).version}, "model": _model(model)}
    spec = RunSpec(KIND, run.id, about | {"request": request_settings(request)})
    by_unit = {judge_unit(probe_id, texts): texts for probe_id, texts in fields.items()}
    return prompt_plan(store, spec, name, tuple(by_unit), by_unit.__getitem__, llm, fresh=fresh)


def judge_fields(task: ReliabilityTask, probes: Probes, results: Results) -> dict[str, dict[str, str]]:
    """By probe id what a judge is asked about each answer with words; the first reference counts."""
    fields = {}
    for probe in probes.probes:
        text = judged_text(results.get(probe.id))
        if text and task.name == "conclusion":
            fields[probe.id] = {"question": probe.item.question, "summary": text}
        elif text:
            reference = probe.item.question if task.name == "question" else probe.item.long_answer[0]
            fields[probe.id] = {"statement_1": text, "statement_2": reference}
    return fields


def judged_text(result: Result | str | None) -> str:
    """The part of an answer that is judged; empty where nothing is."""
    if result is None or isinstance(result, str) or result.get("refusal"):
        return ""
    return (after_thinking(str(result["text"])) or "").strip()


def judge_unit(probe_id: str, fields: Mapping[str, str]) -> str:
    """The unit of a judgement: an answer that was asked for again is another unit."""
    digest = hashlib.sha256("\0".join(fields.values()).encode("utf-8", "replace")).hexdigest()
    return f"{probe_id}#{digest[:12]}"


def messages_of(run: ReliabilityRun, items: ItemSet, probe: Probe, wording: str = "") -> tuple[Message, ...]:
    """What the model was asked, with the wording that was written for it."""
    fields = {**probe.fields, probe.reworded: wording} if wording else probe.fields
    return prompt(run.task.prompts[items.kind]).messages(**fields)


def _model(name: str) -> str:
    if not name.strip():
        raise SettingError("model", "is not named", "Name one as the server does.")
    return name.strip()


# -- what is in the store -------------------------------------------------------------------------


def reliability_runs(store: Store, items: str | None = None) -> tuple[ReliabilityRun, ...]:
    """All runs of tasks, oldest first, or those over one item set; judges' runs are not among them."""
    sha256 = None if items is None else ITEM_SETS.named(store, items).sha256
    infos = RunStore(store).runs_of(KIND, sha256)
    return tuple(_run(store, info) for info in infos if "judge" not in info.settings)


def judge_runs(store: Store, run_id: str) -> tuple[ReliabilityRun, ...]:
    """The judges' runs about a run, oldest first."""
    return tuple(_run(store, info) for info in RunStore(store).runs_of(KIND, run_id))


def reliability_run(store: Store, id_or_prefix: str) -> ReliabilityRun:
    """The run of this id, or the only one whose id starts like this; `UnknownNameError` if there is none, or more."""
    info = RunStore(store).run(id_or_prefix)
    if info.kind != KIND:
        problem = f"is a run of {info.kind}, not of reliability"
        raise UnknownNameError(f"run {info.id}", problem, "`evidencebench list runs` lists them.")
    return _run(store, info)


def items_of(store: Store, run: ReliabilityRun) -> ItemSet:
    """The item set that a run is about."""
    for info in item_sets(store):
        if info.sha256 == run.items_sha256:
            return item_set(store, info.name)
    problem = "is about an item set that has been deleted"
    raise UnknownNameError(f"run {run.id}", problem, "Ingest its file again.")


def run_probes(store: Store, run: ReliabilityRun) -> Probes:
    """The probes of a run over the whole item set, made again: the same as when it was planned."""
    return _probes(items_of(store, run), run.task.name, tuple(run.settings.items()))


@lru_cache(maxsize=12)
def _probes(items: ItemSet, task: str, settings: tuple[tuple[str, Any], ...]) -> Probes:
    return probes_of(items, reliability_task(task), dict(settings))


def _run(store: Store, info: RunInfo) -> ReliabilityRun:
    settings, subject, judged = info.settings, info.subject, ""
    if "judge" in settings:
        first = RunStore(store).run(info.subject)
        subject, judged = first.subject, first.id
        settings = {**first.settings, "model": settings["model"], "request": settings["request"]}
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in settings["settings"].items()
    }
    return ReliabilityRun(
        info.id,
        subject,
        reliability_task(settings["task"]),
        settings["model"],
        values,
        settings["request"],
        info.created_at,
        info.n_answered,
        info.stamp,
        judged,
    )
