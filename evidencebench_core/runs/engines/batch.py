"""Questions to a model through a server's batch endpoint.

The work of many units runs until all of it waits; what it waits for is one batch, and the results wake it. A batch
under way is in the store: whoever goes on with its run finds it by its id.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import orjson

from evidencebench_core.data.primitives import now
from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMError, LLMRejectedError, SettingError
from evidencebench_core.llm import LLM, Answer, Call, Spending
from evidencebench_core.llm.client import Transport, gather
from evidencebench_core.runs.execution import model_answers
from evidencebench_core.runs.model import Results
from evidencebench_core.runs.planning import Plan, Unit

_AT_ONCE: Final = 1_000  # questions under way, and requests of a batch
_INTERVAL: Final = 0.1  # seconds between checks whether all work waits
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_ENDPOINT: Final = "/v1/chat/completions"


@dataclass
class BatchEngine(Transport):
    """Asks in batches, which are cheaper and done within a day; a call waits for its batch."""

    is_batch = True
    poll: float = 15.0  # seconds between requests for a batch's status
    note: str = field(default="", init=False)

    def check(self, plan: Plan) -> None:
        if plan.llm is None or (plan.retriever and plan.retriever.name != "llm"):
            problem = "cannot do a run that asks no chat model"
            raise SettingError("the batch engine", problem, "Leave out --engine batch.")

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        from evidencebench_core.llm.http import HTTP

        if plan.llm is None or not plan.missing:
            return
        self._plan, self._http = plan, HTTP(plan.llm.connection)
        self._waiting: dict[str, tuple[Call, dict[str, Any], asyncio.Future[Answer | LLMError]]] = {}
        self._has_earlier = asyncio.Event()
        llm = replace(plan.llm, transport=self, concurrency=_AT_ONCE)
        plan = replace(plan, ask=self._ask)
        yield from model_answers(plan, llm, stopped=stopped, grace=0.0, beside=self._run)

    async def _ask(self, unit: Unit, question: str, llm: LLM) -> Any:
        """Ask as the plan does, once the answers of earlier batches are in the store."""
        await self._has_earlier.wait()
        return await cast("Callable[..., Awaitable[Any]]", self._plan.ask)(unit, question, llm)

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        future = asyncio.get_running_loop().create_future()
        self._waiting[call.key] = (call, body, future)
        outcome: Answer | LLMError = await future
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    async def close(self) -> None:
        self.note = ""
        await self._http.close()

    async def _run(self, llm: LLM) -> None:
        """Collect earlier batches; then, again and again, send the calls that all work waits for, and wake it."""
        import openai

        try:
            await self._collect_earlier(llm)
            self._has_earlier.set()
            while True:
                await self._all_wait(llm)
                calls = {key: call for key, (call, *_) in self._waiting.items()}
                outcomes = await self._collect(llm, *await self._begin(), calls)
                for key, outcome in outcomes.items():
                    *_, future = self._waiting.pop(key)
                    future.set_result(outcome)
        except openai.APIError as error:
            meaning = self._http.meaning(error)
            meaning.stops_run = True
            raise meaning from error

    async def _all_wait(self, llm: LLM) -> None:
        """Return once every call under way waits for a batch."""
        n_before = -1
        while not n_before == len(self._waiting) == llm.turns.under_way.calls > 0:
            n_before = len(self._waiting)
            await asyncio.sleep(_INTERVAL)

    async def _begin(self) -> tuple[str, str]:
        """Send the waiting calls and start their batch; returns the ids of file and batch."""
        request = {"method": "POST", "url": _ENDPOINT}
        bodies = {key: body for key, (_, body, _) in self._waiting.items()}
        lines = [orjson.dumps({"custom_id": key, "body": body, **request}) for key, body in bodies.items()]
        client = self._http.client()
        upload = (f"evidencebench-{self._plan.run_id}.jsonl", b"\n".join(lines) + b"\n")
        file = await client.files.create(file=upload, purpose="batch")
        self._remember(file.id)  # before it starts, so that a kill loses nothing
        create = client.with_options(max_retries=0).batches.create  # a retry could start a second batch
        batch = await create(input_file_id=file.id, endpoint=_ENDPOINT, completion_window="24h")
        self._remember(file.id, batch.id)
        return file.id, batch.id

    async def _collect(
        self, llm: LLM, file_id: str, batch_id: str, calls: Mapping[str, Call]
    ) -> dict[str, Answer | LLMError]:
        """Wait for a batch, and store its answers; returns by key the answer, or why there is none."""
        batches, connection = self._http.client().batches, self._http.connection
        while (batch := await batches.retrieve(batch_id)).status not in _ENDED:
            n = batch.request_counts
            counts = f": {n.completed + n.failed:,} of {n.total:,} requests done" if n else ""
            self.note = f"1 batch under way at {connection.address}{counts}"
            await asyncio.sleep(self.poll)
        self.note = ""
        lines: dict[str, dict[str, Any]] = {}
        for results_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            lines |= await self._lines(results_id)
        outcomes = {key: self._outcome(call, lines.get(key, {})) for key, call in calls.items()}
        answers = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, Answer)}
        keep, address = llm.answers.keep, connection.address
        await gather(*(keep(calls[key], address, answer, Spending()) for key, answer in answers.items()))
        self._forget(file_id)  # only now that its answers are in the store
        if not lines:
            messages = [error.message for error in (batch.errors and batch.errors.data) or ()]
            problem = f"did not carry out the batch ({'; '.join([batch.status, *map(str, messages)])})"
            raise connection.error(LLMRejectedError, problem, stops_run=True)
        return outcomes

    def _outcome(self, call: Call, line: Mapping[str, Any]) -> Answer | LLMError:
        """The answer in a line of results, or why there is none."""
        response = line.get("response") or {}
        body = response.get("body") or {}
        if response.get("status_code") == 200:
            try:
                return replace(self._http.completion(body), batch=True)
            except LLMError as error:
                return error
        status, reason = response.get("status_code") or 500, body.get("error") or line.get("error")
        return self._http.failure(status, reason, "the batch has no result of it", call.parameters)

    async def _lines(self, file_id: str) -> dict[str, dict[str, Any]]:
        """The lines of a file by the key of their call."""
        content = await self._http.client().files.content(file_id)
        return {line["custom_id"]: line for line in map(json.loads, content.content.splitlines())}

    # -- batches in the store ----------------------------------------------------------------------

    async def _collect_earlier(self, llm: LLM) -> None:
        """Store the answers of batches that another process has started, and count their cost."""
        sql = "SELECT file_id, batch_id FROM llm_batches WHERE run_id = ? AND address = ?"
        with self._plan.store.read() as db:
            rows = db.execute(sql, (self._plan.run_id, self._http.connection.address)).fetchall()
        for file_id, stored_id in rows:
            batch_id = stored_id
            if not batch_id:  # killed before its id was stored, or before it was started
                begun = {batch.input_file_id: batch.id async for batch in self._http.client().batches.list()}
                batch_id = begun.get(file_id)
            if batch_id:
                calls = {key: Call(line["body"]) for key, line in (await self._lines(file_id)).items()}
                outcomes = await self._collect(llm, file_id, batch_id, calls)
                for key, outcome in outcomes.items():
                    if isinstance(outcome, Answer):
                        cost = llm.turns.cost(calls[key], outcome)
                        llm.budget.count(cost)
                        await llm.answers.pay(cost)
            self._forget(file_id)

    def _remember(self, file_id: str, batch_id: str = "") -> None:
        row = (self._http.connection.address, file_id, self._plan.run_id, batch_id, now())
        with self._plan.store.write() as db:
            db.execute("INSERT OR REPLACE INTO llm_batches VALUES (?, ?, ?, ?, ?)", row)

    def _forget(self, file_id: str) -> None:
        with self._plan.store.write() as db:
            db.execute("DELETE FROM llm_batches WHERE file_id = ?", (file_id,))


def batches_under_way(store: Store, run_id: str) -> dict[str, int]:
    """The number of a run's batches that are under way, by the server's address."""
    sql = "SELECT address, count(*) FROM llm_batches WHERE run_id = ? AND batch_id <> '' GROUP BY address"
    with store.read() as db:
        return dict(db.execute(sql, (run_id,)).fetchall())
