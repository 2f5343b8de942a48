"""Questions to a model asked by a server's batch endpoint.

The work of as many questions as fill a file runs until all of it waits; what it waits for is one batch, and the results
wake it. A batch under way is in the store: whoever goes on with its run finds it by its id.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson

from evidencebench_core.data.records import now
from evidencebench_core.errors import LLMError, LLMRejectedError, LLMUnreachableError, SettingError
from evidencebench_core.llm.answers import Answer, from_json
from evidencebench_core.llm.client import LLM, Call, error_text, is_empty
from evidencebench_core.llm.work import results
from evidencebench_core.runs.engines import Answered, work_of
from evidencebench_core.runs.plan import Plan, Question, RetrievalPlan
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

    from evidencebench_core.data.store import Store

_T = TypeVar("_T")
_TOGETHER: Final = 2_000  # questions whose work is under way at once
_FILE: Final = 20_000  # requests
_ATTEMPTS: Final = 3  # batches that a request takes part in before it is given up
_LOOK: Final = 0.1  # seconds between looks whether all work waits
_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass
class BatchEngine:
    """Asks in batches: as cheap as the server makes them, and done within a day."""

    poll: float = 15.0  # seconds between looks at the batches under way
    note: str = field(default="", init=False)  # how they are, in a line for people

    def check(self, plan: Plan) -> None:
        is_chat = not isinstance(plan, RetrievalPlan) or plan.retriever_name == "llm"
        if plan.llm is None or not is_chat:
            remedy = "Leave out --engine batch."
            raise SettingError("batch engine", "the run asks no chat model", remedy)

    def answers(
        self, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        llm = plan.llm
        if llm is None or not plan.missing:
            return
        batches = _Batches(self, plan, llm)
        transport, llm.transport, llm.budget.in_batches = llm.transport, batches.ask, True
        try:
            pieces = ((question, work_of(plan, question)) for question in questions)
            yield from results(
                llm, pieces, stopped=stopped, grace=0.0, n_at_once=_TOGETHER, beside=batches.run
            )
        finally:
            llm.transport, llm.budget.in_batches, self.note = transport, False, ""


class _Batches:
    """The batches of one run."""

    def __init__(self, engine: BatchEngine, plan: Plan, llm: LLM) -> None:
        self._engine, self._plan, self._llm, self._store = engine, plan, llm, plan.store
        self._address = llm.connection.address
        self._waiting: dict[str, tuple[Call, asyncio.Future[dict[str, Any]]]] = {}
        self._results: dict[str, dict[str, Any]] = {}  # of an earlier process's batches, not asked for yet
        self._open: dict[str, set[str]] = {}  # keys whose results are not stored yet, by name of the batch
        self._resumed = asyncio.Event()

    async def ask(self, call: Call) -> Answer:
        """The answer to a call, by the next batch."""
        await self._resumed.wait()
        reason = ""
        for _ in range(_ATTEMPTS):
            try:
                answer, reason = await self._attempt(call)
            except LLMError:
                self._settle(call.key)
                raise
            if answer is not None:
                await self._llm.keep(call, answer)
                self._settle(call.key)  # only now: a batch is remembered until its answers are in the store
                return answer
        self._settle(call.key)
        remedy = "Start the run again to try once more."
        problem = f"no answer in {_ATTEMPTS} batches: {reason}"
        raise self._llm.error(LLMUnreachableError, problem, remedy)

    async def _attempt(self, call: Call) -> tuple[Answer | None, str]:
        """The answer in the next batch, else why there is none; `LLMError` if there would be none again."""
        is_paid = call.key in self._results
        with self._llm.budget.reserve(
            call.model, call.prompt_tokens, call.max_tokens, capped=not is_paid
        ) as spending:
            line = self._results.pop(call.key) if is_paid else await self._result(call)
            response = line.get("response") or {}
            status, body = response.get("status_code") or 500, response.get("body") or {}
            if status == 200 and not line.get("error"):
                spending.is_paid = True  # whatever it says
                answer = self._llm.read(body, self._llm.accepted(call.body)[1], batch=True)
                spending.settle(answer)
                is_answer = call.allow_empty or not is_empty(answer)
                return (answer, "") if is_answer else (None, "the answer has no text")
        if not line:
            return None, "the batch has no result of it"
        error = body.get("error") or line.get("error") or {}
        message = str(error.get("message") if isinstance(error, dict) else error)
        refusal = self._llm.refusal(status, message)
        if isinstance(refusal, LLMUnreachableError) or self._llm.learns_from(status, error, call.body):
            return None, refusal.problem
        raise refusal

    async def _result(self, call: Call) -> dict[str, Any]:
        """The call's line in the results of the next batch."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[call.key] = (call, future)
        return await future

    async def run(self) -> None:
        """Send what all work waits for, and wake it, again and again."""
        under_way: dict[str, str] = {}
        for name, batch_id in self._rows():
            known_id = batch_id or await self._begun(name)
            if known_id:
                under_way[name] = known_id
            else:  # killed before it was begun
                self._forget(name)
        self._results = await self._collected(under_way)
        for key in self._llm.stored(self._results):  # killed before the batch was forgotten
            self._settle(key)
        self._resumed.set()
        while True:
            calls = await self._all_waiting()
            sent: dict[str, str] = {}
            for start in range(0, len(calls), _FILE):
                name, batch_id = await self._begin(calls[start : start + _FILE])
                sent[name] = batch_id
            lines = await self._collected(sent)
            for call in calls:
                _, future = self._waiting.pop(call.key)
                if not future.done():
                    future.set_result(lines.pop(call.key, {}))

    async def _all_waiting(self) -> list[Call]:
        """The calls that all work waits for, once none of it does anything else."""
        before = -1
        while not self._waiting or not before == len(self._waiting) == self._llm.n_open:
            before = len(self._waiting)
            await asyncio.sleep(_LOOK)
        return [call for call, _ in self._waiting.values()]

    async def _begin(self, calls: Sequence[Call]) -> tuple[str, str]:
        """Send the requests of a batch, and begin it; its row is there before, so that a kill loses nothing."""
        name = f"evidencebench-{self._plan.run_id}-{uuid.uuid4().hex}.jsonl"
        self._engine.note = f"sending {quantity(len(calls), 'request')} to {self._address}"
        content = b"\n".join(
            orjson.dumps(
                {
                    "custom_id": call.key,
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": self._llm.accepted(call.body)[0],
                }
            )
            for call in calls
        )
        client = self._llm.client()
        file = await self._patiently(client.files.create(file=(name, content + b"\n"), purpose="batch"))
        self._remember(name)
        return name, await self._created(name, file.id)

    async def _created(self, name: str, file_id: str) -> str:
        """The id of a new batch. It is looked for before it is asked for again: a server may have begun it."""
        import openai

        client = self._llm.client().with_options(max_retries=0)
        for _ in range(_ATTEMPTS):
            try:
                batch = await client.batches.create(
                    input_file_id=file_id,
                    endpoint="/v1/chat/completions",
                    completion_window="24h",
                    metadata={"evidencebench": name},
                )
                self._remember(name, batch.id)
                return batch.id
            except (openai.APIConnectionError, openai.InternalServerError, openai.RateLimitError) as error:
                failure = error
                await asyncio.sleep(self._engine.poll)
                if batch_id := await self._begun(name):
                    return batch_id
            except openai.APIStatusError as error:
                self._forget(name)
                raise self._refusal(error) from error
        remedy = "Check the server, then start again."
        raise self._llm.error(LLMUnreachableError, str(failure), remedy, True) from failure

    async def _begun(self, name: str) -> str:
        """The id of a batch that was begun before its id could be remembered; empty if there is none."""
        async for batch in await self._patiently(self._llm.client().batches.list()):
            if (batch.metadata or {}).get("evidencebench") == name:
                self._remember(name, batch.id)
                return str(batch.id)
        return ""

    async def _collected(self, under_way: dict[str, str]) -> dict[str, dict[str, Any]]:
        """The results of batches by the key of their calls, once all have ended."""
        lines: dict[str, dict[str, Any]] = {}
        problem, client, left = "", self._llm.client(), dict(under_way)
        while left:
            n_done, n_total = 0, 0
            for name, batch_id in tuple(left.items()):
                batch = await self._patiently(client.batches.retrieve(batch_id))
                if batch.request_counts:
                    n_done += batch.request_counts.completed + batch.request_counts.failed
                    n_total += batch.request_counts.total
                if batch.status in _ENDED:
                    del left[name]
                    own = await self._downloaded(batch)
                    self._open[name] = set(own)
                    lines |= own
                    problem = _problem(batch) if not own else problem
                    if not own:
                        self._forget(name)
            if left:
                self._engine.note = (
                    f"{quantity(len(left), 'batch')} under way at {self._address}:"
                    f" {n_done:,} of {n_total:,} requests done"
                )
                await asyncio.sleep(self._engine.poll)
        self._engine.note = ""
        if under_way and not lines:
            remedy = "Fix the problem above and restart the run: what is answered is kept."
            raise self._llm.error(
                LLMRejectedError, f"the batch was not carried out ({problem})", remedy, True
            )
        return lines

    async def _downloaded(self, batch: Batch) -> dict[str, dict[str, Any]]:
        lines: dict[str, dict[str, Any]] = {}
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = await self._patiently(self._llm.client().files.content(file_id))
            for text in content.content.splitlines():
                line = from_json(text)
                lines[str(line["custom_id"])] = line
        return lines

    async def _patiently(self, reply: Awaitable[_T]) -> _T:
        """A reply of the endpoint, which the openai package asks for again; an error ends the run."""
        import openai

        try:
            return await reply
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIConnectionError as error:
            remedy = "Check the server, then start again: the batches under way are remembered."
            reason = str(error.__cause__ or error)
            raise self._llm.error(LLMUnreachableError, reason, remedy, True) from error

    def _refusal(self, error: openai.APIStatusError) -> LLMError:
        problem = self._llm.refusal(error.status_code, error_text(error.body, error.message)).problem
        remedy = "Check the key and the address: the server may have no batch endpoint."
        return self._llm.error(LLMRejectedError, problem, remedy, True)

    # -- the store ---------------------------------------------------------------------------------

    def _rows(self) -> list[tuple[str, str]]:
        sql = "SELECT name, batch_id FROM llm_batches WHERE run_id = ? AND address = ? ORDER BY begun_at"
        with self._store.read() as db:
            return db.execute(sql, (self._plan.run_id, self._address)).fetchall()

    def _remember(self, name: str, batch_id: str = "") -> None:
        with self._store.write() as db:
            db.execute(
                "INSERT INTO llm_batches (name, run_id, address, batch_id, begun_at) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET batch_id = excluded.batch_id",
                (name, self._plan.run_id, self._address, batch_id, now()),
            )

    def _settle(self, key: str) -> None:
        """Forget a batch once all its results are in the store, or given up."""
        for name, keys in tuple(self._open.items()):
            keys.discard(key)
            if not keys:
                del self._open[name]
                self._forget(name)

    def _forget(self, name: str) -> None:
        with self._store.write() as db:
            db.execute("DELETE FROM llm_batches WHERE name = ?", (name,))


def batches_under_way(store: Store, run_id: str) -> dict[str, int]:
    """How many batches of a run a server has, by its address, as far as is known here."""
    sql = "SELECT address, count(*) FROM llm_batches WHERE run_id = ? GROUP BY address"
    with store.read() as db:
        return dict(db.execute(sql, (run_id,)).fetchall())


def _problem(batch: Batch) -> str:
    errors = batch.errors.data if batch.errors and batch.errors.data else ()
    return next((f"{error.code}: {error.message}" for error in errors), batch.status)
