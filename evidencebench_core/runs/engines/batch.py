"""Questions to a model asked by a server's batch endpoint.

The work of as many units as fill a file runs until all of it waits; what it waits for is one batch, and the results
wake it. A batch under way is in the store: whoever goes on with its run finds it by its id.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson

from evidencebench_core.data.records import now
from evidencebench_core.errors import (
    LLMAnswerError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
    SettingError,
)
from evidencebench_core.llm import LLM, Answer, Call, results
from evidencebench_core.llm.client import is_empty
from evidencebench_core.runs.execute import model_answers
from evidencebench_core.runs.plan import Plan
from evidencebench_core.runs.store import Results
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_T = TypeVar("_T")
_AT_ONCE: Final = 1_000  # questions under way, each of one or more requests: a file may have 50,000
_ATTEMPTS: Final = 3  # batches that a request takes part in before it is given up
_LOOK: Final = 0.1  # seconds between looks whether all work waits
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_ENDPOINT: Final = "/v1/chat/completions"


@dataclass
class BatchEngine:
    """Asks in batches: as cheap as the server makes them, and done within a day."""

    poll: float = 15.0  # seconds between looks at the batches under way
    note: str = field(default="", init=False)

    def check(self, plan: Plan) -> None:
        if plan.llm is None or plan.retriever not in ("", "llm"):
            raise SettingError("batch engine", "the run asks no chat model", "Leave out --engine batch.")

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        llm = plan.llm
        if llm is None or not plan.missing:
            return
        batches = _Batches(self, plan, llm)
        transport, llm.transport, llm.budget.in_batches = llm.transport, batches.ask, True
        try:
            # What an earlier process has begun comes first: its answers are then found in the store.
            for ready in results(llm, [("", batches.collect_earlier)], stopped=stopped, grace=0.0):
                for _, error in ready:
                    if isinstance(error, LLMError):
                        raise error
                yield {}
            options = {"n_at_once": _AT_ONCE, "beside": batches.run}
            yield from model_answers(plan, llm, stopped=stopped, grace=0.0, **options)
        finally:
            llm.transport, llm.budget.in_batches, self.note = transport, False, ""


class _Batches:
    """The batches of one run."""

    def __init__(self, engine: BatchEngine, plan: Plan, llm: LLM) -> None:
        self._engine, self._run_id, self._llm, self._store = engine, plan.run_id, llm, plan.store
        self._address = llm.connection.address
        self._waiting: dict[str, tuple[Call, asyncio.Future[Answer | LLMError]]] = {}

    async def ask(self, call: Call) -> Answer:
        """The answer to a call, by the next batch."""
        reason = ""
        for _ in range(_ATTEMPTS):
            with self._llm.budget.reserve(call.model, call.prompt_tokens, call.max_tokens) as settle:
                future: asyncio.Future[Answer | LLMError] = asyncio.get_running_loop().create_future()
                self._waiting[call.key] = (call, future)
                outcome = await future
                if isinstance(outcome, (Answer, LLMAnswerError)):  # paid, whatever it says
                    settle(outcome if isinstance(outcome, Answer) else None)
            if isinstance(outcome, LLMError):
                if not isinstance(outcome, LLMUnreachableError):
                    raise outcome
                reason = outcome.problem
            elif call.allow_empty or not is_empty(outcome):
                return outcome
            else:
                reason = "the answer has no text"
        problem = f"no answer in {_ATTEMPTS} batches: {reason}"
        raise self._llm.error(LLMUnreachableError, problem, "Start the run again to try once more.")

    async def run(self) -> None:
        """Send what all work waits for, and wake it, again and again."""
        while True:
            calls = await self._all_waiting()
            await self._collect(*await self._begin(calls), {})
            for call in calls:
                _, future = self._waiting.pop(call.key, (None, None))
                if future is not None:
                    reason = "the batch has no result of it"
                    future.set_result(self._llm.error(LLMUnreachableError, reason, "Try again."))

    async def _all_waiting(self) -> list[Call]:
        """The calls that all work waits for, once none of it does anything else."""
        before = -1
        while not self._waiting or not before == len(self._waiting) == self._llm.n_open:
            before = len(self._waiting)
            await asyncio.sleep(_LOOK)
        return [call for call, _ in self._waiting.values()]

    async def collect_earlier(self, _: LLM) -> None:
        """Have the answers of a batch that another process has begun in the store."""
        sql = "SELECT file_id, batch_id FROM llm_batches WHERE run_id = ? AND address = ? ORDER BY begun_at"
        with self._store.read() as db:
            rows = db.execute(sql, (self._run_id, self._address)).fetchall()
        for file_id, stored_id in rows:
            batch_id = stored_id or await self._begun(file_id)
            if not batch_id:  # killed before it was begun
                self._forget(file_id)
                continue
            requests = {str(line["custom_id"]): line["body"] for line in await self._lines(file_id)}
            calls = {key: Call(body["model"], body, key, 0) for key, body in requests.items()}
            await self._collect(file_id, batch_id, calls)

    # -- sending -----------------------------------------------------------------------------------

    async def _begin(self, calls: Sequence[Call]) -> tuple[str, str]:
        """Send the requests of a batch, and begin it; its row is there before, so that a kill loses nothing."""
        self._engine.note = f"sending {quantity(len(calls), 'request')} to {self._address}"
        request = {"method": "POST", "url": _ENDPOINT}
        bodies = {call.key: self._llm.accepted(call.body) for call in calls}
        lines = [orjson.dumps({"custom_id": key, "body": body, **request}) for key, body in bodies.items()]
        upload = (f"evidencebench-{self._run_id}.jsonl", b"\n".join(lines) + b"\n")
        file = await self._reply(self._llm.client().files.create(file=upload, purpose="batch"))
        self._remember(file.id)
        batches = self._llm.client().with_options(max_retries=0).batches
        try:
            batch = await self._reply(
                batches.create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h")
            )
        except LLMRejectedError:
            self._forget(file.id)
            raise
        self._remember(file.id, batch.id)
        return file.id, batch.id

    async def _begun(self, file_id: str) -> str:
        """The id of a batch that was begun before its id could be remembered; empty if there is none."""
        async for batch in await self._reply(self._llm.client().batches.list()):
            if batch.input_file_id == file_id:
                self._remember(file_id, batch.id)
                return str(batch.id)
        return ""

    # -- collecting --------------------------------------------------------------------------------

    async def _collect(self, file_id: str, batch_id: str, calls: dict[str, Call]) -> None:
        """Wait until a batch has ended, and store and hand out its answers.

        ``calls`` are those that no work here waits for.
        """
        batches = self._llm.client().batches
        while (batch := await self._reply(batches.retrieve(batch_id))).status not in _ENDED:
            n = batch.request_counts
            counts = f": {n.completed + n.failed:,} of {n.total:,} requests done" if n else ""
            self._engine.note = f"1 batch under way at {self._address}{counts}"
            await asyncio.sleep(self._engine.poll)
        self._engine.note = ""
        lines = [*await self._lines(batch.output_file_id), *await self._lines(batch.error_file_id)]
        for line in lines:
            key = line["custom_id"]
            call, future = self._waiting.pop(key, (calls.get(key), None))
            if call is None:
                continue
            outcome = self._outcome(call, line)
            if isinstance(outcome, Answer) and (call.allow_empty or not is_empty(outcome)):
                await self._llm.keep(call, outcome)
            if future is not None and not future.done():
                future.set_result(outcome)
        self._forget(file_id)  # only now that its answers are in the store
        if not lines:
            errors = batch.errors.data if batch.errors and batch.errors.data else ()
            reason = next((f"{error.code}: {error.message}" for error in errors), batch.status)
            remedy = "Fix the problem above and restart the run: what is answered is kept."
            raise self._llm.error(LLMRejectedError, f"the batch was not carried out ({reason})", remedy, True)

    async def _lines(self, file_id: str | None) -> list[dict[str, Any]]:
        if file_id is None:
            return []
        content = await self._reply(self._llm.client().files.content(file_id))
        return [json.loads(line) for line in content.content.splitlines()]

    def _outcome(self, call: Call, line: dict[str, Any]) -> Answer | LLMError:
        """The answer in a line of results, or why there is none."""
        response = line.get("response") or {}
        status, body = response.get("status_code") or 500, response.get("body") or {}
        try:
            if status == 200 and not line.get("error"):
                return self._llm.read(body, call.body, batch=True)
        except LLMError as error:
            return error
        reason = body.get("error") or line.get("error") or {}
        message = str(reason.get("message") if isinstance(reason, dict) else reason)
        refusal = self._llm.refusal(status, message)
        is_learnt = self._llm.learns_from(status, reason, call.body)  # a parameter is left out the next time
        return self._llm.error(LLMUnreachableError, refusal.problem, "Try again.") if is_learnt else refusal

    async def _reply(self, reply: Awaitable[_T]) -> _T:
        """A reply of the endpoint, which the openai package asks for again; an error ends the run."""
        import openai

        try:
            return await reply
        except openai.APIError as error:
            failure = self._llm.failure(error)
            failure.stops_run = True
            raise failure from error

    # -- the store ---------------------------------------------------------------------------------

    def _remember(self, file_id: str, batch_id: str = "") -> None:
        row = (self._address, file_id, self._run_id, batch_id, now())
        with self._store.write() as db:
            db.execute("INSERT OR REPLACE INTO llm_batches VALUES (?, ?, ?, ?, ?)", row)

    def _forget(self, file_id: str) -> None:
        with self._store.write() as db:
            db.execute("DELETE FROM llm_batches WHERE address = ? AND file_id = ?", (self._address, file_id))


def batches_under_way(store: Store, run_id: str) -> dict[str, int]:
    """How many batches of a run a server has, by its address, as far as is known here."""
    sql = "SELECT address, count(*) FROM llm_batches WHERE run_id = ? GROUP BY address"
    with store.read() as db:
        return dict(db.execute(sql, (run_id,)).fetchall())
