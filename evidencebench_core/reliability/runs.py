"""Runs of reliability tasks, whose units are probes, and judges' runs about their free texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError
from evidencebench_core.llm.parse import after_thinking
from evidencebench_core.reliability.items import ITEM_SETS, ItemSet, item_set
from evidencebench_core.reliability.probes import Probe
from evidencebench_core.reliability.tasks import (
    Probes,
    ReliabilityTask,
    probes_of,
    reliability_task,
    task_settings,
)
from evidencebench_core.runs import (
    JUDGEMENTS,
    ChatSpec,
    Fresh,
    Plan,
    Question,
    Result,
    Rewording,
    RunInfo,
    RunStore,
    chat_plan,
    chat_run,
    chat_spec,
    request_settings,
)
from evidencebench_core.runs.labels import label_of

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

KIND: Final = "reliability"
_REWORDINGS: Final = {
    "question": ("reliability-paraphrase", "NEW QUESTION"),
    "context": ("reliability-negation", "NEW CONTEXT"),
}  # by field that is reworded: the prompt, and what precedes the new text
Results = Mapping[str, Result | str]
"""The result, or the reason why there is none, by id of the probe."""


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
    probes = {probe.id: probe for probe in probes_of(whole, row, values, limit).probes}
    reworded = {probe.reworded for probe in probes.values() if probe.reworded}
    prompts = [row.prompt, *(_REWORDINGS[field][0] for field in sorted(reworded))]
    spec = chat_spec(KIND, whole.sha256, row.name, model, prompts, request, values)
    return chat_plan(
        store, spec, tuple(probes), lambda unit: question_of(spec, probes[unit]), llm, fresh=fresh
    )


def question_of(spec: ChatSpec, probe: Probe) -> Question:
    """The question to a model about a probe."""
    name = reliability_task(spec.task).prompt
    if not probe.reworded:
        return Question(name, probe.fields)
    step, mark = _REWORDINGS[probe.reworded]
    writer = str(spec.settings["writer"] or spec.model)
    fields = {**probe.fields, "answer": str(probe.item.answer)}
    return Question(name, fields, Rewording(step, probe.reworded, mark, writer))


# -- judges of free text ----------------------------------------------------------------------------


def judge_plan(
    store: Store,
    run_id: str,
    model: str,
    *,
    request: Mapping[str, object] | None = None,
    llm: LLM | None = None,
    fresh: Fresh = False,
    expected: Plan | None = None,
) -> Plan:
    """The open questions to a judge of a run's answers in free text; what was not answered is not judged.

    For an estimate, the answers that ``expected``, a plan of this run, is still to bring are judged as if they were
    there. `SettingError` if the answers need no judge, or there is none yet.
    """
    if expected is None:
        run = chat_run(store, run_id, KIND)
        run_id, spec = run.id, ChatSpec.of(run)
    else:
        spec = ChatSpec.of(expected.spec)
    place, reader = f"run {run_id}", reliability_task(spec.task).judge
    if spec.kind != KIND or reader is None:
        raise SettingError(place, f"is of the task {spec.task}, whose answers need no judge", "Score it.")
    probes = run_probes(items_of(store, spec.subject), spec)
    results = dict(RunStore(store).results(run_id))
    if expected is not None:
        texts = {probe.id: probe.fields["answer"] or probe.item.question for probe in probes.probes}
        results |= {unit: {"text": texts[unit]} for unit in expected.missing}
    judged = judgements(reliability_task(spec.task), probes, results)
    if not judged:
        raise SettingError(place, "has no answers to judge yet", "Run it first.")
    questions = dict(judged.values())
    judging = chat_spec(JUDGEMENTS, run_id, spec.task, model, [reader.prompt], request)
    return chat_plan(store, judging, tuple(questions), questions.__getitem__, llm, fresh=fresh)


def judgements(task: ReliabilityTask, probes: Probes, results: Results) -> dict[str, tuple[str, Question]]:
    """The question to a judge about each free text, and its unit, which depends on the text, by probe id."""
    judged = {}
    for probe in probes.probes if task.judge else ():
        text = judged_text(results.get(probe.id))
        if text and task.judge:
            fields = task.judge.fields(probe.item, text)
            digest = hashlib.sha256("\0".join(fields.values()).encode("utf-8", "replace")).hexdigest()
            judged[probe.id] = f"{probe.id}#{digest[:12]}", Question(task.judge.prompt, fields)
    return judged


def judged_text(result: Result | str | None) -> str:
    """The part of an answer that is judged; empty for a refusal, or an answer that was cut off."""
    if result is None or isinstance(result, str) or label_of(result, ())[1] != "no_label":
        return ""
    return (after_thinking(str(result["text"])) or "").strip()


# -- what is in the store -------------------------------------------------------------------------


def reliability_runs(store: Store, items: str) -> tuple[RunInfo, ...]:
    """The runs of tasks over an item set, oldest first."""
    return RunStore(store).runs_of(KIND, ITEM_SETS.named(store, items).sha256)


def task_of(run: RunInfo) -> ReliabilityTask:
    """The task of a run."""
    return reliability_task(run.settings["task"])


def settings_label(run: RunInfo) -> str:
    """The settings of a run that differ from the defaults."""
    spec = ChatSpec.of(run)
    defaults = {**task_settings(task_of(run), {}), **request_settings()}
    return " ".join(
        f"{name}={'+'.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in {**spec.settings, **spec.request}.items()
        if value != defaults[name]
    )


def items_of(store: Store, subject: str) -> ItemSet:
    """The item set that a run is about."""
    for info in ITEM_SETS.all(store):
        if info.sha256 == subject:
            return item_set(store, info.name)
    raise UnknownNameError(f"item set {subject[:12]}", "has been deleted", "Ingest its file again.")


def run_probes(items: ItemSet, run: RunInfo | ChatSpec) -> Probes:
    """The probes of a run over its whole item set, the same as when it was planned."""
    spec = ChatSpec.of(run) if isinstance(run, RunInfo) else run
    return _probes(items, spec.task, tuple(spec.settings.items()))


@lru_cache(maxsize=12)
def _probes(items: ItemSet, task: str, settings: tuple[tuple[str, Any], ...]) -> Probes:
    return probes_of(items, reliability_task(task), dict(settings))
