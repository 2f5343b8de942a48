"""How calls reach a model and what comes back: HTTP by the openai package, a rehearsal; a batch is another one."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import math
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import Answer, valid_text
from evidencebench_core.llm.connection import Connection
from evidencebench_core.words import clipped_text

if TYPE_CHECKING:
    import httpx2
    import openai

AGAIN: Final = "Start again to try once more: what is answered is kept."
_CHECK: Final = f"Check the server. {AGAIN}"
_MOST_BYTES: Final = 64 << 20  # of a reply
_SILENCE_AT_FIRST: Final = 60.0  # seconds after which a server that never answered is asked for its models
_PRESENCE: Final = 15.0  # that it may take to list its models
_SILENCE: Final = 600.0  # after which a call is given up
_RETRIES, _RETRIES_AT_FIRST = 40, 4  # of what may pass: of 8 s at most, so some five minutes
_ENDS_RUN: Final = {
    401: "Set OPENAI_API_KEY to a key of this server.",
    403: "Check what the key is allowed to do, and the model's name.",
    404: "Check the model's name and the address (OPENAI_BASE_URL, usually ending in /v1).",
}
_UNKNOWN: Final = re.compile(
    r"(?i)unknown|unrecognized|unexpected|not (permitted|supported)|unsupported.parameter|does not support"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One request; ``rehearsal`` is the answer that an estimate takes the model to give."""

    model: str
    body: dict[str, Any]
    key: str
    prompt_tokens: int  # by our estimate
    most_prompt_tokens: int  # one for each byte
    prompt: str = ""  # its name and version
    rehearsal: str = ""
    allow_empty: bool = False
    path: str = "chat/completions"

    @property
    def max_tokens(self) -> int | None:
        """Of the answer; ``None``: as many as the server allows."""
        return 0 if self.path == "embeddings" else self.body.get("max_tokens")

    @property
    def parameters(self) -> dict[str, Any]:
        """The fields of the request that it could do without."""
        fixed = ("model", "messages", "input")
        return {name: value for name, value in self.body.items() if name not in fixed}


@dataclass
class TryAgainError(Exception):
    """The server is busy, or does not know a parameter; ``error`` is the meaning where that does not pass."""

    error: LLMError
    parameter: str = ""  # that the server does not know
    pause: float = math.nan  # seconds that a busy server names


class Transport:
    """One way to reach a model; another protocol would be another class."""

    is_paid = True  # whether calls are reserved and answers kept
    is_batch = False  # whether answers come hours later, at the price of a batch

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        """The answer to a body of a call; `TryAgainError` where another try may have one, else an `LLMError`."""
        raise NotImplementedError

    async def close(self) -> None:
        """Give up what is open."""


class Rehearsal(Transport):
    """Answers calls as they are expected to be, and remembers them."""

    is_paid = False

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        self.n_asked = 0

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        self.calls[call.key] = call
        self.n_asked += 1
        return Answer(call.rehearsal)


class HTTP(Transport):
    """Calls one by one, by the openai package, which tries again what may pass."""

    def __init__(self, connection: Connection, wire: httpx2.AsyncBaseTransport | None = None) -> None:
        self.connection, self._wire = connection, wire
        self._client: openai.AsyncOpenAI | None = None
        self._has_answered = False

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
                timeout=openai.Timeout(_SILENCE, connect=20.0),
                http_client=_bounded_client(self.connection, self._wire),
            )
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        began = time.monotonic()
        post = asyncio.ensure_future(self._post(call, body))
        try:
            if not self._has_answered:
                await asyncio.wait((post,), timeout=_SILENCE_AT_FIRST)
                if not (post.done() or self._has_answered):
                    await self.models()  # which raises where nobody is there
            async with asyncio.timeout(_SILENCE):
                content = await post
        except TimeoutError:
            problem = f"has not answered a call for {_SILENCE / 60:.0f} minutes"
            raise server_error(self.connection, LLMUnreachableError, problem, AGAIN, True) from None
        finally:
            post.cancel()
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if call.path == "embeddings":
            answer = _read_vectors(document, body["input"], self.connection)
        else:
            answer = read_completion(document, self.connection)
        return replace(answer, seconds=time.monotonic() - began)

    async def _post(self, call: Call, body: dict[str, Any]) -> bytes:
        """The content of the server's reply."""
        import httpx
        import openai

        options: Any = {"max_retries": _RETRIES if self._has_answered else _RETRIES_AT_FIRST}
        try:
            reply = await self.client().post(
                f"/{call.path}", body=body, cast_to=httpx.Response, options=options
            )
        except openai.APIError as error:
            self._has_answered |= isinstance(error, openai.APIStatusError)
            raise openai_failure(self.connection, error, call.parameters) from error
        self._has_answered = True
        return reply.content

    async def models(self) -> set[str]:
        """The models that the server lists; none where it has no list. `LLMError` if it cannot be asked."""
        import openai

        client = self.client().with_options(max_retries=0, timeout=_PRESENCE)
        try:
            names = {self.connection.without_keys(model.id) async for model in client.models.list()}
        except openai.APIError as error:
            if getattr(error, "status_code", 0) not in (404, 405):
                meaning = openai_failure(self.connection, error)
                raise getattr(meaning, "error", meaning) from error
            names = set()
        except (AttributeError, TypeError, ValueError):  # some other page
            names = set()
        self._has_answered = True
        return names


def _bounded_client(connection: Connection, wire: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """A client that follows no redirect, reads no reply beyond 64 MiB, and leaves it to us when a server is busy."""
    import httpx2
    import openai

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **options: Any
        ) -> httpx2.Response:
            reply = await super().send(request, stream=True, **options)
            content = bytearray()
            try:
                async for part in reply.aiter_bytes():
                    content += part
                    if len(content) > _MOST_BYTES and not request.url.path.endswith("/content"):  # of a batch
                        raise server_error(connection, LLMAnswerError, "replies with more than 64 MiB")
            finally:
                await reply.aclose()
            headers = {name: value for name, value in reply.headers.items() if name != "content-encoding"}
            if reply.status_code == 429 or (reply.status_code == 503 and _pause(headers) >= 0):
                headers["x-should-retry"] = "false"
            return httpx2.Response(
                reply.status_code, headers=headers, content=bytes(content), request=request
            )

    return Bounded(follow_redirects=False, transport=wire)


# -- replies ------------------------------------------------------------------------------------------


def read_completion(document: Any, connection: Connection) -> Answer:
    """The answer in a chat completion, without the key, were the server to echo it; else `LLMAnswerError`."""
    try:
        choice = document["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        words = (
            error_text(document.get("error"), "no choice in it") if isinstance(document, dict) else "no JSON"
        )
        raise server_error(connection, LLMAnswerError, f"replies with no answer: {words}") from error
    if isinstance(content, list):  # parts, of which some servers make a text
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))

    def text(value: object) -> str:
        return connection.without_keys(valid_text(str(value or "")))

    return Answer(
        text=text(content),
        finish_reason=text(choice.get("finish_reason"))[:40],
        refusal=text(refusal) or None,
        prompt_tokens=_count(document, "prompt_tokens"),
        completion_tokens=_count(document, "completion_tokens"),
        reasoning=text(reasoning),
        model=text(document.get("model")),
    )


def _read_vectors(document: Any, texts: Sequence[str], connection: Connection) -> Answer:
    """The vectors in a reply, as an answer whose text is their bytes; else `LLMAnswerError`."""
    import numpy as np

    try:
        data = sorted(document["data"], key=lambda item: item["index"])
        vectors = np.array([item["embedding"] for _, item in zip(texts, data, strict=True)], dtype="<f4")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise server_error(connection, LLMAnswerError, "replies with no vector for each text") from error
    text = base64.b64encode(vectors.tobytes()).decode("ascii")
    return Answer(text, prompt_tokens=_count(document, "prompt_tokens"), completion_tokens=0)


def _count(document: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens that can be one, in a reply's usage."""
    usage = document.get("usage")
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if type(number) is int and 0 <= number < 10**9 else None


# -- failures -----------------------------------------------------------------------------------------


def openai_failure(
    connection: Connection, error: openai.APIError, parameters: Collection[str] = ()
) -> LLMError | TryAgainError:
    """The meaning of an error of the openai package."""
    import openai

    if isinstance(error, openai.APIStatusError):
        pause = _pause(error.response.headers)
        return failure(connection, error.status_code, error.body, error.message, parameters, pause)
    reason = str(error.__cause__ or error) or type(error.__cause__).__name__
    if isinstance(error, openai.APITimeoutError):
        reason = "has not answered in time"
    return server_error(connection, LLMUnreachableError, reason, _CHECK, True)


def _pause(headers: Mapping[str, str]) -> float:
    """The seconds that a server names; NaN where it names none, or a date."""
    text = headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else math.nan


def failure(
    connection: Connection,
    status: int,
    reason: object,
    default: str,
    parameters: Collection[str] = (),
    pause: float = math.nan,  # seconds that the server names
) -> LLMError | TryAgainError:
    """The meaning of a status: to try again, an error that ends the run, or one of this call alone."""
    words, details = error_text(reason, default), reason if isinstance(reason, dict) else {}
    problem = f"answers {status}: {words}"
    if status in _ENDS_RUN:
        return server_error(connection, LLMRejectedError, problem, _ENDS_RUN[status], True)
    if status >= 500 or status in (408, 409, 429):
        ends_run = pause > _SILENCE or details.get("code") == "insufficient_quota"  # nobody waits for these
        error = server_error(connection, LLMUnreachableError, problem, _CHECK, ends_run)
        is_busy = status == 429 or (status == 503 and pause >= 0)
        return TryAgainError(error, pause=pause) if is_busy and not ends_run else error
    is_unknown = _UNKNOWN.search(f"{details.get('code')} {words}")
    named = [name for name in parameters if re.search(rf"\b{re.escape(name)}\b", words)] if is_unknown else []
    name = details.get("param") or "".join(named[:1])
    if name not in parameters and name != "max_completion_tokens":
        remedy = "See what the server says; a prompt that is too long can be asked by sections."
        return server_error(connection, LLMRejectedError, problem, remedy)
    error = server_error(connection, LLMRejectedError, problem, f"Give another {name}, or none.", True)
    return TryAgainError(error, name) if is_unknown else error


def server_error(
    connection: Connection, kind: type[LLMError], problem: str, remedy: str = AGAIN, stops_run: bool = False
) -> LLMError:
    """An error of a server; of its words, which may be any page, one line without keys."""
    line = (connection.without_keys(problem).splitlines() or [""])[0]
    return kind(connection.address, clipped_text(line, 200).rstrip("."), remedy, stops_run)


def error_text(error: object, default: str) -> str:
    """The server's words in the body of an error, if it has any."""
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else default
