"""Calls over HTTP by the openai package; a server's replies are not trusted until they have been read."""

import asyncio
import base64
import json
import logging
import math
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

import httpx2
import numpy as np
import openai

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import Answer, Call, valid_text
from evidencebench_core.llm.client import ServerBusyError, Transport, UnknownParameterError
from evidencebench_core.llm.connection import AGAIN, Connection

_MOST_BYTES: Final = 64 << 20  # of a reply
_SILENCE_AT_FIRST: Final = 60.0  # seconds; then a server that has never answered is asked for its models
_PRESENCE: Final = 15.0  # seconds that it may take to list its models
_SILENCE: Final = 600.0  # seconds after which a call is given up
_RETRIES, _RETRIES_AT_FIRST = 40, 4  # of temporary failures, 8 s apart at most: about five minutes
_REFUSED: Final = "Check the key, the model's name, and the address (usually ending in /v1)."
_UNKNOWN: Final = re.compile(
    r"(?i)unknown|unrecognized|unexpected|not (permitted|supported)|unsupported.parameter|does not support"
)

for package in ("httpx", "httpx2"):  # they log addresses with their secrets
    logging.getLogger(package).setLevel(logging.WARNING)


class _BoundedClient(openai.DefaultAsyncHttpxClient):
    """Reads at most 64 MiB of a reply, and does not retry where the server is busy: `Turns` does."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        reply = await super().send(request, stream=True, **options)
        content = bytearray()
        try:
            async for part in reply.aiter_bytes():
                content += part
                if len(content) > _MOST_BYTES and not request.url.path.endswith("/content"):  # of a batch
                    raise LLMAnswerError(str(request.url.host), "replies with more than 64 MiB", AGAIN)
        finally:
            await reply.aclose()
        headers = {name: value for name, value in reply.headers.items() if name != "content-encoding"}
        if _pause(reply.status_code, headers) is not None:
            headers["x-should-retry"] = "false"
        return httpx2.Response(reply.status_code, headers=headers, content=bytes(content), request=request)


class HTTP(Transport):
    """Single calls; the openai package retries temporary failures."""

    def __init__(self, connection: Connection, wire: httpx2.AsyncBaseTransport | None = None) -> None:
        self.connection, self._wire = connection, wire
        self._client: openai.AsyncOpenAI | None = None
        self._has_answered = False

    def client(self) -> openai.AsyncOpenAI:
        """The openai package's client of this server, for one event loop."""
        if self._client is None:
            self.connection.check()
            self._client = openai.AsyncOpenAI(
                api_key=self.connection.api_key or "none",
                base_url=self.connection.base_url,
                timeout=openai.Timeout(_SILENCE, connect=20.0),
                http_client=_BoundedClient(follow_redirects=False, transport=self._wire),
            )
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def send(self, call: Call, body: dict[str, Any]) -> Answer:
        began, client, path = time.monotonic(), self.client(), f"/{call.path}"
        options: Any = {"max_retries": _RETRIES if self._has_answered else _RETRIES_AT_FIRST}
        reply = client.post(path, body=body, cast_to=httpx2.Response, options=options)
        post = asyncio.ensure_future(reply)
        try:
            if not self._has_answered:
                await asyncio.wait((post,), timeout=_SILENCE_AT_FIRST)
                if not (post.done() or self._has_answered):
                    await self.models()  # raises if the server does not respond
            async with asyncio.timeout(_SILENCE):
                content = (await post).content
        except TimeoutError:
            problem = f"has not answered a call for {_SILENCE / 60:.0f} minutes"
            raise self.connection.error(LLMUnreachableError, problem, stops_run=True) from None
        except openai.APIError as error:
            self._has_answered |= isinstance(error, openai.APIStatusError)
            raise self.meaning(error, call.parameters) from error
        finally:
            post.cancel()
        self._has_answered = True
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        is_chat = call.path != "embeddings"
        answer = self.completion(document) if is_chat else self.vectors(document, len(body["input"]))
        return replace(answer, seconds=time.monotonic() - began)

    async def models(self) -> set[str]:
        """The models that the server lists; none where it has no list. `LLMError` if it cannot be asked."""
        client = self.client().with_options(max_retries=0, timeout=_PRESENCE)
        try:
            names = {self.connection.without_keys(model.id) async for model in client.models.list()}
        except openai.APIError as error:
            if getattr(error, "status_code", 0) not in (404, 405):
                raise self.meaning(error) from error
            names = set()
        except (AttributeError, TypeError, ValueError):  # some other page
            names = set()
        self._has_answered = True
        return names

    def completion(self, document: Any) -> Answer:
        """The answer in a chat completion, with the key struck out; else `LLMAnswerError`."""
        try:
            choice = document["choices"][0]
            message = choice["message"]
            content = message.get("content")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            words = document.get("error") if isinstance(document, dict) else "no JSON"
            problem = f"replies with no answer: {_error_text(words, 'no choice in it')}"
            raise self.connection.error(LLMAnswerError, problem) from error
        if isinstance(content, list):  # some servers send a text in parts
            content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
        return Answer(
            text=self._clean_text(content),
            finish_reason=self._clean_text(choice.get("finish_reason"))[:40],
            refusal=self._clean_text(message.get("refusal")) or None,
            prompt_tokens=_count(document, "prompt_tokens"),
            completion_tokens=_count(document, "completion_tokens"),
            reasoning=self._clean_text(message.get("reasoning_content") or message.get("reasoning")),
            model=self._clean_text(document.get("model")),
        )

    def vectors(self, document: Any, n: int) -> Answer:
        """The ``n`` vectors in a reply, as an answer whose text is their bytes; else `LLMAnswerError`."""
        try:
            data = sorted(document["data"], key=lambda item: item["index"])
            vectors = np.array(
                [item["embedding"] for _, item in zip(range(n), data, strict=True)], dtype="<f4"
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self.connection.error(LLMAnswerError, "replies with no vector for each text") from error
        text = base64.b64encode(vectors.tobytes()).decode("ascii")
        return Answer(text, prompt_tokens=_count(document, "prompt_tokens"), completion_tokens=0)

    def _clean_text(self, value: object) -> str:
        return self.connection.without_keys(valid_text(str(value or "")))

    def meaning(self, error: openai.APIError, parameters: Collection[str] = ()) -> LLMError:
        """Our error for one of the openai package."""
        if isinstance(error, openai.APIStatusError):
            pause = _pause(error.status_code, error.response.headers)
            return self.failure(error.status_code, error.body, error.message, parameters, pause)
        is_late = isinstance(error, openai.APITimeoutError)
        problem = "has not answered in time" if is_late else f"cannot be reached: {error.__cause__ or error}"
        return self.connection.error(LLMUnreachableError, problem, stops_run=True)

    def failure(
        self,
        status: int,
        reason: object,
        default: str,
        parameters: Collection[str] = (),
        pause: float | None = None,  # of a `_pause`
    ) -> LLMError:
        """Our error for a status: it is temporary, ends the run, or fails this call alone."""
        words, details = _error_text(reason, default), reason if isinstance(reason, dict) else {}
        code, error, problem = details.get("code"), self.connection.error, f"answers {status}: {words}"
        if status in (401, 403, 404):
            return error(LLMRejectedError, problem, _REFUSED, True)
        if status >= 500 or status in (408, 409, 429):
            is_hopeless = (pause or 0) > _SILENCE or code == "insufficient_quota"  # not worth waiting for
            if is_hopeless or pause is None:
                return error(LLMUnreachableError, problem, stops_run=is_hopeless)
            busy = error(ServerBusyError, problem)
            busy.pause = pause
            return busy
        is_unknown = _UNKNOWN.search(f"{code} {words}")
        named = [name for name in parameters if is_unknown and re.search(rf"\b{re.escape(name)}\b", words)]
        name = str(details.get("param") or "".join(named[:1]))
        if name not in parameters and name != "max_completion_tokens":
            return error(LLMRejectedError, problem, "A prompt that is too long can be asked by sections.")
        remedy = f"Give another {name}, or none."
        if not is_unknown:
            return error(LLMRejectedError, problem, remedy, True)
        unknown = error(UnknownParameterError, problem, remedy, True)
        unknown.parameter = name
        return unknown


def _pause(status: int, headers: Mapping[str, str]) -> float | None:
    """The seconds that a busy server asks us to wait, NaN if it gives none, or a date; ``None`` for another status."""
    text = headers.get("retry-after", "")
    seconds = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else math.nan
    return seconds if status == 429 or (status == 503 and seconds >= 0) else None


def _error_text(error: object, default: str) -> str:
    """The message in the body of an error, if there is one."""
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else default


def _count(document: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens in a reply's usage, if it can be one."""
    usage = document.get("usage")
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if type(number) is int and 0 <= number < 10**9 else None
