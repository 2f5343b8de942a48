"""Runs whose answers are plain answers of a model, each under an id: a probe, a judgement, a stage's call.

`chat_plan` finds what is still to be asked; `estimate`, `execute` and the engines are those of the runs of retrievers.
Append-only: a result, once there, is never changed; only a failure can be replaced, by trying again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.packing import unpacked, zstd_frames
from evidencebench_core.data.removal import counted
from evidencebench_core.data.store import Store
from evidencebench_core.errors import UnknownNameError, shown
from evidencebench_core.llm.conversation import Ask, Conversation
from evidencebench_core.llm.request import ChatRequest, Message, Reply, from_json, json_bytes
from evidencebench_core.retrievers import Setting, fields_of
from evidencebench_core.retrievers.table import RequestSettings
from evidencebench_core.runs.spec import RunInfo
from evidencebench_core.runs.store import RunStore, row_of_run

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

Result = Mapping[str, Any]
"""The result of a conversation, JSON-able: see `asked`."""

_KEPT: Final = (
    "text", "finish_reason", "refusal", "reasoning", "prompt_tokens", "completion_tokens", "seconds", "model", "key",
)  # fmt: skip
_RUNS: Final = "SELECT id, wing, subject, settings, created_at, n_answered, n_failed FROM chat_runs"
_ADD: Final = """INSERT INTO chat_results (run_id, unit, result, error, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (run_id, unit) DO UPDATE SET result = excluded.result, error = excluded.error,
        created_at = excluded.created_at WHERE chat_results.result IS NULL"""
_REPLACE: Final = f"{_ADD} OR excluded.result IS NOT NULL"
# A run, and those about it, such as a judge's.
_GOING: Final = "SELECT id FROM chat_runs WHERE id = :id OR subject = :id"

MAX_TOKENS: Final = 4096
"""Of an answer, thoughts included: the same for all models."""

REQUEST_SETTINGS: Final = fields_of(RequestSettings)
"""Settings of the requests of a chat run, as those of the retriever ``llm``."""


@dataclass(frozen=True, slots=True)
class ChatRunSpec:
    """The identity of a chat run. The ids are no part of it: a run gains them as they are asked for.

    Attributes
    ----------
    wing : str
        ``"reliability"``, ``"answers"`` or ``"construction"``.
    subject : str
        Digest of what it is about: an item set, a set of answers, a dataset; of a judge's run the id of the run judged.
    settings : mapping
        All that decides what is asked, JSON-able: task, mode, versions of prompts, digest of wordings, ``model`` and
        the parameters of its requests.
    """

    wing: str
    subject: str
    settings: Mapping[str, Any]

    @property
    def id(self) -> str:
        """First 12 hexadecimal digits of the SHA-256 of the canonical JSON: sorted keys, no spaces, ASCII."""
        document = {"wing": self.wing, "subject": self.subject, "settings": dict(self.settings)}
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ChatRunInfo:
    """A chat run in the store.

    Attributes
    ----------
    id : str
    wing, subject, settings
        See `ChatRunSpec`.
    created_at : str
        ISO 8601, UTC.
    n_answered, n_failed : int
        Results, and ids whose last try failed.
    """

    id: str
    wing: str
    subject: str
    settings: Mapping[str, Any]
    created_at: str
    n_answered: int
    n_failed: int


class ChatRuns:
    """The chat runs of a `Store`; every method is one transaction on it."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, spec: ChatRunSpec) -> ChatRunInfo:
        """The run of this spec: a new one, or the one that is already there."""
        settings = json.dumps(dict(spec.settings), sort_keys=True, allow_nan=False)
        with self.store.write() as db:
            db.execute(
                "INSERT INTO chat_runs (id, wing, subject, settings, created_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO NOTHING",
                (spec.id, spec.wing, spec.subject, settings, _now()),
            )
        return self.run(spec.id)

    def runs(self, wing: str | None = None, subject: str | None = None) -> tuple[ChatRunInfo, ...]:
        """All runs, oldest first, or those of a wing or about a subject."""
        where = "WHERE (?1 IS NULL OR wing = ?1) AND (?2 IS NULL OR subject = ?2) ORDER BY created_at, id"
        with self.store.read() as db:
            return tuple(map(_info, db.execute(f"{_RUNS} {where}", (wing, subject))))

    def run(self, id_or_prefix: str) -> ChatRunInfo:
        """The run of this id, or the only one whose id starts like this.

        Raises
        ------
        UnknownNameError
            If there is none, or more than one.
        """
        with self.store.read() as db:
            remedy = "List the runs there are."
            return _info(row_of_run(db, self.store, "chat_runs", _RUNS, id_or_prefix, remedy))

    def add(self, run_id: str, results: Mapping[str, Result | str], replace: bool = False) -> None:
        """Keep results by id, or in one line why there is none, all in one transaction.

        A result that is already there stays as it is, but with ``replace`` gives way to another, not to a failure;
        a failure that is already there gives way. A power cut can take the last ones: the answers behind them are
        found again (`llm.answers`).
        """
        with self.store.write(durable=False) as db:
            if not db.execute("SELECT 1 FROM chat_runs WHERE id = ?", (run_id,)).fetchone():
                raise UnknownNameError(f"run {shown(run_id)}", "has been deleted", "Start it again.")
            keep_results(db, run_id, results, _now(), replace)

    def results(self, run_id: str) -> dict[str, Result | str]:
        """By id the result, or in one line why the last try failed."""
        return _results(self._rows(run_id, "unit, result, error"))

    def failures(self, run_id: str) -> Iterator[str]:
        """In one line each why the last try failed, of those that have no result."""
        yield from (one for one in self.results(run_id).values() if isinstance(one, str))

    def results_between(self, run_id: str, first: str, last: str) -> dict[str, Result | str]:
        """The same of the ids from the first to the last, in the order of Unicode, without reading the others."""
        return _results(self._rows_between(run_id, "unit, result, error", (first, last)))

    def done(self, run_id: str, between: tuple[str, str] | None = None) -> dict[str, bool]:
        """The ids that were asked for, all or those from the first to the last, and whether each has a result."""
        columns = "unit, result IS NOT NULL"
        rows = (
            self._rows(run_id, columns) if between is None else self._rows_between(run_id, columns, between)
        )
        return {unit: bool(there) for unit, there in rows}

    def _rows_between(self, run_id: str, columns: str, between: tuple[str, str]) -> list[Any]:
        sql = f"SELECT {columns} FROM chat_results WHERE run_id = ? AND unit BETWEEN ? AND ?"
        with self.store.read() as db:
            return db.execute(sql, (run_id, *between)).fetchall()

    def _rows(self, run_id: str, columns: str) -> list[Any]:
        sql = f"SELECT {columns} FROM chat_results WHERE run_id = ? ORDER BY unit"
        with self.store.read() as db:
            return db.execute(sql, (run_id,)).fetchall()

    def dependents(self, run: ChatRunInfo) -> dict[str, int]:
        """How many answers and runs about it go with a run; no zeros."""
        tables = {
            "answer": "chat_results WHERE run_id = :id",
            "judge run": "chat_runs WHERE subject = :id",
        }
        with self.store.read() as db:
            return counted(db, tables, {"id": run.id})

    def delete(self, run: ChatRunInfo) -> None:
        """Delete a run with those about it and what people marked in its answers, in one transaction."""
        with self.store.write() as db:
            _delete(db, run.id)


def any_run(store: Store, id_or_prefix: str) -> RunInfo | ChatRunInfo:
    """The run of either kind whose id begins like this; `UnknownNameError` if there is none, or more than one."""
    found: list[RunInfo | ChatRunInfo] = []
    unknown: list[UnknownNameError] = []
    for runs in (RunStore(store), ChatRuns(store)):
        try:
            found.append(runs.run(id_or_prefix))
        except UnknownNameError as error:
            unknown.append(error)
    if len(found) > 1:
        problem = f"fits {' and '.join(run.id for run in found)}"
        raise UnknownNameError(f"run {shown(id_or_prefix)}", problem, "Give more of the id.")
    if not found:
        raise unknown[0]
    return found[0]


def keep_results(
    db: sqlite3.Connection,
    run_id: str,
    results: Mapping[str, Result | str],
    created_at: str,
    replace: bool = False,
) -> int:
    """Write results as `ChatRuns.add` does, in the transaction that is open; how many came in."""
    frames = iter(
        zstd_frames([json_bytes(dict(one)) for one in results.values() if not isinstance(one, str)])
    )
    rows = [
        (run_id, unit, None, one, created_at)
        if isinstance(one, str)
        else (run_id, unit, next(frames), None, created_at)
        for unit, one in results.items()
    ]
    return db.executemany(_REPLACE if replace else _ADD, rows).rowcount


def delete_runs_about(db: sqlite3.Connection, subject: str) -> None:
    """Delete the chat runs about a subject that is deleted, and those about these, in the transaction that is open."""
    for (run_id,) in db.execute("SELECT id FROM chat_runs WHERE subject = ?", (subject,)).fetchall():
        _delete(db, run_id)


def _delete(db: sqlite3.Connection, run_id: str) -> None:
    db.execute(f"DELETE FROM chat_runs WHERE id IN ({_GOING})", {"id": run_id})


# -- plans ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """The question asked under one id."""

    instance_id: str
    task: str = ""


@dataclass(frozen=True, slots=True)
class ChatPlan:
    """A chat run that could begin; made by `chat_plan`. Attributes as of `Plan`.

    ``replaces``: whether new results take the place of those there are. ``reasons``: how many were left out, by why.
    ``prepare`` is called before the run is in the store, such as to keep what it depends on. ``labels`` says of an id
    what it is about, for the manifest of a batch.
    """

    store: Store
    spec: ChatRunSpec
    conversations: Callable[[str], Conversation[Result]]
    llm: LLM
    missing: Mapping[str, Sequence[str]]
    total: int
    any_stored: bool
    fresh: bool = False
    replaces: bool = False
    reasons: Mapping[str, int] = field(default_factory=dict)
    prepare: Callable[[], object] = lambda: None
    labels: Callable[[str], dict[str, Any]] = lambda unit: {"id": unit}

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())

    @property
    def run_id(self) -> str:
        return self.spec.id

    @property
    def model(self) -> str:
        return str(self.spec.settings.get("model", ""))

    def questions(self, ids: Sequence[str] | None = None) -> Iterator[tuple[str, tuple[ChatQuestion, ...]]]:
        for one in self.missing if ids is None else ids:
            yield one, (ChatQuestion(one),)

    def conversation(self, question: ChatQuestion) -> Conversation[Result]:
        return self.conversations(question.instance_id)

    def about(self, question: ChatQuestion) -> dict[str, Any]:
        return self.labels(question.instance_id)

    def result(self, question: ChatQuestion, answer: Result) -> Result:
        return answer

    def create(self) -> None:
        self.prepare()
        ChatRuns(self.store).create(self.spec)

    def keep(self, results: Mapping[str, Mapping[str, Result | str]]) -> None:
        by_id = {one: result for one, of in results.items() for result in of.values()}
        ChatRuns(self.store).add(self.spec.id, by_id, self.replaces)


def chat_plan(  # noqa: PLR0913 - what is run, on what, and how it is asked
    store: Store,
    spec: ChatRunSpec,
    ids: Sequence[str],
    conversation: Callable[[str], Conversation[Result]],
    llm: LLM | None = None,
    *,
    fresh: bool = False,
    again: Collection[str] = (),
    changed: Collection[str] = (),
    between: tuple[str, str] | None = None,
) -> ChatPlan:
    """Find which ids of a chat run are still to be asked. Nothing is sent or stored.

    Parameters
    ----------
    store : Store
    spec : ChatRunSpec
    ids : sequence of str
        In the order in which they are asked; those that failed before come last.
    conversation : callable
        Given an id, the conversation that gives its result. Called as the id's turn comes, by the batch engine in
        every pass.
    llm : LLM, optional
        How the server is asked; without it the one in force, and answers are kept in the store.
    fresh : bool
        Ask again for what has a result; new results take the place of those of the run.
    again : collection of str
        Ids that are asked again though they have a result, such as those whose answers were cut off.
    changed : collection of str
        Ids whose results give way, as something else is asked under them now; what is in the store answers it.
    between : tuple of str, optional
        Bounds of the ids, in the order of Unicode, where the run may have very many others.
    """
    if llm is None:
        from evidencebench_core.llm import LLM, AnswerCache

        llm = LLM(answers=AnswerCache(store))
    done = ChatRuns(store).done(spec.id, between)
    wanted = [
        one for one in dict.fromkeys(ids) if fresh or not done.get(one) or one in again or one in changed
    ]
    missing = dict.fromkeys(sorted(wanted, key=done.__contains__), ("",))
    return ChatPlan(
        store,
        spec,
        conversation,
        llm,
        MappingProxyType(missing),
        len(set(ids)),
        any(done.values()),
        fresh or bool(again),
        replaces=fresh or bool(again or changed),
    )


def request_settings(
    settings: Mapping[str, object] | None = None, max_tokens: int = MAX_TOKENS
) -> dict[str, Setting]:
    """All of `REQUEST_SETTINGS` in canonical form, defaults filled in: they go into a run's identity.

    Raises
    ------
    SettingError
        If there is no such setting, or it cannot have the value.
    """
    given = {"max_tokens": max_tokens, **(settings or {})}
    return RequestSettings.read("request", given).values()


def request_with(model: str, settings: Mapping[str, Any], messages: tuple[Message, ...]) -> ChatRequest:
    """The request of a model, with `request_settings`."""
    extra = json.loads(settings["extra_body"] or "{}")
    if settings["reasoning_effort"]:
        extra["reasoning_effort"] = settings["reasoning_effort"]
    return ChatRequest(model, messages, settings["temperature"], 0, settings["max_tokens"] or None, extra)


def asked(request: ChatRequest, step: str = "") -> Generator[Sequence[Ask], Sequence[Reply], Result]:
    """The conversation of one call. Its result has of the `Answer`:

    ``text, finish_reason, refusal, reasoning, prompt_tokens, completion_tokens, seconds, model`` and ``key``, which
    names request and answer in the store. An answer may be empty.
    """
    (answer,) = yield [Ask(step, replace(request, may_be_empty=True))]
    return {name: getattr(answer, name) for name in _KEPT}


def _results(rows: Sequence[Any]) -> dict[str, Result | str]:
    return {unit: error if result is None else from_json(unpacked(result)) for unit, result, error in rows}


def _info(row: Sequence[Any]) -> ChatRunInfo:
    run_id, wing, subject, settings, *others = row
    return ChatRunInfo(run_id, wing, subject, MappingProxyType(json.loads(settings)), *others)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
