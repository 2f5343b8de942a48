"""Sets that are kept in the store under names, each content once: item sets, answer sets."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from evidencebench_core.data.records import checked_name, from_blob, now, to_blob
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown


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
            rows = db.execute(f"SELECT {', '.join(self.columns)} FROM {self.table} ORDER BY id").fetchall()
        return tuple([self.info(*row) for row in rows])

    def named(self, store: Store, name: str) -> T:
        """The one of a name; `UnknownNameError` where there is none."""
        sets = {info.name: info for info in self.all(store)}
        if name not in sets:
            remedy = f"There are: {', '.join(sets)}." if sets else self.remedy
            remedy = did_you_mean(name, sets, 0.5) + remedy
            raise UnknownNameError(f"{self.noun} {shown(name)}", f"is not in {store.path}", remedy)
        return sets[name]

    def body(self, store: Store, info: T) -> Any:
        """The content of one."""
        with store.read() as db:
            row = db.execute(f"SELECT body FROM {self.table} WHERE sha256 = ?", (info.sha256,)).fetchone()
        if row is None:  # deleted meanwhile
            problem = f"is not in {store.path}"
            raise UnknownNameError(f"{self.noun} {shown(info.name)}", problem, "Choose another one.")
        return from_blob(row[0])

    def add(self, store: Store, name: str, sha256: str, body: object, values: Mapping[str, object]) -> T:
        """Keep one; where the store has the same content, maybe under another name, that one.

        `StoreError` if the name is blank, too long or taken by other content.
        """
        for info in self.all(store):
            if info.sha256 == sha256:
                return info
        name = checked_name(name, self.noun)
        row = {"added_at": now(), **values, "name": name, "sha256": sha256, "body": to_blob(body)}
        marks = ", ".join(f":{column}" for column in row)
        self._write(store, name, f"INSERT INTO {self.table} ({', '.join(row)}) VALUES ({marks})", row)
        return self.named(store, name)

    def rename(self, store: Store, name: str, new: str) -> T:
        """Give one another name, which must be free."""
        info, new = self.named(store, name), checked_name(new, self.noun)
        self._write(store, new, f"UPDATE {self.table} SET name = ? WHERE sha256 = ?", (new, info.sha256))
        return self.named(store, new)

    def _write(self, store: Store, name: str, sql: str, values: Any) -> None:
        with store.write() as db:
            try:
                db.execute(sql, values)
            except sqlite3.IntegrityError:
                problem = "is in the store with other content"
                raise StoreError(f"{self.noun} {shown(name)}", problem, "Choose another name.") from None
