"""A model server: answers from the store where there are any, else from the server, by one of several transports."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import Answer, AnswerStore, Call, Message, spending_of, valid_text
from evidencebench_core.llm.budget import Budget, Spending, Turns
from evidencebench_core.llm.connection import Connection, connection_from_environment

_FAILURES: Final = 10  # in a row, after which the run ends


class ServerBusyError(LLMUnreachableError):
    """The server asks us to wait."""

    pause = math.nan  # seconds, where it says how long


class UnknownParameterError(LLMRejectedError):
    """The server does not know a parameter of the request."""

    parameter = ""


class Transport:
    """One way to reach a model: `http`, a rehearsal, batches; another protocol would be another class."""

    is_paid = True  # whether calls are reserved and answers kept
    is_batch = False  # whether answers come hours later, at the price of a batch

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        """The answer to a call with this body, or an `LLMError`."""
        raise NotImplementedError

    async def models(self) -> set[str]:
        """The models that can be asked, as far as they are listed."""
        return set()

    async def close(self) -> None:
        """Close connections."""


@dataclass(eq=False)
class LLM:
    """A server with language models; used within ``async with``, by one event loop at a time."""

    connection: Connection = field(default_factory=connection_from_environment)
    store: Store | None = None  # of answers, and of what runs have cost
    budget: Budget = field(default_factory=Budget)
    concurrency: int = 8  # the most calls at once
    fresh: bool | Collection[str] = False  # whether stored answers are ignored: all, or those with these keys
    run_id: str = ""  # the run that the cost is counted for
    transport: Transport | None = None  # None: HTTP

    def __post_init__(self) -> None:
        self.turns = Turns(self.concurrency, self.budget)
        self._unknown: set[tuple[str, str]] = set()  # models, and parameters that they do not know
        self._n_failures = 0

    async def __aenter__(self) -> Self:
        if self.transport is None:
            from evidencebench_core.llm.http import HTTP

            self._transport: Transport = HTTP(self.connection)
        else:
            self._transport = self.transport
        # these belong to one event loop
        self.turns = Turns(self.concurrency, self.budget, self._transport.is_batch)
        self.answers = AnswerStore(self.store, self.fresh, self.run_id)
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        if self.store is not None and self.run_id not in ("", self.budget.run_id):
            self.budget.run_id = self.run_id
            self.budget.earlier = spending_of(self.store, self.run_id)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.close()
        await self.answers.pay(Spending())  # and answers to calls that were cancelled, too

    @property
    def note(self) -> str:
        """Why calls wait, or which parameters the server does not know, in one line. Safe from any thread."""
        unknown = [f"{model} does not know {name}" for model, name in sorted(self._unknown)]
        return self.turns.note or "; ".join(unknown)

    async def chat(
        self, messages: Sequence[Message], *, model: str, rehearsal: str = "", **parameters: Any
    ) -> Answer:
        """The answer to a conversation; ``parameters`` are other fields of the request (``None``: not sent)."""
        turns = [{"role": message.role, "content": valid_text(message.content)} for message in messages]
        fields = {"messages": turns, "model": model, **parameters}
        body = {name: value for name, value in fields.items() if value is not None}
        return await self.answer(Call(body, messages[-1].prompt, rehearsal))

    async def models(self) -> set[str]:
        """The models that the server lists."""
        return await self._transport.models()

    async def answer(self, call: Call) -> Answer:
        """The stored answer to a call, else the server's."""
        async with self._locks[call.key]:  # equal requests wait for the first
            if answer := self.answers.get(call.key):
                self.budget.count(Spending(cached=1))
                return answer
            if not self._transport.is_paid:
                return await self._transport.send(call, call.body)
            try:
                answer = await self._server_answer(call)
            except LLMError as error:
                # A prompt that is refused after others were answered says nothing about the next one.
                self._n_failures += not (self.turns.answered_at > 0 and isinstance(error, LLMRejectedError))
                error.stops_run |= self._n_failures >= _FAILURES
                raise
            self._n_failures = 0
            return replace(answer, key=call.key if self.store else "")

    async def _server_answer(self, call: Call) -> Answer:
        """The server's answer, once it is this call's turn, without parameters that the server does not know."""
        began = asyncio.get_running_loop().time()
        while True:
            most, cost = await self.turns.begin(call), Spending()
            left_out = {name for name in call.parameters if (call.model, name) in self._unknown}
            body = {name: value for name, value in call.body.items() if name not in left_out}
            if "max_tokens" in left_out:
                body["max_completion_tokens"] = call.body["max_tokens"]
            try:
                answer = await self._transport.send(call, body)
                answer = replace(answer, left_out=tuple(sorted(left_out - {"max_tokens"})))
                cost = self.turns.cost(call, answer)
                # Before its turn ends, so that a kill costs only the calls under way.
                await self.answers.keep(call, self.connection.address, answer, cost)
                return answer
            except ServerBusyError as error:
                if not self.turns.pause(error.pause, began):
                    error.stops_run = True
                    raise
            except UnknownParameterError as error:
                if error.parameter in left_out or error.parameter not in call.body:
                    raise
                self._unknown.add((call.model, error.parameter))
            except LLMAnswerError:
                cost = most  # paid, whatever it says
                await self.answers.pay(cost)
                raise
            finally:
                self.turns.end(call, most, cost)


async def gather(*calls: Awaitable[Any]) -> list[Any]:
    """Results of concurrent calls; if one fails, the others are still answered and kept."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:  # first one that ends the run, as the others probably follow from it
        raise min(errors, key=lambda error: not getattr(error, "stops_run", True))
    return results
