"""The names that runs of questions to a model had, for callers that have not moved to `RunStore` yet."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evidencebench_core.data.store import Store
from evidencebench_core.llm.conversation import Ask, ChatRequest
from evidencebench_core.llm.request import Message
from evidencebench_core.runs.chat import _KEPT
from evidencebench_core.runs.plan import ChatPlan
from evidencebench_core.runs.spec import RunInfo, RunSpec
from evidencebench_core.runs.store import Result, RunStore

ChatRunInfo = RunInfo
ChatRunSpec = RunSpec

__all__ = ["ChatPlan", "ChatRunInfo", "ChatRunSpec", "ChatRuns", "Result"]


class ChatRuns(RunStore):
    def runs(self, wing: str | None = None, subject: str | None = None) -> tuple[RunInfo, ...]:  # type: ignore[override]
        return self.runs_of(wing, subject)

    def add(self, run_id: str, results: Mapping[str, Any], replace: bool = False) -> None:
        super().add(run_id, {unit: {"": result} for unit, result in results.items()}, replace)

    def failures(self, run_id: str) -> Iterator[str]:  # type: ignore[override]
        yield from RunStore(self.store).failures(run_id).values()

    def results_between(self, run_id: str, first: str, last: str) -> dict[str, Any]:
        return self.results(run_id, between=(first, last))

    def done(self, run_id: str) -> dict[str, bool]:  # type: ignore[override]
        runs = RunStore(self.store)
        return dict.fromkeys(runs.failures(run_id), False) | dict.fromkeys(runs.done(run_id), True)


def any_run(store: Store, id_or_prefix: str) -> RunInfo:
    return RunStore(store).run(id_or_prefix)


def delete_runs_about(db: sqlite3.Connection, subject: str) -> None:
    db.execute("DELETE FROM runs WHERE subject = ?", (subject,))


def request_with(model: str, settings: Mapping[str, Any], messages: tuple[Message, ...]) -> ChatRequest:
    extra = json.loads(settings["extra_body"] or "{}")
    if settings["reasoning_effort"]:
        extra["reasoning_effort"] = settings["reasoning_effort"]
    return ChatRequest(model, messages, settings["temperature"], 0, settings["max_tokens"] or None, extra)


def asked_in_turn(request: ChatRequest, step: str = "") -> Generator[Sequence[Ask], Sequence[Any], Result]:
    (answer,) = yield [Ask(step, replace(request, may_be_empty=True))]
    return {name: getattr(answer, name) for name in _KEPT}
