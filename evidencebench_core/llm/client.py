"""A model server: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.primitives import digest
from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import (
    Answer,
    AnswerStore,
    Message,
    estimated_prompt_tokens,
    estimated_tokens,
    valid_text,
)
from evidencebench_core.llm.budget import Budget, Gate, Limits, Spending, answer_guess
from evidencebench_core.llm.connection import Connection, connection_from_environment
from evidencebench_core.words import clipped_text

if TYPE_CHECKING:
    import numpy as np
    import openai
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

_RETRIES: Final = 40  # of 8 s at most, so some five minutes
_RETRIES_AT_FIRST: Final = 4  # of a server that has not answered yet
_FAILURES: Final = 10  # in a row, after which the run ends
_VECTORS: Final = 64  # texts that are sent together
_AGAIN: Final = "Start again to try once more: what is answered is kept."
_ENDS_RUN: Final = {
    401: "Set OPENAI_API_KEY to a key of this server.",
    403: "Check what the key is allowed to do, and the model's name.",
    404: "Check the model's name and the address (OPENAI_BASE_URL, usually ending in /v1).",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request; ``rehearsal`` is the answer that an estimate takes the model to give."""

    model: str
    body: dict[str, Any]
    key: str
    prompt_tokens: int
    rehearsal: str = ""
    allow_empty: bool = False
    path: str = "chat/completions"

    @property
    def max_tokens(self) -> int | None:
        """Of the answer; ``None``: as many as the server allows."""
        return 0 if self.path == "embeddings" else self.body.get("max_tokens")


class LLM:
    """A server with language models; asked within ``async with``, by one event loop at a time.

    Answers are committed in ``store``, where there is one; with ``fresh`` the server is asked again for those there.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        store: Store | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self.connection, self.store = connection or connection_from_environment(), store
        self.budget, self.limits, self.fresh = budget or Budget(), limits or Limits(), fresh
        self.transport: Callable[[Call], Awaitable[Answer]] = self._ask  # a batch puts its own here
        self.n_open = 0  # calls that are neither answered nor given up
        self.gate = Gate(self.limits)  # another one for every loop
        self.answers = AnswerStore(store, fresh)  # and this
        self._client: openai.AsyncOpenAI | None = None
        self._refused: dict[str, set[str]] = defaultdict(set)  # parameters that the server refuses, by model
        self._has_answered, self._n_failures = False, 0
        self._locks: dict[str, asyncio.Lock] = {}

    async def __aenter__(self) -> LLM:
        self._locks, self.gate = defaultdict(asyncio.Lock), Gate(self.limits)
        self.answers = AnswerStore(self.store, self.fresh)
        return self

    async def __aexit__(self, *_: object) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        await self.answers.commit()  # answers to calls that were cancelled, too

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people; ``""`` if they do not. From any thread."""
        return self.gate.note

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
        n_tokens = estimated_prompt_tokens(messages)
        return await self._answer(Call(model, body, digest(body), n_tokens, rehearsal, allow_empty))

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
            self.n_open += 1
            try:
                answer = await self.transport(call)
            finally:
                self.n_open -= 1
            return replace(answer, key=call.key if self.store else "")

    async def _ask(self, call: Call) -> Answer:
        async with self.gate.permit(call.prompt_tokens + answer_guess(call.max_tokens)):
            try:
                answer = await self._reply(call)
                if is_empty(answer) and not call.allow_empty:
                    answer = await self._reply(call)
                    if is_empty(answer):
                        raise self.error(LLMAnswerError, "answers without any text", _AGAIN)
            except LLMError as error:
                # A prompt that is refused after others were answered says nothing about the next one.
                self._n_failures += not (self._has_answered and isinstance(error, LLMRejectedError))
                error.stops_run |= self._n_failures >= _FAILURES
                raise
            self._has_answered, self._n_failures = True, 0
            await self.keep(call, answer)  # with its permit: a kill costs only the calls under way
            return answer

    async def _reply(self, call: Call) -> Answer:
        # Reserve only when the call may start.
        with self.budget.reserve(call.model, call.prompt_tokens, call.max_tokens) as settle:
            began = time.monotonic()
            document = await self._post(call)
            settle(None)  # paid, whatever it says
            read = self._read_vectors if call.path == "embeddings" else self.read
            answer = replace(read(document, call.body), seconds=time.monotonic() - began)
            settle(answer)
        return answer

    async def keep(self, call: Call, answer: Answer) -> None:
        """Commit an answer; it is in the store when this returns. What a server's filter refused may be asked again."""
        if answer.finish_reason != "content_filter":
            await self.answers.keep(call.key, self.connection.address, call.body, answer)

    # -- the server --------------------------------------------------------------------------------

    def client(self) -> openai.AsyncOpenAI:
        """The openai package's client of this server."""
        import openai

        if self._client is None:
            for package in ("httpx", "httpx2"):  # they log addresses with their secrets
                logging.getLogger(package).setLevel(logging.WARNING)
            self.connection.check()
            self._client = openai.AsyncOpenAI(
                api_key=self.connection.api_key or "none",
                base_url=self.connection.base_url,
                max_retries=_RETRIES,
                timeout=openai.Timeout(900.0, connect=20.0),  # seconds without a byte
            )
        return self._client

    async def _post(self, call: Call) -> Any:
        """The JSON of the server's reply, ``None`` where it has none; an `LLMError` where it refuses."""
        import httpx
        import openai

        response: httpx.Response | None = None
        while response is None:
            sent = self.accepted(call.body)
            retries = _RETRIES if self._has_answered else _RETRIES_AT_FIRST
            try:
                response = await self.client().post(
                    f"/{call.path}", body=sent, cast_to=httpx.Response, options={"max_retries": retries}
                )
            except openai.APIError as error:
                if not self.learns_from(getattr(error, "status_code", 0), error.body, sent):
                    raise self.failure(error) from error
        try:
            return response.json()
        except ValueError:
            return None

    def read(self, document: Any, body: dict[str, Any], batch: bool = False) -> Answer:
        """The answer in a chat completion to a request, without the key, were the server to echo it."""
        try:
            choice = document["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise self._unreadable(document, "no choice in it") from error

        def text(value: object) -> str:
            return self.connection.without_keys(valid_text(str(value or "")))

        refused, usage = self._refused[body["model"]], document.get("usage") or {}
        return Answer(
            text=text(content),
            finish_reason=str(choice.get("finish_reason") or ""),
            refusal=text(message.get("refusal")) or None,
            prompt_tokens=usage.get("prompt_tokens"),
            completion_tokens=usage.get("completion_tokens"),
            reasoning=text(message.get("reasoning_content") or message.get("reasoning")),
            left_out=tuple(name for name in body if name in refused and name != "max_tokens"),
            model=text(document.get("model")),
            batch=batch,
        )

    def _read_vectors(self, document: Any, body: dict[str, Any]) -> Answer:
        """The vectors in a reply, as an answer whose text is their bytes."""
        import numpy as np

        try:
            data = sorted(document["data"], key=lambda item: item["index"])
            pairs = zip(body["input"], data, strict=True)
            vectors = np.array([item["embedding"] for _, item in pairs], dtype="<f4")
        except (KeyError, TypeError, ValueError) as error:
            raise self._unreadable(document, "not a vector for each text") from error
        text = base64.b64encode(vectors.tobytes()).decode("ascii")
        usage = document.get("usage") or {}
        return Answer(text, prompt_tokens=usage.get("prompt_tokens"), completion_tokens=0)

    def accepted(self, body: dict[str, Any]) -> dict[str, Any]:
        """A body without what the server refuses, or under its other name."""
        refused = self._refused[body["model"]]
        sent = {name: value for name, value in body.items() if name not in refused}
        if "max_tokens" in refused and "max_tokens" in body:
            sent["max_completion_tokens"] = body["max_tokens"]
        return sent

    def learns_from(self, status: int, error: object, sent: dict[str, Any]) -> bool:
        """Whether a refusal is of one parameter, such as the temperature, that can be left out."""
        name = error.get("param") if isinstance(error, dict) else None
        if status != 400 or name not in sent or name in ("model", "messages", "input"):
            return False
        self._refused[sent["model"]].add(name)
        return True

    # -- failures ----------------------------------------------------------------------------------

    def failure(self, error: openai.APIError) -> LLMError:
        """The meaning of an error of the openai package."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self.refusal(error.status_code, error_text(error.body, error.message))
        reason = str(error.__cause__ or error) or type(error.__cause__).__name__
        return self.error(LLMUnreachableError, reason, f"Check the server. {_AGAIN}")

    def refusal(self, status: int, message: str) -> LLMError:
        """The error of a status: one that ends the run, or of this call alone."""
        problem = f"answers {status}: {message}"
        if status in _ENDS_RUN:
            return self.error(LLMRejectedError, problem, _ENDS_RUN[status], True)
        if status >= 500 or status in (408, 409, 429):
            return self.error(LLMUnreachableError, problem, f"Check the server. {_AGAIN}")
        remedy = "See what the server says; a prompt that is too long can be asked by sections."
        return self.error(LLMRejectedError, problem, remedy)

    def _unreadable(self, document: Any, problem: str) -> LLMError:
        """The error of a reply that is no answer, in the server's words if it has any."""
        words = error_text(document.get("error"), problem) if isinstance(document, dict) else problem
        return self.error(LLMAnswerError, f"replies with no answer: {words}", _AGAIN)

    def error(self, kind: type[LLMError], problem: str, remedy: str, stops_run: bool = False) -> LLMError:
        """An error of this server; of its words, which may be any page, one line without keys."""
        line = self.connection.without_keys(problem).splitlines()[0]
        return kind(self.connection.address, clipped_text(line, 200).rstrip("."), remedy, stops_run)


def error_text(error: object, default: str) -> str:
    """The server's words in the body of an error, if it has any."""
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else default


def _embedding_call(model: str, texts: Sequence[str]) -> Call:
    body = {"model": model, "input": texts}
    n_tokens = sum(map(estimated_tokens, texts))
    return Call(model, body, digest(body), n_tokens, path="embeddings")


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
