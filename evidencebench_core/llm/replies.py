"""Replies of servers -> answers. Pure: bytes in, answers or reasons out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Final

from evidencebench_core.llm.request import Answer


class Unusable(Exception):  # noqa: N818 - never leaves this package
    """A whole reply that is no answer."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as a server reports it."""

    message: str
    code: str = ""
    param: str = ""
    status: int | None = None


def answer_of(body: bytes) -> Answer | Failure:
    """The answer in a whole reply, or the failure that a server reports under status 200."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"it is not whole JSON ({_start_of(body)})") from error
    if not isinstance(reply, dict):
        raise Unusable("it is JSON, but no chat completion")
    if reply.get("error"):
        return _failure(reply["error"])
    choice = _first_choice(reply)
    message = choice.get("message")
    if not isinstance(message, dict):
        if not isinstance(choice.get("text"), str):
            raise Unusable("its choice holds no message")
        message = {"content": choice["text"]}
    prompt_tokens, completion_tokens = _usage(reply.get("usage"))
    return Answer(
        text=_text(message.get("content")),
        finish_reason=_string(choice.get("finish_reason")),
        refusal=_string(message.get("refusal")) or None,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        reasoning=_string(message.get("reasoning_content")) or _string(message.get("reasoning")),
    )


@dataclass(slots=True)
class StreamedAnswer:
    """An answer that comes in pieces."""

    texts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    finish_reason: str = ""
    usage: object = None
    done: bool = False
    any_choice: bool = False

    def add(self, data: str) -> str | Failure:
        """Take in one event's data; what it adds to the text (often ``""``), or a failure."""
        if data.startswith("[DONE]"):
            self.done = True
            return ""
        try:
            event = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Unusable("a piece of it is not JSON") from error
        if not isinstance(event, dict):
            raise Unusable("a piece of it is no part of a chat completion")
        if event.get("error"):
            return _failure(event["error"])
        self.usage = event.get("usage") or self.usage
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return ""
        self.any_choice = True
        choice = choices[0]
        self.finish_reason = _string(choice.get("finish_reason")) or self.finish_reason
        delta = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        if not isinstance(delta, dict):
            return ""
        self.refusals.append(_string(delta.get("refusal")))
        self.thoughts.append(_string(delta.get("reasoning_content")) or _string(delta.get("reasoning")))
        piece = _text(delta.get("content"))
        self.texts.append(piece)
        return piece

    def answer(self) -> Answer:
        """The whole."""
        if not self.any_choice:
            raise Unusable(
                "the stream ended before an answer began" if not self.done else "it has no choices"
            )
        if not self.finish_reason:  # llama-cpp-python says [DONE] even where it breaks off for another caller
            raise Unusable("the stream ended before the answer did")
        prompt_tokens, completion_tokens = _usage(self.usage)
        return Answer(
            text="".join(self.texts),
            finish_reason=self.finish_reason,
            refusal="".join(self.refusals) or None,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            reasoning="".join(self.thoughts),
        )


def sse_data(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of server-sent events, one string each; comments and event names are left out."""
    waiting: list[bytes] = []
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for line in ended:
            waiting.append(line)
            if data := _data(b"".join(waiting)):
                yield data
            waiting.clear()
        waiting.append(rest)
    if data := _data(b"".join(waiting)):
        yield data


def bounded(pieces: Iterator[bytes], most: int, cut: bool = False) -> Iterator[bytes]:
    """The pieces, as long as they are not too many bytes; then an end or an error."""
    n_bytes = 0
    for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > most:
            if not cut:
                raise Unusable(f"it is larger than {most:,} bytes")
            yield piece[: most - n_bytes]
            return
        yield piece


def content_type(headers: Mapping[str, str]) -> str:
    """Without its parameters, in lower case; empty if there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def json_body(headers: Mapping[str, str], body: bytes) -> bytes:
    """The body of a reply, if its content type is one that JSON comes under."""
    kind = content_type(headers)
    if kind.endswith("json") or kind in ("", "text/plain", "application/octet-stream"):
        return body
    raise Unusable(f"it is of the type {kind[:60]}, not JSON: {failure_of(body).message[:120]}")


def failure_of(body: bytes) -> Failure:
    """The message of an error page, be it the protocol's JSON, other JSON, HTML or text."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return Failure(_start_of(body))
    if isinstance(reply, dict):
        for name in ("error", "detail", "message", "errors"):
            if reply.get(name):
                return _failure(reply[name])
    return _failure(reply)


_TAGS: Final = re.compile(rb"(?is)<(script|style)\b[^>]*+>.*?</\1\s*>|<[^>]*+>")


def _start_of(body: bytes) -> str:
    plain = _TAGS.sub(b" ", body[:20_000]).decode("utf-8", "replace")
    line = " ".join(unescape(plain).split())
    return line[:300] if line else "empty"


def _failure(error: object) -> Failure:
    if isinstance(error, Mapping):
        message = (
            error.get("message") or error.get("msg") or error.get("detail") or json.dumps(error, default=str)
        )
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        words = f"{code or ''} {error.get('type') or ''}".strip()
        return Failure(_line(message), words, _string(error.get("param")), status)
    if isinstance(error, str):
        return Failure(_line(error))
    return Failure(_line(json.dumps(error, default=str)))


def _line(text: object) -> str:
    return " ".join(str(text).split())[:300]


def _first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unusable("it has no choices")
    return choices[0]


def _data(line: bytes) -> str:
    line = line.rstrip(b"\r")
    return line[5:].strip().decode("utf-8", "replace") if line.startswith(b"data:") else ""


def _text(content: object) -> str:
    if isinstance(content, list):  # parts, of which those that are text count
        return "".join(_string(part.get("text")) for part in content if isinstance(part, dict))
    return _string(content)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _usage(usage: object) -> tuple[int | None, int | None]:
    if not isinstance(usage, Mapping):
        return None, None
    counts = []
    for name in ("prompt_tokens", "completion_tokens"):
        value = usage.get(name)
        counts.append(
            value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
        )
    return counts[0], counts[1]


def has_model(listed: Collection[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)
