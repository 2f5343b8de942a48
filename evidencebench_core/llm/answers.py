"""What a model is sent and what it answers; answers in the store, each committed before it is used."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import TypeAdapter

from evidencebench_core.data.primitives import from_blob, now, to_blob
from evidencebench_core.errors import LLMError, StoreError

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer; tokens are as the server counts them, seconds its time when the answer was first given."""

    text: str = ""
    finish_reason: str = ""  # "stop", "length" (cut off), "content_filter", ...
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cached: bool = False  # whether it came from the store
    reasoning: str = ""  # thoughts that the server sends apart from the text
    left_out: tuple[str, ...] = ()  # parameters that the server refused
    key: str = ""  # names request and answer in the store
    model: str = ""
    batch: bool = False  # whether it was first given as part of a batch

    def tokens(self, prompt_tokens: int) -> tuple[int, int]:
        """Of prompt and answer; where the server did not count, so many and those of the texts."""
        prompt, completion = self.prompt_tokens, self.completion_tokens
        texts = estimated_tokens(self.text + self.reasoning)
        return prompt_tokens if prompt is None else prompt, texts if completion is None else completion


_ANSWER: Final = TypeAdapter(Answer)


def valid_text(text: str) -> str:
    """The text with U+FFFD for halves of surrogate pairs, which no request can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: one for four ASCII characters, one for every other character."""
    n_ascii = len(text.encode("ascii", "ignore"))
    return math.ceil(n_ascii / 4) + len(text) - n_ascii


def estimated_prompt_tokens(messages: Iterable[Message]) -> int:
    """The same for a conversation, with four tokens around each turn."""
    return sum(estimated_tokens(message.content) + 4 for message in messages)


class AnswerStore:
    """Every answer under the key of its request, where there is a store; for one event loop.

    With ``fresh`` it has those only that it was given to keep.
    """

    def __init__(self, store: Store | None, fresh: bool = False) -> None:
        self._store, self._fresh = store, fresh
        self._new: set[str] = set()
        self._writing = asyncio.Lock()
        self._waiting: list[tuple[Any, ...]] = []  # rows of the table llm_answers
        self._commit: asyncio.Task[None] | None = None  # the next one, which takes all that waits

    def get(self, key: str) -> Answer | None:
        """The answer under a key."""
        if self._store is None or (self._fresh and key not in self._new):
            return None
        with self._store.read() as db:
            row = db.execute("SELECT answer FROM llm_answers WHERE key = ?", (key,)).fetchone()
        return replace(_ANSWER.validate_json(row[0]), cached=True, key=key) if row else None

    async def keep(self, key: str, address: str, body: Mapping[str, Any], answer: Answer) -> None:
        """Commit an answer, together with those that come while another transaction is written.

        An `LLMError` ends the run if the store cannot be written: further answers would be lost like these.
        """
        if self._store is None:
            return
        self._new.add(key)
        record = _ANSWER.dump_json(answer, exclude_defaults=True).decode()
        self._waiting.append((key, body["model"], address, to_blob(body), record, now()))
        await self.commit()

    async def commit(self) -> None:
        """Wait until every answer is committed."""
        if self._commit is None:
            self._commit = asyncio.create_task(self._commit_waiting())
        await asyncio.shield(self._commit)

    async def _commit_waiting(self) -> None:
        async with self._writing:
            rows, self._waiting, self._commit = self._waiting, [], None
            try:
                if self._store is not None and rows:
                    await asyncio.to_thread(_write, self._store, rows)
            except StoreError as error:
                problem = f"{error.problem}: {len(rows)} paid answers could not be kept"
                raise LLMError(error.place, problem, error.remedy, stops_run=True) from error


def _write(store: Store, rows: Sequence[tuple[Any, ...]]) -> None:
    with store.write(durable=True) as db:
        db.executemany("INSERT OR REPLACE INTO llm_answers VALUES (?, ?, ?, ?, ?, ?)", rows)


def request_of(store: Store, key: str) -> dict[str, Any] | None:
    """The body of the request that was answered under a key; ``None`` if there is none."""
    with store.read() as db:
        row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
    body: dict[str, Any] | None = from_blob(row[0]) if row else None
    return body
