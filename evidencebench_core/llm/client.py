"""A model server: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import (
    Answer,
    AnswerStore,
    Message,
    chat_body,
    estimated_prompt_tokens,
    estimated_tokens,
    request_key,
    valid_text,
)
from evidencebench_core.llm.budget import Budget, Gate, Limits, Spending
from evidencebench_core.llm.connection import DEFAULT_ADDRESS, Connection, current_connection
from evidencebench_core.words import clipped_text

if TYPE_CHECKING:
    import numpy as np
    import openai
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

_RETRIES: Final = 40  # of 8 s at most, so some five minutes
_RETRIES_AT_FIRST: Final = 4  # of a server that has not answered yet
_FAILURES: Final = 10  # in a row, after which the run ends
_TIMEOUT: Final = 900.0  # seconds without a byte after which a call is sent again
_CONNECT: Final = 20.0  # seconds
_AGAIN: Final = "Start again to try once more: what is answered is kept."
_ENDS_RUN: Final = {
    401: "Set OPENAI_API_KEY to a key of this server.",
    403: "Check what the key is allowed to do, and the model's name.",
    404: "Check the model's name and the address (OPENAI_BASE_URL, usually ending in /v1).",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One chat request; ``rehearsal`` is the answer that an estimate takes the model to give."""

    model: str
    body: dict[str, Any]
    key: str
    prompt_tokens: int
    rehearsal: str = ""
    allow_empty: bool = False

    @property
    def max_tokens(self) -> int | None:
        return cast("int | None", self.body.get("max_tokens"))


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
        self.connection, self.store = connection or current_connection(), store
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

    def stop(self) -> None:
        """Begin no further call: those that wait end with `LLMCancelledError`, those under way may end."""
        self.gate.stop()

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
        body = chat_body(messages, {"model": model, **parameters})
        key = request_key("chat", body)
        async with self._locks[key]:  # equal questions wait for the first
            if record := self.answers.get([key]).get(key):
                self.budget.count(Spending(cached=1))
                return Answer.from_record(key, record)
            self.n_open += 1
            try:
                n_tokens = estimated_prompt_tokens(messages)
                answer = await self.transport(Call(model, body, key, n_tokens, rehearsal, allow_empty))
            except LLMError as error:
                self.budget.count(Spending(failed=0 if error.stops_run else 1))
                raise
            finally:
                self.n_open -= 1
            return replace(answer, key=key if self.store else "")

    async def _ask(self, call: Call) -> Answer:
        guess = self.budget.answer_tokens(call.max_tokens)
        async with self.gate.permit(call.prompt_tokens + guess):
            with self._counting_failures():
                answer = await self._answer(call)
                if is_empty(answer) and not call.allow_empty:
                    answer = await self._answer(call)
                    if is_empty(answer):
                        raise self.error(LLMAnswerError, "answers without any text", _AGAIN)
            await self.keep(call, answer)  # with its permit: a kill costs only the calls under way
            return answer

    async def _answer(self, call: Call) -> Answer:
        # Reserve only when the call may start.
        with self.budget.reserve(call.model, call.prompt_tokens, call.max_tokens) as settle:
            began = time.monotonic()
            document = await self._post("chat/completions", call.body, settle)
            answer = replace(self.read(document, call.body), seconds=time.monotonic() - began)
            settle(answer)
        return answer

    async def keep(self, call: Call, answer: Answer) -> None:
        """Commit an answer; it is in the store when this returns."""
        self.answers.add(call.key, call.model, self.connection.address, call.body, answer.record())
        await self.answers.commit()

    async def embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, of shape (number of texts, dimensions); those in the store are not asked for again."""
        import numpy as np

        keys = embedding_keys(model, texts)
        stored = self.answers.get(keys.values())
        self.budget.count(Spending(cached=len(stored)))
        if missing := [text for text, key in keys.items() if key not in stored]:
            for text, vector in zip(missing, await self._embed(model, missing), strict=True):
                packed = base64.b64encode(vector.tobytes()).decode("ascii")
                record, body = {"vector": packed}, {"model": model, "input": text}
                stored[keys[text]] = record
                self.answers.add(keys[text], model, self.connection.address, body, record)
            await self.answers.commit()
        records = [stored[keys[valid_text(text)]] for text in texts]
        vectors = [np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4") for record in records]
        if len(set(map(len, vectors))) > 1:
            problem = f"{model} gives vectors of different lengths"
            raise self.error(LLMAnswerError, problem, "Ask again with --fresh: the model may have changed.")
        return np.stack(vectors)

    async def _embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        n_tokens = sum(map(estimated_tokens, texts))
        body = {"model": model, "input": [text or " " for text in texts]}  # servers refuse an empty text
        async with self.gate.permit(n_tokens):
            with self._counting_failures(), self.budget.reserve(model, n_tokens, 0) as settle:
                document = await self._post("embeddings", body, settle)
                settle(Answer("", prompt_tokens=_usage(document, "prompt_tokens"), completion_tokens=0))
                with suppress(KeyError, TypeError, ValueError, AttributeError):
                    data = sorted(document["data"], key=lambda item: item.get("index", 0))
                    vectors = np.array([item["embedding"] for item in data], dtype="<f4")
                    if vectors.ndim == 2 and len(vectors) == len(texts) and np.isfinite(vectors).all():
                        return vectors
                problem = f"the reply does not hold {len(texts)} vectors of numbers"
                raise self.error(LLMAnswerError, problem, "Check that the model makes embeddings.")

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
                base_url=self.connection.base_url or DEFAULT_ADDRESS,
                max_retries=_RETRIES,
                timeout=openai.Timeout(_TIMEOUT, connect=_CONNECT),
            )
        return self._client

    async def _post(
        self, path: str, body: dict[str, Any], settle: Callable[[Answer | None], None]
    ) -> dict[str, Any]:
        """The JSON object of the server's reply, which is paid whatever it says; `LLMError` if there is none."""
        import httpx
        import openai

        response: httpx.Response | None = None
        while response is None:
            sent = self.accepted(body)
            retries = _RETRIES if self._has_answered else _RETRIES_AT_FIRST
            try:
                response = await self.client().post(
                    f"/{path}", body=sent, cast_to=httpx.Response, options={"max_retries": retries}
                )
            except openai.APIError as error:
                if not self.learns_from(getattr(error, "status_code", 0), error.body, sent):
                    failure = self.failure(error)
                    never_there = isinstance(error, openai.APIConnectionError) and not self._has_answered
                    failure.stops_run |= never_there
                    raise failure from error
        settle(None)
        try:
            document = json.loads(response.content)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict) and not document.get("error"):
            return document
        words = error_text(document["error"] if isinstance(document, dict) else None, response.text)
        raise self.error(LLMAnswerError, f"replies with no answer ({_first_line(words)})", _AGAIN)

    def read(self, document: dict[str, Any], body: dict[str, Any], batch: bool = False) -> Answer:
        """The answer in a chat completion to a request, without the key, were the server to echo it."""
        try:
            choice = document["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise self.error(LLMAnswerError, "replies without a choice", _AGAIN) from error

        def text(value: object) -> str:
            return self.connection.without_keys(valid_text(str(value or "")))

        refused = self._refused[body["model"]]
        return Answer(
            text=text(content),
            finish_reason=str(choice.get("finish_reason") or ""),
            refusal=text(message.get("refusal")) or None,
            prompt_tokens=_usage(document, "prompt_tokens"),
            completion_tokens=_usage(document, "completion_tokens"),
            reasoning=text(message.get("reasoning_content") or message.get("reasoning")),
            left_out=tuple(name for name in body if name in refused and name != "max_tokens"),
            model=text(document.get("model")),
            batch=batch,
        )

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
        problem = f"answers {status} ({_first_line(message)})"
        if status in _ENDS_RUN:
            return self.error(LLMRejectedError, problem, _ENDS_RUN[status], True)
        if status >= 500 or status in (408, 409, 429):
            return self.error(LLMUnreachableError, problem, f"Check the server. {_AGAIN}")
        remedy = "See what the server says; a prompt that is too long can be asked by sections."
        return self.error(LLMRejectedError, problem, remedy)

    def error(self, kind: type[LLMError], problem: str, remedy: str, stops_run: bool = False) -> LLMError:
        """An error of this server with all keys struck out."""
        problem = self.connection.without_keys(problem, is_error=True).rstrip(".")
        return kind(self.connection.address, problem, remedy, stops_run)

    @contextmanager
    def _counting_failures(self) -> Iterator[None]:
        """Where a call fails within it as the last ten have, its error ends the run.

        A prompt that is refused counts only as long as nothing was answered: the next paper may be shorter.
        """
        try:
            yield
        except LLMError as error:
            if not (isinstance(error, LLMRejectedError) and self._has_answered):
                self._n_failures += 1
                error.stops_run |= self._n_failures >= _FAILURES
            raise
        self._has_answered, self._n_failures = True, 0


def error_text(body: object, message: str) -> str:
    """The server's words in the body of an error, else the package's."""
    words = body.get("message") if isinstance(body, dict) else None
    return words if isinstance(words, str) else message


def _first_line(text: str) -> str:
    """The line of a server's reply that is shown: an address may be of any page, so never the whole body."""
    return clipped_text(next(iter(text.strip().splitlines()), "empty"), 200)


def is_empty(answer: Answer) -> bool:
    """Whether there is neither a text nor a reason why there is none."""
    return not (answer.text.strip() or answer.refusal or answer.finish_reason in ("length", "content_filter"))


def _usage(document: dict[str, Any], name: str) -> int | None:
    usage = document.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) else None


def embedding_keys(model: str, texts: Iterable[str]) -> dict[str, str]:
    """The key of each text's vector."""
    valid = map(valid_text, texts)
    return {text: request_key("embedding", {"model": model, "input": text}) for text in valid}


async def gather(*calls: Awaitable[Any]) -> list[Any]:
    """Results of calls made side by side; where one fails the others are answered and kept all the same."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:  # one that ends the run first: the others are probably consequences
        raise min(errors, key=lambda error: not getattr(error, "stops_run", True))
    return results
