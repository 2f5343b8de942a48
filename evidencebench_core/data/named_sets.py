"""Sets that are kept in the store under names, each content once: item sets, answer sets."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson

from evidencebench_core.data.packing import unpacked, zstd_frames
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown
from evidencebench_core.words import one_line

_LONGEST_NAME: Final = 100


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def sha256(self) -> str: ...


T = TypeVar("T", bound=_Named)


@dataclass(frozen=True, slots=True)
class NamedSets(Generic[T]):
    """A table of such sets: name, sha256, body, when it was added, and what else `info` takes."""

    table: str
    noun: str  # "item set"
    columns: tuple[str, ...]  # of `info`, in its order
    info: Callable[..., T]
    remedy: str  # where there is none yet

    def all(self, store: Store) -> tuple[T, ...]:
        """All of them, in the order in which they came."""
        with store.read() as db:
            return self.within(db)

    def within(self, db: sqlite3.Connection) -> tuple[T, ...]:
        """The same, as a transaction sees them."""
        rows = db.execute(f"SELECT {', '.join(self.columns)} FROM {self.table} ORDER BY id").fetchall()
        return tuple([self.info(*row) for row in rows])

    def named(self, store: Store, name: str) -> T:
        """The one of a name; `UnknownNameError` where there is none."""
        known = {info.name: info for info in self.all(store)}
        if name not in known:
            there = f"There are: {', '.join(known)}." if known else self.remedy
            problem = f"is not in {store.path}"
            raise UnknownNameError(
                f"{self.noun} {shown(name)}", problem, did_you_mean(name, known, 0.5) + there
            )
        return known[name]

    def body(self, store: Store, info: T) -> Any:
        """The content of one."""
        with store.read() as db:
            found = f"SELECT body FROM {self.table} WHERE sha256 = ?"
            row = db.execute(found, (info.sha256,)).fetchone()
        if row is None:  # deleted meanwhile
            problem = f"is not in {store.path}"
            raise UnknownNameError(f"{self.noun} {shown(info.name)}", problem, "Choose another one.")
        return orjson.loads(unpacked(row[0]))

    def add(self, store: Store, name: str, sha256: str, body: object, values: Mapping[str, object]) -> T:
        """Keep one; where the store has the same content, maybe under another name, that one.

        `StoreError` if the name is blank, too long or taken by other content.
        """
        with store.write() as db:
            same = next((info for info in self.within(db) if info.sha256 == sha256), None)
            if same is None:
                self.insert(db, name, sha256, body, values)
        return same or self.named(store, self._checked(name))

    def insert(
        self, db: sqlite3.Connection, name: str, sha256: str, body: object, values: Mapping[str, object]
    ) -> None:
        """Keep one that the store has not got, in the transaction that is open."""
        row = {
            "added_at": datetime.now(UTC).isoformat(timespec="seconds"),
            **values,
            "name": self._checked(name),
            "sha256": sha256,
            "body": zstd_frames([orjson.dumps(body)])[0],
        }
        self._check_free(db, str(row["name"]))
        marks = ", ".join(f":{column}" for column in row)
        db.execute(f"INSERT INTO {self.table} ({', '.join(row)}) VALUES ({marks})", row)

    def rename(self, store: Store, name: str, new: str) -> T:
        """Give one another name, which must be free."""
        new = self._checked(new)
        with store.write() as db:
            info = self.named(store, name)
            if new != info.name:
                self._check_free(db, new)
            db.execute(f"UPDATE {self.table} SET name = ? WHERE sha256 = ?", (new, info.sha256))
        return self.named(store, new)

    def _checked(self, name: str) -> str:
        called = one_line(name).strip()
        if not 0 < len(called) <= _LONGEST_NAME:
            problem = f"has {len(called):,} characters" if called else "is blank"
            remedy = f"Give it a name of at most {_LONGEST_NAME} characters."
            raise StoreError(f"name of the {self.noun}", problem, remedy)
        return called

    def _check_free(self, db: sqlite3.Connection, name: str) -> None:
        if any(info.name == name for info in self.within(db)):
            problem = "is in the store with other content"
            raise StoreError(f"{self.noun} {shown(name)}", problem, "Choose another name.")
