"""Replies of servers -> answers, vectors, lists of models, and what a refusal means. Pure: bytes in, values out."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Final, Literal

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


# -- answers --------------------------------------------------------------------------------------


def chat_answer(headers: Mapping[str, str], body: bytes) -> Answer | Failure:
    """The answer in a reply, whole or streamed, or the failure reported under status 200; `Unusable` if it has none."""
    reply = _unstreamed(body) if _kind(headers) == "text/event-stream" else _json(headers, body)
    if not isinstance(reply, dict):
        raise Unusable("it is JSON, but no chat completion")
    choice = _first_choice(reply)
    if error := reply.get("error") or choice.get("error"):
        return _failure(error)
    if not choice:
        raise Unusable("it has no choices")
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
        event = from_json(data)
    except ValueError:
        return ""
    return _text(_delta(_first_choice(event)).get("content"))


def _unstreamed(body: bytes) -> dict[str, Any]:
    """A streamed reply as if it had come whole."""
    events, whole, choice = Events(), dict[str, Any](), dict[str, Any]()
    message = dict.fromkeys(("content", "refusal", "reasoning_content", "reasoning"), "")
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
        first = _first_choice(event)
        choice |= {name: value for name, value in first.items() if value}
        for name in message:
            message[name] += _text(_delta(first).get(name))
    if not whole.get("error") and not choice.get("finish_reason"):
        # llama-cpp-python says [DONE] even where it breaks off for another caller
        raise Unusable("the stream ended before the answer did")
    return whole | {"choices": [choice | {"message": message}]}


def _first_choice(reply: Any) -> dict[str, Any]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _delta(choice: dict[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
    return delta if isinstance(delta, dict) else {}


# -- vectors and models ---------------------------------------------------------------------------


def vectors_of(headers: Mapping[str, str], body: bytes, n_texts: int) -> tuple[Vectors, int | None] | Failure:
    """Vectors in the order of the texts, of shape (texts, dimensions), and the tokens that the server counted."""
    import numpy as np

    reply = _json(headers, body)
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
    """The names in the reply to ``/v1/models``, sorted; `Unusable` if it is no list."""
    reply = _json(headers, body)
    listed = reply.get("data") or reply.get("models") or [] if isinstance(reply, dict) else reply
    if not isinstance(listed, list):
        raise Unusable("it lists no models")
    names = (one.get("id") or one.get("name") if isinstance(one, dict) else one for one in listed)
    return tuple(sorted({name for name in names if isinstance(name, str) and name}))


def has_model(listed: Collection[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


# -- failures -------------------------------------------------------------------------------------


def failure_of(body: bytes) -> Failure:
    """The message of an error page, be it the protocol's JSON, other JSON, HTML or text."""
    try:
        reply = from_json(body)
    except ValueError:
        return Failure(_start_of(body))
    if isinstance(reply, dict):
        reply = next(
            (reply[name] for name in ("error", "detail", "message", "errors") if reply.get(name)), reply
        )
    return _failure(reply)


def _failure(error: object) -> Failure:
    if not isinstance(error, Mapping):
        return Failure(_line(error if isinstance(error, str) else json.dumps(error, default=str)))
    message = (
        error.get("message") or error.get("msg") or error.get("detail") or json.dumps(error, default=str)
    )
    code, inner = error.get("code"), error.get("innererror")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    inner_code = inner.get("code") if isinstance(inner, Mapping) else ""
    words = " ".join(str(one) for one in (code, error.get("type"), inner_code) if one)
    return Failure(_line(message), words, _string(error.get("param")), status)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How to go on after a refusal.

    ``wait``: the server wants fewer calls; ``without``: the same without ``field``; ``filtered``: that is the answer.
    """

    action: Literal["again", "wait", "without", "filtered", "give_up", "end_run"]
    remedy: str = ""
    field: str = ""
    perhaps_billed: bool = False


_NO_MONEY: Final = r"insufficient_quota|insufficient[ _]balance|billing|exceeded your current quota|payment"
_TOO_LONG: Final = (
    r"context[_ ](?:length|size|window)|exceed_context|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|input) is too long|too long for|input token count|reduce the length|token limit exceeded"
    r"|maximum (?:input |sequence )?length|request too large"
)
_NO_SUCH_MODEL: Final = (  # the last of them: transformers serve MODEL
    r"model[_ ]not[_ ]found|no such model|model .{0,80}(?:does not exist|not found)|unknown model|server is pinned to"
)
_NO_VECTORS: Final = r"(?:created|started?) with .{0,20}embedding|not support .{0,20}embedding"
_FILTERED: Final = r"content[_ ](?:filter|policy)|content management policy|ResponsibleAIPolicyViolation"
_ACCOUNT: Final = Verdict("end_run", "Check the account's plan and balance.")
_LONG: Final = Verdict(
    "give_up", "Take a strategy that reads the paper by sections, or a model that reads more."
)
_NAME: Final = "Check the model's name and the address (OPENAI_BASE_URL, usually ending in /v1)."
# The first row counts whose statuses (one, or from one to another) and words fit.
_VERDICTS: Final[tuple[tuple[Collection[int], str, Verdict], ...]] = (
    ((429,), _NO_MONEY, _ACCOUNT),
    ((408, 409, 423, 425), "", Verdict("again", "Wait a while, or lower the concurrency; then go on.")),
    (range(500, 600), _NO_VECTORS, Verdict("end_run", "Name a model that makes embeddings.")),
    ((429, *range(500, 600)), _TOO_LONG, _LONG),
    ((429,), "", Verdict("wait", "Start again later: what is answered is kept.")),
    # a gateway that has lost patience with a model that may have answered
    ((504, 524), "", Verdict("again", "Check the server, then go on.", perhaps_billed=True)),
    ((501, 505), "", Verdict("give_up", "See what the server says; other settings may help.")),
    ((401,), "", Verdict("end_run", "Set OPENAI_API_KEY to a key of this server, or type one in the app.")),
    ((402,), "", _ACCOUNT),
    ((400, 403), _FILTERED, Verdict("filtered")),
    ((403,), "", Verdict("end_run", "Check what the key is allowed to do, and the model's name.")),
    ((413,), "", _LONG),
    (range(300, 500), _TOO_LONG, _LONG),
    ((404,), "", Verdict("end_run", _NAME)),
    (range(300, 500), _NO_SUCH_MODEL, Verdict("end_run", _NAME)),
    (range(300, 400), "", Verdict("end_run", "Set OPENAI_BASE_URL to the address that it leads to.")),
)
_NEEDED: Final = frozenset({"model", "messages", "input", "dimensions", "stream"})
_PLAIN: Final = frozenset({"temperature", "seed"})  # said without quotes, they mean the field nevertheless


def verdict(status: int, failure: Failure, sent: Collection[str]) -> Verdict:
    """The verdict on a status of 300 or more, the server's words and the fields that were sent."""
    words = f"{failure.code} {failure.message}"
    for statuses, pattern, said in _VERDICTS:
        if status in statuses and re.search(pattern, words, re.IGNORECASE):
            return said
    if status in (400, 422, 500):  # llama-cpp-python says 500 to a format that it does not know
        for name in sorted(set(sent) - _NEEDED, key=len, reverse=True):
            quotes = "" if (name in _PLAIN and status != 500) or "_" in name else "['\"`]"
            named = rf"(?<![A-Za-z_]){quotes}{re.escape(name)}{quotes}(?![A-Za-z_])"
            if re.split(r"[.\[]", failure.param)[0] == name or re.search(named, words):
                return Verdict("without", field=name)
    if status >= 500:
        return Verdict("again", "Check the server, then go on.")
    return Verdict("give_up", "See what the server says; other settings may help.")


class FieldsTaken:
    """The fields that a server takes, model by model, learnt from its refusals."""

    def __init__(self) -> None:
        self._not_taken: dict[str, tuple[str, ...]] = {}

    def leave_out(self, model: str, name: str) -> None:
        """Do not send this field to this model any more, or send it under its other name."""
        self._not_taken[model] = tuple(dict.fromkeys((*self._not_taken.get(model, ()), name)))

    def fitting(self, body: Mapping[str, Any], model: str) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """The request without what is not taken, and the fields left out."""
        gone = [name for name in self._not_taken.get(model, ()) if name in body]
        fitting = {name: value for name, value in body.items() if name not in gone} if gone else body
        if "max_tokens" in gone:
            fitting = {**fitting, "max_completion_tokens": body["max_tokens"]}
        return fitting, tuple(name for name in gone if name != "max_tokens")


# -- what a body holds ----------------------------------------------------------------------------


def _kind(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _json(headers: Mapping[str, str], body: bytes) -> Any:
    """The value of a body, if its content type is one that JSON comes under."""
    kind = _kind(headers)
    if not (kind.endswith("json") or kind in ("", "text/plain", "application/octet-stream")):
        raise Unusable(f"it is of the type {kind[:60]}, not JSON: {failure_of(body).message[:120]}")
    try:
        return from_json(body)
    except ValueError as error:
        raise Unusable(f"it is not whole JSON ({_start_of(body)})") from error


_TAGS: Final = re.compile(rb"(?is)<(script|style)\b[^>]*+>.*?</\1\s*>|<[^>]*+>")


def _start_of(body: bytes) -> str:
    plain = _TAGS.sub(b" ", body[:20_000]).decode("utf-8", "replace")
    return _line(unescape(plain)) or "empty"


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
