"""Replies of servers -> answers, vectors, lists of models, or a `Setback`. Pure: bytes in, values out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Final, Literal

from evidencebench_core.llm.request import Answer, ChatRequest, Request, Vectors, from_json
from evidencebench_core.words import clipped_text

Action = Literal["again", "wait", "without", "filtered", "give_up", "end_run"]


@dataclass(frozen=True, slots=True)
class RawReply:
    """Status, headers with lower-case names, and the whole body, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(eq=False)
class Setback(Exception):  # noqa: N818 - a call goes on after most
    """An attempt brought no answer.

    ``action``: how to go on. ``wait``: the server wants fewer calls; ``without``: the same without the field ``name``;
    ``filtered``: that is the answer. ``status``: the server's; 200 for a whole reply that is no answer, 0 for none.
    """

    reason: str
    action: Action = "again"
    remedy: str = "Check the server, then go on."
    name: str = ""
    perhaps_billed: bool = False
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def unusable(self) -> bool:
        """Whether the address or the key can be none, or leads nowhere: nothing was sent."""
        return self.action == "end_run" and self.status == 0


def no_answer(reason: str) -> Setback:
    """A whole reply that is no answer."""
    remedy = "Ask again, or check the server."
    return Setback(f"the reply is no answer: {reason}", remedy=remedy, perhaps_billed=True, status=200)


def read(
    request: Request, reply: RawReply, sent: Collection[str] = ()
) -> tuple[dict[str, Any], tuple[int | None, int | None]]:
    """The parts of a reply (see `Request.parts`), and the tokens of prompt and answer as the server counts them.

    ``sent``: the names of the fields that were sent, as a refusal may name one.
    """
    if not isinstance(request, ChatRequest):
        vectors, n_tokens = _vectors(_document(reply, sent), len(request.texts))
        return dict(zip(request.texts, vectors, strict=True)), (n_tokens, 0)
    try:
        answer = _answer(_document(reply, sent), reply, sent, request.may_be_empty)
    except Setback as setback:
        if setback.action != "filtered":
            raise
        answer = Answer("", "content_filter")
    return {"": answer}, (answer.prompt_tokens, answer.completion_tokens)


# -- answers --------------------------------------------------------------------------------------


def _answer(document: Any, reply: RawReply, sent: Collection[str], may_be_empty: bool) -> Answer:
    choice = _first_choice(document)
    if error := choice.get("error"):
        raise _refusal(reply, error, sent)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise no_answer("its choice holds no message" if choice else "it has no choices")
    usage = dict(_counts(document.get("usage")))
    answer = Answer(
        text=_text(message.get("content")),
        finish_reason=_string(choice.get("finish_reason")),
        refusal=_string(message.get("refusal")) or None,
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
        reasoning=_string(message.get("reasoning_content")) or _string(message.get("reasoning")),
        model=_string(document.get("model")),
        fingerprint=_string(document.get("system_fingerprint")),
        id=_string(document.get("id")),
        usage=usage,
    )
    ended = answer.finish_reason in ("length", "content_filter") or (may_be_empty and answer.finish_reason)
    if not (answer.text.strip() or answer.refusal or ended):
        said = f", and ended with {answer.finish_reason!r}" if answer.finish_reason else ""
        raise no_answer(f"it has no content{said}")
    return answer


class Events:
    """Server-sent events, read as they come; comments and event names are left out."""

    def __init__(self) -> None:
        self._rest = b""
        self.done = False

    def of(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """The data of each event that ends in this piece, up to the last."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for data in (line[5:].strip() for line in lines if line.startswith(b"data:")):
            self.done |= data.startswith(b"[DONE]")
            if data and not self.done:
                try:
                    event = from_json(data)
                except ValueError as error:
                    raise no_answer("a piece of it is not JSON") from error
                if not isinstance(event, dict):
                    raise no_answer("a piece of it is no part of a chat completion")
                yield event


def delta_text(event: dict[str, Any], name: str = "content") -> str:
    """The piece of text in an event; ``""`` if it has none."""
    choice = _first_choice(event)
    delta = choice.get("delta") or choice.get("message")
    return _text(delta.get(name)) if isinstance(delta, dict) else ""


def _unstreamed(body: bytes) -> dict[str, Any]:
    """A streamed reply as if it had come whole."""
    whole, choice = dict[str, Any](), dict[str, Any]()
    message = dict.fromkeys(("content", "refusal", "reasoning_content", "reasoning"), "")
    for event in Events().of(body + b"\n"):
        whole |= {name: value for name, value in event.items() if value and name != "choices"}
        choice |= {name: value for name, value in _first_choice(event).items() if value}
        for name in message:
            message[name] += delta_text(event, name)
    if not whole.get("error") and not choice.get("finish_reason"):
        # llama-cpp-python says [DONE] even where it breaks off for another caller
        raise no_answer("the stream ended before the answer did")
    return whole | {"choices": [choice | {"message": message}]}


def _first_choice(document: Any) -> dict[str, Any]:
    choices = document.get("choices") if isinstance(document, dict) else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


# -- vectors and models ---------------------------------------------------------------------------


def _vectors(document: Any, n_texts: int) -> tuple[Vectors, int | None]:
    """Vectors in the order of the texts, of shape (texts, dimensions), and the tokens that the server counted."""
    import numpy as np

    try:
        data = sorted(enumerate(document["data"]), key=lambda pair: pair[1].get("index", pair[0]))
        rows = [np.asarray(one["embedding"], np.float32) for _, one in data]
        if any(row.ndim == 2 for row in rows):  # llama.cpp, where the model pools nothing
            raise no_answer("it holds a vector for every token, and not one for every text")
        vectors = np.stack(rows)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise no_answer("it holds no vectors, or of different lengths") from error
    if vectors.ndim != 2 or len(vectors) != n_texts or not vectors.size or not np.isfinite(vectors).all():
        raise no_answer(f"it does not hold {n_texts} vectors of finite numbers")
    return vectors, dict(_counts(document.get("usage"))).get("prompt_tokens")


def model_names(reply: RawReply) -> tuple[str, ...]:
    """The names in the reply to ``/v1/models``, sorted."""
    document = _document(reply, ())
    listed = document.get("data") or document.get("models") or [] if isinstance(document, dict) else document
    if not isinstance(listed, list):
        raise no_answer("it lists no models")
    names = (one.get("id") or one.get("name") if isinstance(one, dict) else one for one in listed)
    return tuple(sorted({name for name in names if isinstance(name, str) and name}))


def has_model(listed: Collection[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


# -- refusals -------------------------------------------------------------------------------------

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
_ACCOUNT: Final = "Check the account's plan and balance."
_LONG: Final = "Take a strategy that reads the paper by sections, or a model that reads more."
_NAME: Final = "Check the model's name and the address (OPENAI_BASE_URL, usually ending in /v1)."
_KEY: Final = "Set OPENAI_API_KEY to a key of this server, or type one in the app."
_SERVER: Final = "Check the server, then go on."
_OTHER: Final = "See what the server says; other settings may help."
# The first row counts whose statuses and words fit.
_VERDICTS: Final[tuple[tuple[Collection[int], str, Action, str], ...]] = (
    ((429,), _NO_MONEY, "end_run", _ACCOUNT),
    ((408, 409, 423, 425), "", "again", "Wait a while, or lower the concurrency; then go on."),
    (range(500, 600), _NO_VECTORS, "end_run", "Name a model that makes embeddings."),
    ((429, *range(500, 600)), _TOO_LONG, "give_up", _LONG),
    ((429,), "", "wait", "Start again later: what is answered is kept."),
    ((504, 524), "", "again", _SERVER),
    ((501, 505), "", "give_up", _OTHER),
    ((401,), "", "end_run", _KEY),
    ((402,), "", "end_run", _ACCOUNT),
    ((400, 403), _FILTERED, "filtered", _OTHER),
    ((403,), "", "end_run", "Check what the key is allowed to do, and the model's name."),
    ((413,), "", "give_up", _LONG),
    (range(300, 500), _TOO_LONG, "give_up", _LONG),
    ((404,), "", "end_run", _NAME),
    (range(300, 500), _NO_SUCH_MODEL, "end_run", _NAME),
    (range(300, 400), "", "end_run", "Set OPENAI_BASE_URL to the address that it leads to."),
)
_SHOWN: Final = 200  # characters of what a server says
_GATEWAY: Final = (504, 524)  # it has lost patience with a model that may have answered
_NEEDED: Final = frozenset({"model", "messages", "input", "stream"})
_PLAIN: Final = frozenset({"temperature", "seed"})  # said without quotes, they mean the field nevertheless


def _refusal(reply: RawReply, error: object, sent: Collection[str]) -> Setback:
    """A server's refusal in words, and how to go on."""
    message, words, param, status = error, "", "", reply.status
    if isinstance(error, Mapping):
        message = error.get("message") or error.get("msg") or error.get("detail") or error
        code, inner = error.get("code"), error.get("innererror")
        inner_code = inner.get("code") if isinstance(inner, Mapping) else ""
        words = " ".join(str(one) for one in (code, error.get("type"), inner_code) if one)
        param = re.split(r"[.\[]", _string(error.get("param")))[0]
        if status < 300:  # an error within a reply that claims success
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
    status = status if status >= 300 else 500
    message = message if isinstance(message, str) else json.dumps(message, default=str)
    action, remedy, name = _verdict(status, f"{words} {_line(message)}", param, sent)
    if status == 503 and "retry-after" in reply.headers:
        action = "wait"
    if status < 400:
        message = f"go to {reply.headers.get('location', 'elsewhere')}"
    reason = f"answers {status} ({_first_line(message)})"
    return Setback(reason, action, remedy, name, status in _GATEWAY, status, reply.headers)


def _verdict(status: int, words: str, param: str, sent: Collection[str]) -> tuple[Action, str, str]:
    """The action, the remedy, and the field to leave out."""
    for statuses, pattern, action, remedy in _VERDICTS:
        if status in statuses and re.search(pattern, words, re.IGNORECASE):
            return action, remedy, ""
    if status in (400, 422, 500):  # llama-cpp-python says 500 to a format that it does not know
        for name in sorted(set(sent) - _NEEDED, key=len, reverse=True):
            quotes = "" if (name in _PLAIN and status != 500) or "_" in name else "['\"`]"
            named = rf"(?<![A-Za-z_]){quotes}{re.escape(name)}{quotes}(?![A-Za-z_])"
            if param == name or re.search(named, words):
                return "without", "", name
    return ("again", _SERVER, "") if status >= 500 else ("give_up", _OTHER, "")


# -- what a body holds ----------------------------------------------------------------------------


def _document(reply: RawReply, sent: Collection[str]) -> Any:
    """The value of a body that is an answer."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        streamed = reply.status < 300 and kind == "text/event-stream"
        document: Any = _unstreamed(reply.body) if streamed else from_json(reply.body)
    except ValueError as error:
        document = _start_of(reply.body)
        if reply.status < 300:
            type_ = "" if kind.endswith("json") else f" (its type is {kind[:60]})"
            raise no_answer(f"it is not whole JSON{type_}: {_first_line(document)}") from error
    said = document if isinstance(document, dict) else {}
    if reply.status >= 300:
        names = ("error", "detail", "message", "errors")
        raise _refusal(reply, next((said[name] for name in names if said.get(name)), document), sent)
    if said.get("error"):
        raise _refusal(reply, said["error"], sent)
    return document


_TAGS: Final = re.compile(rb"(?is)<(script|style)\b[^>]*+>.*?</\1\s*>|<[^>]*+>")


def _start_of(body: bytes) -> str:
    plain = _TAGS.sub(b"\n", body[:20_000]).decode("utf-8", "replace")
    return unescape(plain).strip() or "empty"


def _line(text: str) -> str:
    """The part of a refusal that is read."""
    return " ".join(text.split())[:300]


def _first_line(text: str) -> str:
    """The part that is shown: the address may be any, and a whole page of it nobody's business."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return clipped_text(" ".join(first.split()), _SHOWN)


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
