"""Sets that are kept in the store under names, each content once: item sets, answer sets."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic

from evidencebench_core.data.primitives import T, by_name, checked_name, from_blob, now, to_blob
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, StoreError, UnknownNameError, shown


@dataclass(frozen=True, slots=True)
class NamedSets(Generic[T]):
    """A table of such sets: name, sha256, body, time of addition, and whatever else `info` takes."""

    table: str
    noun: str  # "item set"
    columns: tuple[str, ...]  # of `info`, in its order
    info: Callable[..., T]
    remedy: str  # while there are none yet

    def all(self, store: Store) -> tuple[T, ...]:
        with store.read() as db:
            rows = db.execute(f"SELECT {', '.join(self.columns)} FROM {self.table} ORDER BY id").fetchall()
        return tuple([self.info(*row) for row in rows])

    def named(self, store: Store, name: str) -> T:
        return by_name(self.all(store), name, self.noun, store.path, self.remedy)

    def body(self, store: Store, info: T) -> Any:
        with store.read() as db:
            row = db.execute(f"SELECT body FROM {self.table} WHERE sha256 = ?", (info.sha256,)).fetchone()
        if row is None:  # deleted meanwhile
            problem = f"is not in {store.path}"
            raise UnknownNameError(f"{self.noun} {shown(info.name)}", problem, "Choose another one.")
        return from_blob(row[0])

    def add(self, store: Store, name: str, sha256: str, body: object, values: Mapping[str, object]) -> T:
        """Add a set; if the store already has the same content, under any name, return that one."""
        for info in self.all(store):
            if info.sha256 == sha256:
                return info
        name = checked_name(name, self.noun)
        try:
            blob = to_blob(body)
        except TypeError as error:  # half a surrogate pair, a number of more than 64 bits
            raise DataError(name, f"cannot be stored ({error})", "Correct that in the file.") from error
        row = {"added_at": now(), **values, "name": name, "sha256": sha256, "body": blob}
        marks = ", ".join(f":{column}" for column in row)
        return self._write(store, f"INSERT INTO {self.table} ({', '.join(row)}) VALUES ({marks})", row)

    def rename(self, store: Store, name: str, new: str) -> T:
        """Rename a set; the new name must be free."""
        row = {"name": checked_name(new, self.noun), "sha256": self.named(store, name).sha256}
        return self._write(store, f"UPDATE {self.table} SET name = :name WHERE sha256 = :sha256", row)

    def delete(self, store: Store, name: str) -> None:
        """Delete a set with its runs; stored answers of models stay and will be reused."""
        with store.write() as db:
            sha256 = self.named(store, name).sha256
            db.execute("DELETE FROM runs WHERE subject = ?", (sha256,))
            db.execute(f"DELETE FROM {self.table} WHERE sha256 = ?", (sha256,))

    def _write(self, store: Store, sql: str, row: Mapping[str, Any]) -> T:
        try:
            with store.write() as db:
                db.execute(sql, row)
        except sqlite3.IntegrityError:
            place, problem = f"{self.noun} {shown(row['name'])}", "is in the store with other content"
            raise StoreError(place, problem, "Choose another name.") from None
        return self.named(store, row["name"])
