"""Answers in the store: each is committed before its asker goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.records import now
from evidencebench_core.errors import LLMError, StoreError
from evidencebench_core.llm.request import Answer, from_json, json_bytes

if TYPE_CHECKING:
    from evidencebench_core.data.store import Store

_PER_QUERY: Final = 500
_INSERT: Final = """INSERT INTO llm_answers (key, model, address, request, answer, created_at)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET model = excluded.model, address = excluded.address,
        request = excluded.request, answer = excluded.answer, created_at = excluded.created_at"""


@dataclass(frozen=True, slots=True)
class Record:
    """What was asked under a key, of which server, and what it answered, JSON-able."""

    key: str
    model: str
    address: str
    request: dict[str, Any]
    answer: dict[str, Any]


class AnswerStore:
    """Every answer under the key of its request; for one event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._next: list[Record] = []
        self._failure: LLMError | None = None

    def get(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The answers under those keys that have one."""
        wanted = tuple(dict.fromkeys(keys))
        answers: dict[str, dict[str, Any]] = {}
        with self._store.read() as db:
            for start in range(0, len(wanted), _PER_QUERY):
                part = wanted[start : start + _PER_QUERY]
                marks = ",".join("?" * len(part))
                rows = db.execute(f"SELECT key, answer FROM llm_answers WHERE key IN ({marks})", part)
                answers.update((key, from_json(answer)) for key, answer in rows)
        return answers

    async def put(self, records: Sequence[Record]) -> None:
        """Commit the records; what gathers while another transaction is written goes into the next.

        Raises
        ------
        LLMError
            If the store cannot be written: the run ends, as further answers would be lost like these.
        """
        batch = self._next
        batch += records
        async with self._lock:
            if batch is self._next:
                self._next = []
            if not batch:
                return  # committed together with others
            if self._failure is not None:
                raise self._failure
            try:
                await asyncio.to_thread(self._commit, tuple(batch))
            except StoreError as error:
                problem = f"{error.problem}: {len(batch)} paid answers could not be kept"
                self._failure = LLMError(error.place, problem, error.remedy, stops_run=True)
                raise self._failure from error
            batch.clear()

    def _commit(self, records: Sequence[Record]) -> None:
        from zstandard import ZstdCompressor

        packer = ZstdCompressor(level=1)
        rows = [
            (
                record.key,
                record.model,
                record.address,
                packer.compress(json_bytes(record.request)),
                json_bytes(record.answer).decode(),
                now(),
            )
            for record in records
        ]
        with self._store.write(durable=True) as db:
            db.executemany(_INSERT, rows)


def request_of(store: Store, key: str) -> dict[str, Any] | None:
    """The body of the request that was answered under a key; ``None`` if there is none."""
    from zstandard import ZstdDecompressor

    with store.read() as db:
        row = db.execute("SELECT request FROM llm_answers WHERE key = ?", (key,)).fetchone()
    body: dict[str, Any] | None = from_json(ZstdDecompressor().decompress(row[0])) if row else None
    return body


def answer_record(answer: Answer) -> dict[str, Any]:
    """An answer as it is stored."""
    values = asdict(answer)
    del values["cached"], values["key"]
    return {name: value for name, value in values.items() if value not in (None, "", ())}


def stored_answer(key: str, record: dict[str, Any]) -> Answer:
    """The answer of a record, marked as cached."""
    values = {**record, "left_out": tuple(record.get("left_out", ()))}
    return Answer(**{"text": "", **values, "cached": True, "key": key})
