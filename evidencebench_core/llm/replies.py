"""Replies of servers -> answers, vectors, lists of models. Pure: bytes in, values or reasons out."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from evidencebench_core.llm.request import Answer, Vectors, from_json


class Unusable(Exception):  # noqa: N818 - never leaves this package
    """A whole reply that is no answer."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as a server reports it."""

    message: str
    code: str = ""
    param: str = ""
    status: int | None = None


def chat_answer(headers: Mapping[str, str], body: bytes) -> Answer | Failure:
    """The answer in a reply, whole or streamed, or the failure that a server reports under status 200.

    Raises
    ------
    Unusable
        If it holds no answer: other than JSON, or neither text nor refusal without a reason why not.
    """
    reply = _unstreamed(body) if content_type(headers) == "text/event-stream" else json_of(headers, body)
    if not isinstance(reply, dict):
        raise Unusable("it is JSON, but no chat completion")
    if reply.get("error"):
        return _failure(reply["error"])
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unusable("it has no choices")
    choice = choices[0]
    if choice.get("error"):
        return _failure(choice["error"])
    message = choice.get("message")
    if not isinstance(message, dict):
        if not isinstance(choice.get("text"), str):
            raise Unusable("its choice holds no message")
        message = {"content": choice["text"]}
    usage = dict(_counts(reply.get("usage")))
    answer = Answer(
        text=_text(message.get("content")),
        finish_reason=_string(choice.get("finish_reason")),
        refusal=_string(message.get("refusal")) or None,
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reasoning=_string(message.get("reasoning_content")) or _string(message.get("reasoning")),
        model=_string(reply.get("model")),
        fingerprint=_string(reply.get("system_fingerprint")),
        id=_string(reply.get("id")),
        usage=usage,
    )
    if not (answer.text.strip() or answer.refusal or answer.finish_reason in ("length", "content_filter")):
        said = f", and ended with {answer.finish_reason!r}" if answer.finish_reason else ""
        raise Unusable(f"it has no content{said}")
    return answer


class Events:
    """Server-sent events, read as they come; comments and event names are left out."""

    def __init__(self) -> None:
        self._rest = b""
        self.done = False

    def of(self, piece: bytes) -> Iterator[str]:
        """The data of each event that ends in this piece."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:") and (data := line[5:].strip().decode("utf-8", "replace")):
                self.done |= data.startswith("[DONE]")
                yield data


def delta_text(data: str) -> str:
    """The piece of text in an event's data; ``""`` if it has none."""
    try:
        choice = from_json(data)["choices"][0]
        return _text(
            (choice.get("delta") or choice.get("message") or {"content": choice.get("text")})["content"]
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return ""


def _unstreamed(body: bytes) -> dict[str, Any]:
    """A streamed reply as if it had come whole."""
    events, whole = Events(), dict[str, Any]()
    texts: dict[str, list[str]] = {
        name: [] for name in ("content", "refusal", "reasoning_content", "reasoning")
    }
    choice: dict[str, Any] = {}
    for data in events.of(body + b"\n"):
        if events.done:
            break
        try:
            event = from_json(data)
        except ValueError as error:
            raise Unusable("a piece of it is not JSON") from error
        if not isinstance(event, dict):
            raise Unusable("a piece of it is no part of a chat completion")
        whole |= {name: value for name, value in event.items() if value and name != "choices"}
        choices = event.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            continue
        choice |= {name: value for name, value in choices[0].items() if value}
        delta = choices[0].get("delta") or choices[0].get("message") or {"content": choices[0].get("text")}
        if isinstance(delta, dict):
            for name, pieces in texts.items():
                pieces.append(_text(delta.get(name)))
    if not whole.get("error") and not choice.get("finish_reason"):
        # llama-cpp-python says [DONE] even where it breaks off for another caller
        raise Unusable("the stream ended before the answer did")
    choice["message"] = {name: "".join(pieces) for name, pieces in texts.items()}
    return whole | {"choices": [choice]}


def vectors_of(headers: Mapping[str, str], body: bytes, n_texts: int) -> tuple[Vectors, int | None] | Failure:
    """Vectors in the order of the texts, of shape (texts, dimensions), and the tokens that the server counted.

    Raises
    ------
    Unusable
    """
    import numpy as np

    reply = json_of(headers, body)
    try:
        if isinstance(reply, dict) and reply.get("error"):
            return _failure(reply["error"])
        data = sorted(enumerate(reply["data"]), key=lambda pair: pair[1].get("index", pair[0]))
        rows = [_vector(one["embedding"]) for _, one in data]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unusable("it holds no vectors") from error
    if len(rows) != n_texts:
        raise Unusable(f"it holds {len(rows)} vectors for {n_texts} texts")
    if any(row.ndim == 2 for row in rows):  # llama.cpp, where the model pools nothing
        raise Unusable("it holds a vector for every token, and not one for every text")
    if len({row.shape for row in rows}) != 1:
        raise Unusable("its vectors are of different lengths")
    vectors = np.stack(rows)
    if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        raise Unusable("its vectors are not finite numbers")
    return vectors, dict(_counts(reply.get("usage"))).get("prompt_tokens")


def _vector(value: object) -> Vectors:
    import numpy as np

    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), dtype="<f4")
    return np.asarray(value, dtype=np.float32)


def model_names(headers: Mapping[str, str], body: bytes) -> tuple[str, ...]:
    """The names in the reply to ``/v1/models``, sorted.

    Raises
    ------
    Unusable
    """
    reply = json_of(headers, body)
    listed = reply.get("data") or reply.get("models") or [] if isinstance(reply, dict) else reply
    if not isinstance(listed, list):
        raise Unusable("it lists no models")
    names = (one.get("id") or one.get("name") if isinstance(one, dict) else one for one in listed)
    return tuple(sorted({name for name in names if isinstance(name, str) and name}))


def has_model(listed: Collection[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


def content_type(headers: Mapping[str, str]) -> str:
    """Without its parameters, in lower case; empty if there is none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def json_of(headers: Mapping[str, str], body: bytes) -> Any:
    """The value of a body, if its content type is one that JSON comes under.

    Raises
    ------
    Unusable
    """
    kind = content_type(headers)
    if not (kind.endswith("json") or kind in ("", "text/plain", "application/octet-stream")):
        raise Unusable(f"it is of the type {kind[:60]}, not JSON: {failure_of(body).message[:120]}")
    try:
        return from_json(body)
    except ValueError as error:
        raise Unusable(f"it is not whole JSON ({_start_of(body)})") from error


def failure_of(body: bytes) -> Failure:
    """The message of an error page, be it the protocol's JSON, other JSON, HTML or text."""
    try:
        reply = from_json(body)
    except ValueError:
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
        code, inner = error.get("code"), error.get("innererror")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        inner_code = inner.get("code") if isinstance(inner, Mapping) else ""
        words = " ".join(str(one) for one in (code, error.get("type"), inner_code) if one)
        return Failure(_line(message), words, _string(error.get("param")), status)
    return Failure(_line(error if isinstance(error, str) else json.dumps(error, default=str)))


def _line(text: object) -> str:
    return " ".join(str(text).split())[:300]


def _text(content: object) -> str:
    if isinstance(content, list):  # parts, of which those that are text count
        return "".join(_string(part.get("text")) for part in content if isinstance(part, dict))
    return _string(content)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _counts(usage: object, prefix: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(usage, Mapping):
        for name, value in usage.items():
            if isinstance(value, Mapping):
                yield from _counts(value, f"{prefix}{name}.")
            elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                yield f"{prefix}{name}", value
