"""A model server: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import base64
import itertools
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from evidencebench_core.errors import (
    LLMAnswerError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
    SettingError,
)
from evidencebench_core.llm.answers import AnswerStore, Record, answer_record, stored_answer
from evidencebench_core.llm.budget import Budget
from evidencebench_core.llm.connection import DEFAULT_ADDRESS, Connection, current_connection
from evidencebench_core.llm.limits import Gate, Limits
from evidencebench_core.llm.request import (
    Answer,
    Message,
    chat_body,
    estimated_prompt_tokens,
    estimated_tokens,
    from_json,
    request_key,
)
from evidencebench_core.words import clipped_text

if TYPE_CHECKING:
    import numpy as np
    import openai
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

_RETRIES: Final = 40  # of 8 s at most, so some five minutes
_RETRIES_AT_FIRST: Final = 4  # of a server that has not answered yet
_FAILURES: Final = 10  # in a row, after which the run ends
_CLIENTS: Final = 4  # one with many connections looks at all of them for every call
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
    max_tokens: int | None
    step: str = ""
    rehearsal: str = ""
    allow_empty: bool = False


class LLM:
    """A server with language models; asked within ``async with``, by one event loop at a time.

    Answers are looked up and committed in ``store``; without one they are not kept. With ``fresh`` the server is asked
    even where the store has an answer.
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
        self._gate: Gate | None = None
        self._answers: AnswerStore | None = None
        self._clients: list[openai.AsyncOpenAI] = []
        self._refused: dict[str, set[str]] = defaultdict(set)  # parameters that the server refuses, by model
        self._has_answered, self._failures = False, 0
        self._reset()

    def _reset(self) -> None:
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._asked: set[str] = set()  # keys of answers that are not older than this
        self._numbers = itertools.count()

    async def __aenter__(self) -> LLM:
        self._reset()
        self._gate = Gate(self.limits)
        self._answers = None if self.store is None else AnswerStore(self.store)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._answers is not None:
            await self._answers.put(())
        clients, self._clients = self._clients, []
        for client in clients:
            await client.close()

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people; ``""`` if they do not. From any thread."""
        return self._gate.note if self._gate else ""

    def stop(self) -> None:
        """Begin no further call: those that wait end with `LLMCancelledError`, those under way may end."""
        if self._gate is not None:
            self._gate.stop()

    # -- questions ---------------------------------------------------------------------------------

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        model: str,
        step: str = "",
        rehearsal: str = "",
        allow_empty: bool = False,
        **parameters: Any,
    ) -> Answer:
        """The answer to a conversation: from the store, else from the server, and then committed.

        ``step`` says for people what the call is for, ``rehearsal`` is the answer that an estimate takes the model to
        give, ``parameters`` are further fields of the request (``None``: not sent). An answer without text is asked
        for once more unless ``allow_empty``.

        Raises
        ------
        LLMError
            With ``stops_run`` every further call would fail the same way.
        """
        body = chat_body(messages, {"model": model, **parameters})
        n_tokens = estimated_prompt_tokens(messages)
        call = Call(
            model,
            body,
            request_key("chat", body),
            n_tokens,
            body.get("max_tokens"),
            step,
            rehearsal,
            allow_empty,
        )
        async with self._locks[call.key]:  # equal questions wait for the first
            record = self.stored([call.key]).get(call.key)
            if record is not None:
                self.budget.count(cached=1)
                return stored_answer(call.key, record)
            self.n_open += 1
            try:
                answer = await self.transport(call)
            except LLMError as error:
                if not error.stops_run:
                    self.budget.count(failed=1)
                raise
            finally:
                self.n_open -= 1
            return replace(answer, key=call.key if self.store else "")

    async def embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, of shape (number of texts, dimensions); those in the store are not asked for again."""
        import numpy as np

        keys = {text: request_key("embedding", {"model": model, "input": text}) for text in texts}
        stored = self.stored(keys.values())
        vectors = {text: _vector(stored[key]) for text, key in keys.items() if key in stored}
        self.budget.count(cached=len(vectors))
        if missing := self.texts_to_embed(model, texts):
            n_tokens = sum(map(estimated_tokens, missing))
            async with self._gate_open().permit(n_tokens):
                with self.budget.reserve(model, n_tokens, 0) as spending:
                    # servers refuse an empty text
                    body = {"model": model, "input": [text or " " for text in missing]}
                    document, _ = await self._post("embeddings", body)
                    new = _vectors(document, len(missing))
                    spending.settle(_usage(document, "prompt_tokens"), 0, 0, 0.0)
                vectors |= dict(zip(missing, new, strict=True))
                await self._commit([self._record(keys[text], model, text, vectors[text]) for text in missing])
        if len({len(vector) for vector in vectors.values()}) > 1:
            problem = f"{model} gives vectors of different lengths"
            raise self.error(LLMAnswerError, problem, "Ask again with --fresh: the model may have changed.")
        return np.stack([vectors[text] for text in texts])

    def texts_to_embed(self, model: str, texts: Sequence[str]) -> list[str]:
        """Those of the texts, each once, whose vectors are not in the store."""
        keys = {text: request_key("embedding", {"model": model, "input": text}) for text in texts}
        stored = self.stored(keys.values())
        return [text for text, key in keys.items() if key not in stored]

    async def keep(self, call: Call, answer: Answer) -> None:
        """Commit an answer; it is in the store when this returns."""
        self._asked.add(call.key)
        address = self.connection.address
        await self._commit([Record(call.key, call.model, address, call.body, answer_record(answer))])

    def _record(self, key: str, model: str, text: str, vector: NDArray[np.float32]) -> Record:
        self._asked.add(key)
        packed = base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
        body = {"model": model, "input": text}
        return Record(key, model, self.connection.address, body, {"vector": packed})

    def stored(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The records of answers in the store, by key; with ``fresh`` those that were asked for since."""
        if self._answers is None:
            return {}
        return self._answers.get(key for key in keys if not self.fresh or key in self._asked)

    async def _commit(self, records: Sequence[Record]) -> None:
        if self._answers is not None:
            await self._answers.put(records)

    # -- the server --------------------------------------------------------------------------------

    async def _ask(self, call: Call) -> Answer:
        guess = self.budget.answer_tokens(call.max_tokens)
        async with self._gate_open().permit(call.prompt_tokens + guess) as permit:
            for is_last in (False, True):
                # Only now, as the call may start: what waits takes nothing from a cap.
                with self.budget.reserve(call.model, call.prompt_tokens, call.max_tokens) as spending:
                    began = asyncio.get_running_loop().time()
                    document, left_out = await self._post("chat/completions", call.body)
                    seconds = asyncio.get_running_loop().time() - began
                    answer = self.read(document, left_out, seconds)
                    n_text = estimated_tokens(answer.text + answer.reasoning)
                    spending.settle(answer.prompt_tokens, answer.completion_tokens, n_text, seconds)
                    permit.tokens = spending.tokens
                if call.allow_empty or not is_empty(answer):
                    await self.keep(call, answer)  # with its permit: a kill costs only the calls under way
                    return answer
                if is_last:
                    raise self.error(LLMAnswerError, "answers without any text", _AGAIN)
        raise AssertionError

    async def _post(self, path: str, body: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The server's reply, and the parameters that it refused and were left out; `LLMError` if there is none."""
        import httpx
        import openai

        while True:
            sent, left_out = self.accepted(body)
            retries = _RETRIES if self._has_answered else _RETRIES_AT_FIRST
            try:
                response = await self.client().post(
                    f"/{path}", body=sent, cast_to=httpx.Response, options={"max_retries": retries}
                )
            except openai.APIStatusError as error:
                if not self.learns_from(error.status_code, error.body, sent):
                    raise self._failure(
                        self.refusal(error.status_code, error_text(error.body, error.message))
                    ) from error
            except openai.APIConnectionError as error:
                stops = not self._has_answered
                reason = str(error.__cause__ or error) or type(error.__cause__).__name__
                unreachable = self.error(LLMUnreachableError, reason, f"Check the server. {_AGAIN}", stops)
                raise self._failure(unreachable) from error
            else:
                self._has_answered, self._failures = True, 0
                self._gate_open().learn(response.headers)
                return self.document(response.content), left_out

    def client(self) -> openai.AsyncOpenAI:
        """The openai package's client, one of a few in turn."""
        import openai

        if not self._clients:
            logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses with their secrets
            check_connection(self.connection)
            timeout = openai.Timeout(self.limits.timeout, connect=min(_CONNECT, self.limits.timeout))
            for _ in range(_CLIENTS):
                client = openai.AsyncOpenAI(
                    api_key=self.connection.api_key or "none",
                    base_url=self.connection.base_url or DEFAULT_ADDRESS,
                    max_retries=_RETRIES,
                    timeout=timeout,
                )
                self._clients.append(client)
        return self._clients[next(self._numbers) % _CLIENTS]

    def _gate_open(self) -> Gate:
        if self._gate is None:
            raise RuntimeError("an LLM is asked within 'async with'")
        return self._gate

    # -- replies -----------------------------------------------------------------------------------

    def document(self, content: bytes) -> dict[str, Any]:
        """The JSON object of a reply."""
        try:
            document = from_json(content)
        except ValueError:
            document = None
        if not isinstance(document, dict) or document.get("error"):
            text = content[:2_000].decode("utf-8", "replace")
            words = first_line(
                error_text(document.get("error"), text) if isinstance(document, dict) else text
            )
            raise self.error(LLMAnswerError, f"replies with no answer ({words})", _AGAIN)
        return document

    def read(
        self,
        document: dict[str, Any],
        left_out: tuple[str, ...] = (),
        seconds: float = 0.0,
        batch: bool = False,
    ) -> Answer:
        """The answer in a chat completion, without the key, were the server to echo it."""
        try:
            choice = document["choices"][0]
            message = choice["message"]
            content = message.get("content") or ""
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise self.error(LLMAnswerError, "replies without a choice", _AGAIN) from error
        if isinstance(content, list):  # parts
            content = "".join(str(part.get("text") or "") for part in content)
        struck = self.connection.without_keys
        return Answer(
            text=struck(str(content)),
            finish_reason=str(choice.get("finish_reason") or ""),
            refusal=struck(str(message["refusal"])) if message.get("refusal") else None,
            prompt_tokens=_usage(document, "prompt_tokens"),
            completion_tokens=_usage(document, "completion_tokens"),
            seconds=seconds,
            reasoning=struck(str(message.get("reasoning_content") or message.get("reasoning") or "")),
            left_out=left_out,
            model=struck(str(document.get("model") or "")),
            batch=batch,
        )

    def accepted(self, body: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A body without what the server refuses, or under its other name; the parameters that are left out."""
        refused = self._refused[body["model"]]
        sent = {name: value for name, value in body.items() if name not in refused}
        if "max_tokens" in refused and "max_tokens" in body:
            sent["max_completion_tokens"] = body["max_tokens"]
        return sent, tuple(name for name in body if name in refused and name != "max_tokens")

    def learns_from(self, status: int, error: object, sent: dict[str, Any]) -> bool:
        """Whether a refusal is of one parameter, such as the temperature, that can be left out."""
        name = error.get("param") if isinstance(error, dict) else None
        if status != 400 or name not in sent or name in ("model", "messages", "input"):
            return False
        self._refused[sent["model"]].add(name)
        return True

    def refusal(self, status: int, message: str) -> LLMError:
        """The error of a status: one that ends the run, or of this call alone."""
        problem = f"answers {status} ({first_line(message)})"
        if status in _ENDS_RUN:
            return self.error(LLMRejectedError, problem, _ENDS_RUN[status], True)
        if status >= 500 or status in (408, 409, 429):
            return self.error(LLMUnreachableError, problem, f"Check the server. {_AGAIN}")
        remedy = "See what the server says; a prompt that is too long can be asked by sections."
        return self.error(LLMRejectedError, problem, remedy)

    def _failure(self, error: LLMError) -> LLMError:
        """The error, which ends the run where the last ten calls have failed.

        A prompt that is refused counts only as long as nothing was answered: the next paper may be shorter.
        """
        if isinstance(error, LLMRejectedError) and self._has_answered:
            return error
        self._failures += 1
        error.stops_run |= self._failures >= _FAILURES
        return error

    def error(self, kind: type[LLMError], problem: str, remedy: str, stops_run: bool = False) -> LLMError:
        """An error of this server with all keys struck out."""
        scrubbed = self.connection.scrubbed
        return kind(self.connection.address, scrubbed(problem).rstrip("."), scrubbed(remedy), stops_run)


def error_text(body: object, message: str) -> str:
    """The server's words in the body of an error, else the package's."""
    words = body.get("message") if isinstance(body, dict) else None
    return words if isinstance(words, str) else message


def first_line(text: str) -> str:
    """What is shown of a server's words: the address may be any, and the rest of its page nobody's business."""
    return clipped_text(next(iter(text.strip().splitlines()), "empty"), 200)


def is_empty(answer: Answer) -> bool:
    """Whether there is neither a text nor a reason why there is none."""
    return not (answer.text.strip() or answer.refusal or answer.finish_reason in ("length", "content_filter"))


def check_connection(connection: Connection) -> None:
    """Raise `SettingError` if the address or the key cannot be used."""
    url, key = connection.base_url, connection.api_key or ""
    if url is None and not key:
        remedy = "Set OPENAI_API_KEY, and OPENAI_BASE_URL for a server of your own."
        raise SettingError("model server", "no key is set", remedy)
    with suppress(ValueError):
        parts = urlsplit(url or DEFAULT_ADDRESS)
        if parts.scheme in ("http", "https") and parts.hostname and key.isascii() and key.isprintable():
            return
    remedy = "Set OPENAI_BASE_URL to an address such as http://localhost:8000/v1, and OPENAI_API_KEY."
    raise SettingError("model server", "its address or key cannot be used", remedy)


def _usage(document: dict[str, Any], name: str) -> int | None:
    usage = document.get("usage")
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) else None


def _vector(record: dict[str, Any]) -> NDArray[np.float32]:
    import numpy as np

    return np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")


def _vectors(document: dict[str, Any], n_texts: int) -> NDArray[np.float32]:
    """The vectors of a reply in the order of the texts."""
    import numpy as np

    try:
        data = sorted(document["data"], key=lambda item: item.get("index", 0))
        vectors = np.array([item["embedding"] for item in data], dtype=np.float32)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LLMAnswerError("embeddings", "the reply holds no vectors", "Check the model.") from error
    if vectors.ndim != 2 or len(vectors) != n_texts or not np.isfinite(vectors).all():
        problem = f"the reply does not hold {n_texts} vectors of numbers"
        raise LLMAnswerError("embeddings", problem, "Check that the model makes embeddings.")
    return vectors


async def gather(*calls: Awaitable[Any]) -> list[Any]:
    """Results of calls made side by side; where one fails the others are answered and kept all the same."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    errors = [result for result in results if isinstance(result, BaseException)]
    if errors:  # one that ends the run first: the others are probably consequences
        raise min(errors, key=lambda error: not getattr(error, "stops_run", True))
    return results


# -- trying a server out ---------------------------------------------------------------------------


async def models(llm: LLM) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list."""
    import httpx
    import openai

    async with llm:
        try:
            response = await llm.client().get(
                "/models", cast_to=httpx.Response, options={"max_retries": 1, "timeout": _CONNECT}
            )
        except openai.APIStatusError as error:
            if error.status_code in (404, 405):
                return ()
            raise llm.refusal(error.status_code, error_text(error.body, error.message)) from error
        except openai.APIConnectionError as error:
            reason = str(error.__cause__ or error)
            raise llm.error(LLMUnreachableError, reason, "Check the server.") from error
        try:
            document = from_json(response.content)
            listed = document.get("data") or document.get("models") or []
            names = {str(item.get("id") or item.get("name")) for item in listed}
        except (ValueError, AttributeError, TypeError):
            return ()
        return tuple(sorted(map(llm.connection.without_keys, names)))


async def one_word(llm: LLM, model: str) -> Answer:
    """The answer to a question for one word, to see whether the server has the model."""
    messages = (Message("user", "Answer with the one word: ready"),)
    return await llm.chat(messages, model=model, temperature=0.0, max_tokens=16, allow_empty=True)


def has_model(listed: Sequence[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)
