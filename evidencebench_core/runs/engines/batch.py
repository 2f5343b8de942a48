"""Questions to a model asked by a server's batch endpoint.

The work of as many units as fill a file runs until all of it waits; what it waits for is one batch, and the results
wake it. A batch under way is in the store: whoever goes on with its run finds it by its id.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from evidencebench_core.data.primitives import now
from evidencebench_core.errors import (
    LLMAnswerError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
    SettingError,
)
from evidencebench_core.llm import LLM, Answer, Call, Spending
from evidencebench_core.llm.client import error_text, gather, is_empty
from evidencebench_core.runs.execution import model_answers
from evidencebench_core.runs.planning import Plan
from evidencebench_core.runs.store import Results

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_AT_ONCE: Final = 1_000  # questions under way, each of one or more requests: a file may have 50,000
_ATTEMPTS: Final = 3  # batches that a request takes part in before it is given up
_LOOK: Final = 0.1  # seconds between looks whether all work waits
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_ENDPOINT: Final = "/v1/chat/completions"
_AGAIN: Final = "Start the run again to try once more: what is answered is kept."


@dataclass
class BatchEngine:
    """Asks in batches: as cheap as the server makes them, and done within a day."""

    poll: float = 15.0  # seconds between looks at a batch under way
    note: str = field(default="", init=False)

    def check(self, plan: Plan) -> None:
        if plan.llm is None or (plan.retriever and plan.retriever.name != "llm"):
            raise SettingError("batch engine", "the run asks no chat model", "Leave out --engine batch.")

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        llm = plan.llm
        if llm is None or not plan.missing:
            return
        batches = _Batches(self, plan, llm)
        transport, llm.transport, llm.budget.in_batches = llm.transport, batches.ask, True
        try:
            options = {"n_at_once": _AT_ONCE, "beside": batches.run}
            yield from model_answers(plan, llm, stopped=stopped, grace=0.0, **options)
        finally:
            llm.transport, llm.budget.in_batches, self.note = transport, False, ""


@dataclass(slots=True)
class _Batches:
    """The batches of one run."""

    engine: BatchEngine
    plan: Plan
    llm: LLM
    waiting: dict[str, tuple[Call, asyncio.Future[Answer | LLMError]]] = field(default_factory=dict)
    has_earlier: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, call: Call, attempts: int = _ATTEMPTS) -> Answer:
        """The answer to a call, by a batch that was begun earlier, else by one of the next ones."""
        await self.has_earlier.wait()
        if answer := self.llm.answers.get(call.key):
            self.llm.budget.count(Spending(cached=1))
            return answer
        with self.llm.budget.reserve(call.model, call.prompt_tokens, call.max_tokens) as settle:
            future = asyncio.get_running_loop().create_future()
            self.waiting[call.key] = (call, future)
            outcome: Answer | LLMError = await future
            if isinstance(outcome, Answer):
                settle(outcome)
                return outcome
            if isinstance(outcome, LLMAnswerError):  # paid, too
                settle(None)
        if attempts == 1 or isinstance(outcome, LLMRejectedError):
            raise outcome
        return await self.ask(call, attempts - 1)

    async def run(self) -> None:
        """Collect what another process has begun; then send what all work waits for, and wake it, again and again."""
        import openai

        try:
            await self._collect_earlier()
            self.has_earlier.set()
            while True:
                while not await self._all_waits():
                    pass
                calls = {key: call for key, (call, _) in self.waiting.items()}
                outcomes = await self._collect(*await self._begin(calls), calls)
                for key, outcome in outcomes.items():
                    _, future = self.waiting.pop(key)
                    future.set_result(outcome)
        except openai.APIError as error:
            failure = self.llm.failure(error)
            failure.stops_run = True
            raise failure from error

    async def _all_waits(self) -> bool:
        """Whether all work waits for an answer, and does so for a moment."""
        before = len(self.waiting)
        await asyncio.sleep(_LOOK)
        return 0 < before == len(self.waiting) == self.llm.n_open

    async def _begin(self, calls: Mapping[str, Call]) -> tuple[str, str]:
        """Send requests and begin their batch: the ids of file and batch."""
        request = {"method": "POST", "url": _ENDPOINT}
        bodies = {key: self.llm.accepted(call.body) for key, call in calls.items()}
        lines = [orjson.dumps({"custom_id": key, "body": body, **request}) for key, body in bodies.items()]
        client = self.llm.client()
        upload = (f"evidencebench-{self.plan.run_id}.jsonl", b"\n".join(lines) + b"\n")
        file = await client.files.create(file=upload, purpose="batch")
        self._remember(file.id)  # before it begins, so that a kill loses nothing
        create = client.with_options(max_retries=0).batches.create  # twice would be two batches
        batch = await create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h")
        self._remember(file.id, batch.id)
        return file.id, batch.id

    async def _collect(
        self, file_id: str, batch_id: str, calls: Mapping[str, Call]
    ) -> dict[str, Answer | LLMError]:
        """Wait until a batch has ended: by key the answers, which are then in the store, or why there is none."""
        address = self.llm.connection.address
        batches = self.llm.client().batches
        while (batch := await batches.retrieve(batch_id)).status not in _ENDED:
            n = batch.request_counts
            counts = f": {n.completed + n.failed:,} of {n.total:,} requests done" if n else ""
            self.engine.note = f"1 batch under way at {address}{counts}"
            await asyncio.sleep(self.engine.poll)
        self.engine.note = ""
        lines: dict[str, dict[str, Any]] = {}
        for results_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            lines |= await self._lines(results_id)
        outcomes = {key: self._outcome(call, lines.get(key, {})) for key, call in calls.items()}
        answers = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, Answer)}
        await gather(*(self.llm.keep(calls[key], answer) for key, answer in answers.items()))
        self._forget(file_id)  # only now that its answers are in the store
        if not lines:
            messages = [error.message for error in (batch.errors and batch.errors.data) or ()]
            problem = f"the batch was not carried out ({'; '.join([batch.status, *map(str, messages)])})"
            raise self.llm.error(LLMRejectedError, problem, f"Fix that first. {_AGAIN}", True)
        return outcomes

    def _outcome(self, call: Call, line: Mapping[str, Any]) -> Answer | LLMError:
        """The answer in a line of results, or why there is none."""
        response = line.get("response") or {}
        status, body = response.get("status_code") or 500, response.get("body") or {}
        if status == 200:
            try:
                answer = self.llm.read(body, call.body, batch=True)
            except LLMAnswerError as error:
                return error
            is_usable = call.allow_empty or not is_empty(answer)
            return answer if is_usable else self.llm.error(LLMAnswerError, "answers without any text", _AGAIN)
        reason = body.get("error") or line.get("error")
        message = error_text(reason, "the batch has no result of it")
        if self.llm.learns_from(status, reason, call.body):  # a parameter is left out the next time
            return self.llm.error(LLMUnreachableError, message, _AGAIN)
        return self.llm.refusal(status, message)

    async def _lines(self, file_id: str) -> dict[str, dict[str, Any]]:
        """The lines of a file by the key of their call."""
        content = await self.llm.client().files.content(file_id)
        return {line["custom_id"]: line for line in map(json.loads, content.content.splitlines())}

    # -- batches in the store ----------------------------------------------------------------------

    async def _collect_earlier(self) -> None:
        """Have the answers of batches that another process has begun in the store."""
        sql = "SELECT file_id, batch_id FROM llm_batches WHERE run_id = ? AND address = ?"
        with self.plan.store.read() as db:
            rows = db.execute(sql, (self.plan.run_id, self.llm.connection.address)).fetchall()
        for file_id, stored_id in rows:
            batch_id = stored_id
            if not batch_id:  # killed before it could be remembered, or before the batch was begun
                begun = {batch.input_file_id: batch.id async for batch in self.llm.client().batches.list()}
                batch_id = begun.get(file_id)
            if batch_id:
                bodies = {key: line["body"] for key, line in (await self._lines(file_id)).items()}
                calls = {key: Call(body["model"], body, key, 0) for key, body in bodies.items()}
                await self._collect(file_id, batch_id, calls)
            self._forget(file_id)

    def _remember(self, file_id: str, batch_id: str = "") -> None:
        row = (self.llm.connection.address, file_id, self.plan.run_id, batch_id, now())
        with self.plan.store.write() as db:
            db.execute("INSERT OR REPLACE INTO llm_batches VALUES (?, ?, ?, ?, ?)", row)

    def _forget(self, file_id: str) -> None:
        with self.plan.store.write() as db:
            db.execute("DELETE FROM llm_batches WHERE file_id = ?", (file_id,))


def batches_under_way(store: Store, run_id: str) -> dict[str, int]:
    """How many batches of a run a server has, by its address, as far as is known here."""
    sql = "SELECT address, count(*) FROM llm_batches WHERE run_id = ? AND batch_id <> '' GROUP BY address"
    with store.read() as db:
        return dict(db.execute(sql, (run_id,)).fetchall())
