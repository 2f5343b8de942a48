"""A server's batch endpoint: files up, batches begun and watched, results down. What is under way is in the store."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from evidencebench_core.errors import LLMCancelledError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.replies import Setback
from evidencebench_core.llm.sender import client_settings
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    import openai
    from openai import types

    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.runs.engines.batch import BatchEngine
    from evidencebench_core.runs.engines.batch_files import Lines
    from evidencebench_core.runs.plan import AnyPlan

_T = TypeVar("_T")
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_NO_LIST: Final = frozenset({404, 405, 501})  # of servers that list neither files nor batches


class _Batch(NamedTuple):
    """A row of ``llm_batches``; an empty id: not known to be there."""

    name: str
    file_id: str = ""
    batch_id: str = ""


class BatchEndpoint:
    """The batches of one run.

    A row is written before a file is sent, and completed with every id that the server gives. So a process that is
    killed in between leaves a name by which the next one finds what arrived: nothing is sent twice.
    """

    def __init__(self, engine: BatchEngine, plan: AnyPlan, llm: LLM, stopped: Callable[[], bool]) -> None:
        self._engine, self._plan, self._llm, self._stopped = engine, plan, llm, stopped
        self._store, self._run_id, self._address = plan.store, plan.run_id, llm.connection.address
        self._client = client_of(llm)
        self._answered = False
        self._fetched: list[_Batch] = []
        if llm.answers is None or not llm.answers.claims.take(plan.run_id):
            raise LLMRejectedError(
                f"run {plan.run_id}",
                "is being asked in batches by another process",
                "Wait until that has ended, or stop it.",
                stops_run=True,
            )
        self._claims = llm.answers.claims

    def close(self) -> None:
        self._client.close()
        self._claims.drop(self._run_id)

    # -- requests -----------------------------------------------------------------------------

    def submit(self, path: Path, n_lines: int) -> None:
        """Upload a file, and begin its batch."""
        self._plan.create()
        batch = _Batch(f"evidencebench-{self._run_id}-{uuid.uuid4().hex}.jsonl")
        self._keep(batch)
        self._engine.note = f"sending {quantity(n_lines, 'request')} to {self._address}"
        self._begin(batch, path)

    def _begin(self, batch: _Batch, path: Path | None = None) -> None:
        """Do what is still to be done until a batch runs; without its file, if that has arrived."""
        files, batches = self._client.files, self._client.batches

        def uploaded(attempt: int) -> str:
            known = self._listed_id(files.list, attempt or not path, "filename", batch.name, purpose="batch")
            if known or path is None:
                return known
            with path.open("rb") as file:
                return files.create(file=(batch.name, file), purpose="batch").id

        def begun(attempt: int) -> str:
            known = self._listed_id(batches.list, attempt or not path, "input_file_id", batch.file_id)
            how: Any = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
            return known or batches.create(input_file_id=batch.file_id, **how).id

        if not batch.file_id:
            batch = batch._replace(file_id=self._patiently(uploaded))
            if not batch.file_id:  # killed in the middle of the upload
                self._forget([batch])
                return
            self._keep(batch)
        self._keep(batch._replace(batch_id=self._patiently(begun)))

    def _listed_id(
        self, listing: Callable[..., Any], perhaps: object, name: str, value: str, **how: str
    ) -> str:
        """The id of the one in a list with this value, if it may be there; empty if it is not, or there is no list."""
        import openai

        try:
            listed = listing(**how) if perhaps else ()
            return next((str(one.id) for one in listed if getattr(one, name) == value), "")
        except openai.APIStatusError as error:
            if error.status_code not in _NO_LIST:
                raise
            return ""

    # -- results ------------------------------------------------------------------------------

    def fetch(self, lines: Lines) -> Iterator[None]:
        """Add the results of all batches under way, earlier processes' too, yielding while they are not there."""
        for batch in self._rows():
            if not batch.batch_id:
                self._begin(batch)
        waiting = self._rows()
        is_carried_out, problem = not waiting, ""
        while waiting:
            counts = Counter[str]()
            for batch in tuple(waiting):
                state = self._patiently(partial(self._state, batch), batch)
                if state.request_counts:
                    counts.update(state.request_counts.model_dump())
                if state.status in _ENDED:
                    waiting.remove(batch)
                    self._fetched.append(batch)
                    for file_id in filter(None, (state.output_file_id, state.error_file_id)):
                        self._patiently(partial(self._download, file_id, lines))
                        is_carried_out = True
                    problem = _problem(state) or problem
            if waiting:
                done = counts["completed"] + counts["failed"]
                self._engine.note = (
                    f"{quantity(len(waiting), 'batch')} under way at {self._address}:"
                    f" {done:,} of {counts['total']:,} requests done"
                )
                yield
                self._wait(self._engine.poll)
        self._engine.note = ""
        if not is_carried_out:  # not one request was even looked at
            self.settle()
            raise LLMRejectedError(
                f"batch at {self._address}",
                f"was not carried out ({self._llm.connection.scrubbed(problem)})",
                "Do as it says, then start the run again: what is answered is kept.",
                stops_run=True,
            )

    def _state(self, batch: _Batch, _: int) -> types.Batch:
        return self._client.batches.retrieve(batch.batch_id)

    def _download(self, file_id: str, lines: Lines, _: int) -> None:
        with TemporaryDirectory(prefix="evidencebench-batch-") as folder:
            path = Path(folder) / "results.jsonl"
            with self._client.files.with_streaming_response.content(file_id) as response:
                response.stream_to_file(path)
            lines.read(path, f"{file_id} of {self._address}")

    def settle(self) -> None:
        """Forget the batches whose results were fetched: what was in them is kept, or asked again."""
        self._forget(self._fetched)
        self._fetched = []

    # -- the store ----------------------------------------------------------------------------

    def _rows(self) -> list[_Batch]:
        with self._store.read() as db:
            rows = db.execute(
                "SELECT name, file_id, batch_id FROM llm_batches"
                " WHERE run_id = ? AND address = ? ORDER BY begun_at",
                (self._run_id, self._address),
            )
            return [_Batch(*row) for row in rows]

    def _keep(self, batch: _Batch) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._store.write() as db:
            db.execute(
                "INSERT INTO llm_batches (name, file_id, batch_id, run_id, address, begun_at) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET file_id = excluded.file_id, batch_id = excluded.batch_id",
                (*batch, self._run_id, self._address, now),
            )

    def _forget(self, batches: list[_Batch]) -> None:
        with self._store.write() as db:
            db.executemany("DELETE FROM llm_batches WHERE name = ?", [(one.name,) for one in batches])

    # -- a server that fails ------------------------------------------------------------------

    def _patiently(self, call: Callable[[int], _T], batch: _Batch | None = None) -> _T:
        """The call's result; it is given the number of its attempt, and tried again while the server fails."""
        import httpx
        import openai

        limits, scrubbed, place = self._llm.limits, self._llm.connection.scrubbed, f"batch at {self._address}"
        began, attempt = time.monotonic(), 0
        while True:
            try:
                result = call(attempt)
                self._answered = True
                return result
            except openai.APIStatusError as error:
                if error.status_code < 500 and error.status_code not in (408, 409, 429):
                    words = scrubbed(" ".join(str(error.message).split())[:300])
                    remedy = (
                        f"Use the key that {batch.batch_id} was begun with."
                        if batch is not None and error.status_code == 404
                        else "Check the key and the address; it may have no batch endpoint: then leave out"
                        " --engine batch."
                    )
                    raise LLMRejectedError(place, f"refused ({words})", remedy, stops_run=True) from error
                reason = f"HTTP {error.status_code}"
            except (openai.APIConnectionError, httpx.HTTPError) as error:
                reason = scrubbed(str(error.__cause__ or error))
            if time.monotonic() - began > limits.patience(self._answered):
                raise LLMUnreachableError(
                    place,
                    f"the server fails ({reason})",
                    "Check the server and the address, then start again: the batches under way are remembered.",
                    stops_run=True,
                )
            self._engine.note = f"the server fails ({reason}): trying again"
            self._wait(min(limits.longest_wait, limits.first_wait * 2.0**attempt))
            attempt += 1

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopped():
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.2))
        raise LLMCancelledError(
            f"batch at {self._address}", "the run was stopped", "Start it again to go on."
        )


def batches_under_way(store: Store, run_id: str) -> dict[str, int]:
    """How many batches of a run a server has, by its address, as far as is known here."""
    with store.read() as db:
        rows = db.execute(
            "SELECT address, count(*) FROM llm_batches WHERE run_id = ? GROUP BY address", (run_id,)
        )
        return dict(rows.fetchall())


def _problem(state: types.Batch) -> str:
    errors = state.errors.data if state.errors and state.errors.data else ()
    first = next((f"{one.code}: {one.message}" for one in errors), "")
    return first or ("" if state.status == "completed" else state.status)


def client_of(llm: LLM) -> openai.OpenAI:
    """The openai package's client, without retries of its own and without following redirects."""
    import httpx
    import openai

    try:
        package, carrier = client_settings(llm.connection)
    except Setback as unusable:
        raise llm.error(LLMRejectedError, unusable.reason, unusable.remedy, True) from unusable
    http = httpx.Client(**carrier)
    return openai.OpenAI(**package, timeout=llm.timeouts.total, http_client=http)  # type: ignore[arg-type]  # or httpx2's
