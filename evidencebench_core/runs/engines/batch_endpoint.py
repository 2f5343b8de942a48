"""A server's batch endpoint: files up, batches begun and watched, results down. What is under way is in the store."""

from __future__ import annotations

import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from evidencebench_core.errors import LLMCancelledError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.sender import ConnectionUnusable, client_settings, drop_made_up_key
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    import openai
    from openai import types

    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.runs.engines.batch import BatchEngine
    from evidencebench_core.runs.engines.batch_files import Lines
    from evidencebench_core.runs.plan import Plan

_T = TypeVar("_T")
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_NO_LIST: Final = frozenset({404, 405, 501})  # of servers that list neither files nor batches


@dataclass(frozen=True, slots=True)
class _Batch:
    """A row of ``llm_batches``; an empty id: not known to be there."""

    name: str
    file_id: str = ""
    batch_id: str = ""


class BatchEndpoint:
    """The batches of one run.

    A row is written before a file is sent, and completed with every id that the server gives. So a process that is
    killed in between leaves a name by which the next one finds what arrived: nothing is sent twice.
    """

    def __init__(self, engine: BatchEngine, plan: Plan, llm: LLM, stopped: Callable[[], bool]) -> None:
        self._engine, self._llm, self._stopped = engine, llm, stopped
        self._store, self._run_id, self._fresh = plan.store, plan.spec.id, plan.fresh
        self._address = llm.connection.address
        self._client = _client(llm)
        self._answered = False
        self._fetched: list[_Batch] = []
        self._lock = _lock(plan)

    def close(self) -> None:
        self._client.close()
        os.close(self._lock)

    # -- requests -----------------------------------------------------------------------------

    def submit(self, path: Path, n_lines: int) -> None:
        """Upload a file, and begin its batch."""
        batch = _Batch(f"evidencebench-{self._run_id}-{uuid.uuid4().hex}.jsonl")
        with self._store.write() as db:
            db.execute(
                "INSERT INTO llm_batches (name, run_id, address, begun_at) VALUES (?, ?, ?, ?)",
                (batch.name, self._run_id, self._address, datetime.now(UTC).isoformat(timespec="seconds")),
            )
        self._engine.note = f"sending {quantity(n_lines, 'request')} to {self._address}"
        self._begin(batch, path)

    def _begin(self, batch: _Batch, path: Path | None) -> None:
        """Do what is still to be done until a batch runs; without its file, if that has arrived."""

        def uploaded(attempt: int) -> str:
            if attempt or path is None:
                for one in self._listed(self._client.files.list, purpose="batch"):
                    if one.filename == batch.name:
                        return str(one.id)
            if path is None:
                return ""
            with path.open("rb") as file:
                return self._client.files.create(file=(batch.name, file), purpose="batch").id

        def begun(attempt: int) -> str:
            if attempt or path is None:
                for one in self._listed(self._client.batches.list):
                    if one.input_file_id == batch.file_id:
                        return str(one.id)
            return self._client.batches.create(
                input_file_id=batch.file_id, endpoint="/v1/chat/completions", completion_window="24h"
            ).id

        if not batch.file_id:
            batch = replace(batch, file_id=self._patiently(uploaded))
            if not batch.file_id:  # killed in the middle of the upload
                self._forget([batch])
                return
            self._update(batch)
        self._update(replace(batch, batch_id=self._patiently(begun)))

    def _listed(self, listing: Callable[..., Any], **how: str) -> Iterator[Any]:
        import openai

        try:
            yield from listing(**how)
        except openai.APIStatusError as error:
            if error.status_code not in _NO_LIST:
                raise

    # -- results ------------------------------------------------------------------------------

    def fetch(self, lines: Lines) -> Iterator[None]:
        """Add the results of all batches under way, earlier processes' too, yielding while they are not there."""
        for batch in self._rows():
            if not batch.batch_id:
                self._begin(batch, None)
        waiting = self._rows()
        any_waiting, any_results, problem = bool(waiting), False, ""
        while waiting:
            counts = Counter[str]()
            for batch in tuple(waiting):
                state = self._patiently(self._state_of(batch), batch)
                if state.request_counts:
                    counts.update(state.request_counts.model_dump())
                if state.status in _ENDED:
                    waiting.remove(batch)
                    self._fetched.append(batch)
                    any_results |= self._add_results(state, lines)
                    problem = _problem(state) or problem
            if waiting:
                one = "1 batch" if len(waiting) == 1 else f"{len(waiting):,} batches"
                done = counts["completed"] + counts["failed"]
                self._engine.note = (
                    f"{one} under way at {self._address}: {done:,} of {counts['total']:,} requests done"
                )
                yield
                self._wait(self._engine.poll)
        self._engine.note = ""
        if any_waiting and not any_results:  # not one request was even looked at
            self.settle()
            raise LLMRejectedError(
                f"batch at {self._address}",
                f"was not carried out ({self._llm.connection.scrubbed(problem)})",
                "Do as it says, then start the run again: what is answered is kept.",
                stops_run=True,
            )

    def _state_of(self, batch: _Batch) -> Callable[[int], types.Batch]:
        return lambda _: self._client.batches.retrieve(batch.batch_id)

    def _add_results(self, state: types.Batch, lines: Lines) -> bool:
        """Add what came of a batch; whether anything did."""
        file_ids = [one for one in (state.output_file_id, state.error_file_id) if one]
        for file_id in file_ids:
            self._patiently(lambda _, file_id=file_id: self._download(file_id, lines))  # type: ignore[misc]
        return bool(file_ids)

    def _download(self, file_id: str, lines: Lines) -> None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="evidencebench-batch-") as folder:
            path = Path(folder) / "results.jsonl"
            with self._client.files.with_streaming_response.content(file_id) as response:
                response.stream_to_file(path)
            lines.read(path, f"{file_id} of {self._address}")

    def settle(self) -> None:
        self._forget(self._fetched)
        self._fetched = []

    # -- the store ----------------------------------------------------------------------------

    def _rows(self) -> list[_Batch]:
        with self._store.read() as db:
            rows = db.execute(
                "SELECT name, file_id, batch_id FROM llm_batches WHERE run_id = ? AND address = ? ORDER BY begun_at",
                (self._run_id, self._address),
            ).fetchall()
        return [_Batch(*row) for row in rows]

    def _update(self, batch: _Batch) -> None:
        with self._store.write() as db:
            db.execute(
                "UPDATE llm_batches SET file_id = ?, batch_id = ? WHERE name = ?",
                (batch.file_id, batch.batch_id, batch.name),
            )

    def _forget(self, batches: list[_Batch]) -> None:
        with self._store.write() as db:
            db.executemany("DELETE FROM llm_batches WHERE name = ?", [(one.name,) for one in batches])

    # -- a server that fails ------------------------------------------------------------------

    def _patiently(self, call: Callable[[int], _T], batch: _Batch | None = None) -> _T:
        """The call's result; it is given the number of its attempt, and tried again while the server fails."""
        import httpx
        import openai

        began = time.monotonic()
        attempt = 0
        while True:
            try:
                result = call(attempt)
                self._answered = True
                return result
            except openai.APIStatusError as error:
                if error.status_code < 500 and error.status_code not in (408, 409, 429):
                    raise self._refused(error, batch) from error
                reason = f"HTTP {error.status_code}"
            except (openai.APIConnectionError, httpx.HTTPError) as error:
                reason = str(error.__cause__ or error)
            limits = self._llm.limits
            if time.monotonic() - began > limits.patience(self._answered):
                raise LLMUnreachableError(
                    f"batch at {self._address}",
                    f"the server fails ({self._llm.connection.scrubbed(reason)})",
                    "Check the server and the address, then start again: the batches under way are remembered.",
                    stops_run=True,
                )
            self._engine.note = f"the server fails ({self._llm.connection.scrubbed(reason)}): trying again"
            self._wait(min(limits.longest_wait, limits.first_wait * 2.0**attempt))
            attempt += 1

    def _refused(self, error: openai.APIStatusError, batch: _Batch | None) -> LLMRejectedError:
        words = self._llm.connection.scrubbed(" ".join(str(error.message).split())[:300])
        remedy = (
            "Check the key and the address; it may have no batch endpoint: then leave out --engine batch."
        )
        if batch is not None and error.status_code == 404:
            remedy = f"Use the key that {batch.batch_id} was begun with."
        return LLMRejectedError(f"batch at {self._address}", f"refused ({words})", remedy, stops_run=True)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            if self._stopped():
                raise LLMCancelledError(
                    f"batch at {self._address}", "the run was stopped", "Start it again to go on."
                )
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.2))


def batches_under_way(store: Store, run_id: str) -> int:
    """How many batches of a run some server has, as far as is known here."""
    with store.read() as db:
        return int(db.execute("SELECT count(*) FROM llm_batches WHERE run_id = ?", (run_id,)).fetchone()[0])


def _problem(state: types.Batch) -> str:
    errors = state.errors.data if state.errors and state.errors.data else ()
    said = next((f"{one.code}: {one.message}" for one in errors), "")
    return said or ("" if state.status == "completed" else state.status)


def _client(llm: LLM) -> openai.OpenAI:
    """The openai package's client, without retries of its own and without following redirects."""
    import httpx
    import openai

    connection = llm.connection
    try:
        package, carrier = client_settings(connection)
    except ConnectionUnusable as unusable:
        raise LLMRejectedError(
            connection.address,
            f"is no address of a server, or the key is none ({unusable.reason})",
            "Set OPENAI_BASE_URL, such as https://host/v1, and OPENAI_API_KEY.",
        ) from unusable
    http = httpx.Client(**carrier, event_hooks={"request": [drop_made_up_key]})
    return openai.OpenAI(**package, timeout=llm.timeouts.total, http_client=http)  # type: ignore[arg-type]  # or httpx2's


def _lock(plan: Plan) -> int:
    """A file that one process at a time may hold, so that two cannot ask the same in batches."""
    path = plan.store.path.with_name(f"{plan.store.path.name}.batch-{plan.spec.id}")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if os.name == "posix":
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise LLMRejectedError(
                f"run {plan.spec.id}",
                "is being asked in batches by another process",
                "Wait until that has ended, or stop it.",
                stops_run=True,
            ) from error
    return descriptor
