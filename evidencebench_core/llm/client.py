"""A model server: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import base64
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.primitives import digest
from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError
from evidencebench_core.llm.answers import (
    Answer,
    AnswerStore,
    Message,
    estimated_prompt_tokens,
    estimated_tokens,
    spending_of,
    valid_text,
)
from evidencebench_core.llm.budget import Budget, Gate, Limits, Spending, answer_guess
from evidencebench_core.llm.connection import Connection, connection_from_environment
from evidencebench_core.llm.transport import AGAIN, HTTP, Call, Transport, TryAgainError, server_error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

_BATCHES: Final = 3  # that a request takes part in
_FAILURES: Final = 10  # in a row, after which the run ends
_VECTORS: Final = 64  # texts that are sent together


@dataclass(eq=False)
class LLM:
    """A server with language models; asked within ``async with``, by one event loop at a time.

    Answers, and what run ``run_id`` has cost, are committed in ``store``, where there is one. With ``fresh`` the
    server is asked again for answers that are there: for all, or for those under some keys.
    """

    connection: Connection = field(default_factory=connection_from_environment)
    store: Store | None = None
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    fresh: bool | Collection[str] = False
    run_id: str = ""
    transport: Transport | None = None  # without one HTTP

    def __post_init__(self) -> None:
        self._transport = self.transport or HTTP(self.connection)
        self.n_open = 0  # calls that have begun, and are neither answered nor given up
        self._refused: dict[str, set[str]] = defaultdict(set)  # parameters that a model does not know
        self._n_failures = 0
        self._begin()

    def _begin(self) -> None:
        """Make a gate, locks and an answer store for the next event loop, since each belongs to one."""
        self.gate, self.answers = Gate(self.limits), AnswerStore(self.store, self.fresh, self.run_id)
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def __aenter__(self) -> LLM:
        self._begin()
        if self.store is not None and self.run_id:
            self.budget.begin(self.run_id, spending_of(self.store, self.run_id))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.close()
        await self.answers.pay(Spending())  # and answers to calls that were cancelled, too

    @property
    def note(self) -> str:
        """Why calls wait, or what the server does not know, in a line for people. From any thread."""
        unknown = [
            f"{model} does not know {name}" for model in self._refused for name in self._refused[model]
        ]
        return self.gate.note or "; ".join(unknown)

    # -- questions ---------------------------------------------------------------------------------

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        model: str,
        rehearsal: str = "",
        allow_empty: bool = False,
        **parameters: Any,
    ) -> Answer:
        """The answer to a conversation: from the store, else from the server, and then committed.

        ``rehearsal`` is the answer that an estimate takes the model to give, ``parameters`` are further fields of the
        request (``None``: not sent). An answer without text is asked for once more unless ``allow_empty``. After an
        `LLMError` with ``stops_run`` every further call would fail the same way.
        """
        turns = [{"role": message.role, "content": valid_text(message.content)} for message in messages]
        fields = {"messages": turns, "model": model, **parameters}
        body = {name: value for name, value in fields.items() if value is not None}
        tokens = estimated_prompt_tokens(messages), _most_tokens(turn["content"] for turn in turns)
        prompt = messages[-1].prompt
        return await self._answer(Call(model, body, digest(body), *tokens, prompt, rehearsal, allow_empty))

    async def embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, of shape (number of texts, dimensions).

        The first text, a hypothesis, is sent alone, the others 64 together: those of a paper are asked for once. In a
        rehearsal they are zeros in one dimension, unless all are in the store.
        """
        import numpy as np

        inputs = [valid_text(text) or " " for text in texts]  # servers refuse an empty text
        parts = [inputs[:1], *(inputs[i : i + _VECTORS] for i in range(1, len(inputs), _VECTORS))]
        answers = await gather(*(self._answer(_embedding_call(model, part)) for part in parts))
        if not all(answer.text for answer in answers):
            return np.zeros((len(texts), 1), dtype=np.float32)
        vectors = [np.frombuffer(base64.b64decode(answer.text), dtype="<f4") for answer in answers]
        return np.concatenate([v.reshape(len(part), -1) for v, part in zip(vectors, parts, strict=True)])

    async def _answer(self, call: Call) -> Answer:
        """The stored answer to a call, else the server's."""
        async with self._locks[call.key]:  # equal questions wait for the first
            if answer := self.answers.get(call.key):
                self.budget.count(Spending(cached=1))
                return answer
            if not self._transport.is_paid:
                return await self._transport.send(call, call.body)
            try:
                answer = await self._ask(call)
                if is_empty(answer) and not call.allow_empty:
                    answer = await self._ask(call)
                    if is_empty(answer):
                        raise server_error(self.connection, LLMAnswerError, "answers without any text", AGAIN)
            except LLMError as error:
                # A prompt that is refused after others were answered says nothing about the next one.
                self._n_failures += not (self.gate.answered_at > 0 and isinstance(error, LLMRejectedError))
                error.stops_run |= self._n_failures >= _FAILURES
                raise
            self._n_failures = 0
            return replace(answer, key=call.key if self.store else "")

    async def _ask(self, call: Call) -> Answer:
        """The server's answer, committed while its call is still reserved."""
        async with self.budget.reserve(call, self._transport.is_batch) as settle:
            self.n_open += 1
            try:
                return await self._reply(call, settle)
            except LLMAnswerError:
                await self.answers.pay(settle(None))  # paid, whatever it says
                raise
            finally:
                self.n_open -= 1

    async def _reply(self, call: Call, settle: Callable[[Answer], Spending]) -> Answer:
        """The server's answer, waited for in turn while it is busy, and asked without parameters it does not know."""
        refused, learnt, n_tries = self._refused[call.model], set[str](), 0
        expected = call.prompt_tokens + answer_guess(call.max_tokens)
        began = asyncio.get_running_loop().time()
        while True:
            try:
                async with self.gate.permit(expected):
                    answer = await self._transport.send(call, self._accepted(call))
                    left_out = tuple(name for name in call.body if name in refused and name != "max_tokens")
                    answer = replace(answer, left_out=left_out)
                    # With its permit, so that a kill costs only the calls under way.
                    await self.keep(call, answer, settle(answer))
            except TryAgainError as failure:
                n_tries += 1
                if failure.parameter in call.body and failure.parameter not in learnt:
                    learnt.add(failure.parameter)
                    refused.add(failure.parameter)
                elif failure.parameter or not self._waits(failure, n_tries, expected, began):
                    failure.error.stops_run |= not self._transport.is_batch
                    raise failure.error from failure
            else:
                self.gate.answered(expected, sum(answer.tokens(call.prompt_tokens)))
                return answer

    def _waits(self, failure: TryAgainError, n_tries: int, expected: int, began: float) -> bool:
        """Whether a call is made again, in three batches at most, or once the server is less busy."""
        if self._transport.is_batch:
            return n_tries < _BATCHES
        return self.gate.waits(failure.pause, expected, began)

    def _accepted(self, call: Call) -> dict[str, Any]:
        """The body without what the server does not know, or under its other name."""
        refused = self._refused[call.model]
        body = {name: value for name, value in call.body.items() if name not in refused}
        if "max_tokens" in refused and "max_tokens" in call.body:
            body["max_completion_tokens"] = call.body["max_tokens"]
        return body

    async def keep(self, call: Call, answer: Answer, cost: Spending) -> None:
        """Commit an answer; it is in the store when this returns. What a server's filter refused may be asked again."""
        if answer.finish_reason == "content_filter" or (is_empty(answer) and not call.allow_empty):
            await self.answers.pay(cost)
        else:
            await self.answers.keep(call, self.connection.address, answer, cost)


def _embedding_call(model: str, texts: Sequence[str]) -> Call:
    body = {"model": model, "input": texts}
    n_tokens = sum(map(estimated_tokens, texts))
    return Call(model, body, digest(body), n_tokens, _most_tokens(texts), path="embeddings")


def _most_tokens(texts: Iterable[str]) -> int:
    """Of texts, one for each byte, and what may stand around each."""
    return sum(len(text.encode()) + 16 for text in texts)


def is_empty(answer: Answer) -> bool:
    """Whether there is neither a text nor a reason why there is none."""
    return not (answer.text.strip() or answer.refusal or answer.finish_reason in ("length", "content_filter"))


async def gather(*calls: Awaitable[Any]) -> list[Any]:
    """Results of calls made side by side; where one fails the others are answered and kept all the same."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:  # one that ends the run first: the others are probably consequences
        raise min(errors, key=lambda error: not getattr(error, "stops_run", True))
    return results
