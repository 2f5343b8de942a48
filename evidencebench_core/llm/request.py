"""Requests to a model, replies, and the key under which a reply is kept."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

import orjson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal["system", "user", "assistant"]

_KEY_VERSION: Final = 1
_PER_MESSAGE: Final = 4  # tokens around each turn of a conversation


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A question to a chat model.

    Attributes
    ----------
    temperature, seed : float or int, or None
        ``None``: not sent. Left out where the server does not take them.
    max_tokens : int or None
        Most tokens of the answer; ``None``: the server's limit.
    extra : mapping
        Further fields of the body, JSON-able: ``{"reasoning_effort": "low", "response_format": {...}}``.
    may_be_empty : bool
        Whether an answer without text is one; else it is taken for a fault of the server, and asked for again.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    may_be_empty: bool = False

    kind: ClassVar = "chat"
    path: ClassVar = "/chat/completions"

    @property
    def prompt_tokens(self) -> int:
        """About how many; see `estimated_tokens`."""
        return estimated_prompt_tokens(self.messages)

    def body(self) -> dict[str, Any]:
        """The request as the server gets it, JSON-able; holds no secret."""
        messages = [{"role": message.role, "content": message.content} for message in self.messages]
        settings = {name: getattr(self, name) for name in ("temperature", "seed", "max_tokens")}
        sent = {name: value for name, value in settings.items() if value is not None}
        return {"model": self.model, "messages": messages} | sent | dict(self.extra)

    def parts(self) -> dict[str, bytes]:
        """The parts whose answers are kept apart, each with its request: the whole."""
        return {"": json_bytes(self.body())}


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts whose vectors are wanted, in one call; each vector is kept on its own."""

    model: str
    texts: tuple[str, ...]

    kind: ClassVar = "embedding"
    path: ClassVar = "/embeddings"
    max_tokens: ClassVar = 0

    @property
    def prompt_tokens(self) -> int:
        """About how many; see `estimated_tokens`."""
        return sum(map(estimated_tokens, self.texts))

    def body(self) -> dict[str, Any]:
        """The request as the server gets it; servers refuse an empty text, so that is sent as a blank."""
        texts = [text or " " for text in self.texts]
        return {"model": self.model, "input": texts, "encoding_format": "float"}

    def parts(self) -> dict[str, bytes]:
        """Each text, and the request under which its vector is kept."""
        return {text: json_bytes({"model": self.model, "input": text}) for text in self.texts}


Request: TypeAlias = ChatRequest | EmbeddingRequest
Vectors: TypeAlias = "NDArray[np.float32]"
Reply: TypeAlias = Any
"""A chat's `Answer`, or the vectors of texts, of shape (number of texts, dimensions)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer.

    Attributes
    ----------
    text, refusal : str
        Without text it is a refusal, in words where the server tells them apart, or all tokens went into thinking.
    finish_reason : str
        As the server says: ``"stop"``, ``"length"`` (cut off), ``"content_filter"``, ...; ``""``: not said.
    prompt_tokens, completion_tokens : int or None
        As counted by the server; ``None`` where it does not.
    seconds, attempts : float, int
        From sending the attempt that succeeded to its last byte, when first given; how often it was sent.
    cached, batch : bool
        Whether it came from the store, and nothing was paid; whether it was first given as part of a batch.
    reasoning : str
        The thoughts, where the server sends them apart from the text.
    left_out : tuple of str
        Fields of the request that the server did not take, so that they were not sent.
    key : str
        Names request and answer in the store; ``""`` where there is no store that could keep them.
    model, fingerprint, id : str
        The model that the server says it served, its system fingerprint, the response's id; ``""``: not said.
    usage : mapping of str to int
        Every count that the server gives, nested ones with dots: ``prompt_tokens_details.cached_tokens``.
    """

    text: str
    finish_reason: str = ""
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cached: bool = False
    reasoning: str = ""
    left_out: tuple[str, ...] = ()
    attempts: int = 1
    key: str = ""
    model: str = ""
    fingerprint: str = ""
    id: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    batch: bool = False


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, without any model's own tokenizer.

    One for every four ASCII characters and one for every other character, rounded up. English papers come
    out within some 20 percent of the common tokenizers; 0 for the empty text.
    """
    n_ascii = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return math.ceil(n_ascii / 4) + len(text) - n_ascii


def estimated_prompt_tokens(messages: Iterable[Message]) -> int:
    """The same for a conversation, with 4 for every turn."""
    return sum(estimated_tokens(message.content) + _PER_MESSAGE for message in messages)


def request_key(kind: str, content: bytes, address: str) -> str:
    """The name of an answer: SHA-256, in hex, of the canonical JSON of what was asked, and where.

    Neither API key nor limits take part: the same question to the same server has the same answer, whoever asks.
    """
    where, what = json_bytes(address), json_bytes(kind)
    asked = b'{"address":%b,"body":%b,"kind":%b,"version":%d}' % (where, content, what, _KEY_VERSION)
    return hashlib.sha256(asked).hexdigest()


def json_bytes(value: object) -> bytes:
    """Canonical JSON: sorted keys, no spaces, UTF-8 (escaped where a text holds half a surrogate pair)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def from_json(text: str | bytes) -> Any:
    """The value of JSON that `json_bytes` or a server wrote; `ValueError` if it is none, or nested too deep."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:  # half a surrogate pair, escaped
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
