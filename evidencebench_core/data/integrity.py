"""A checksum for every row, so that damage to the store's file is an error and never a wrong word.

Triggers set the column ``checksum`` of a row whenever the row is written: the CRC-32 of its other columns. Whoever
reads asks the view ``intact_TABLE``, which has the same columns and ends the query at a row that is not as it was
written. Lost rows show in numbers that are kept apart: ``integrity``, ``datasets.n_instances``, ``retrieval_counts``,
``chat_runs``.

Large tables of a store that is older than this have rows without a checksum (``unchecked`` in ``integrity`` is 1);
its papers are compared with their SHA-256 instead.
"""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import orjson
import zstandard

from evidencebench_core.data.packing import REPAIR, unpacked
from evidencebench_core.errors import DamageError, shown

COUNTED: Final = (
    "datasets", "runs", "notes", "annotations", "own_papers", "llm_answers", "chat_runs", "item_sets",
    "answer_sets", "answer_marks", "constructions", "construction_builds",
)  # fmt: skip
"""Tables whose numbers of rows are in ``integrity``."""

_LARGE: Final = ("papers", "bodies", "retrievals", "nearest_sentences", "llm_answers")
_APART: Final = ("body", "pdf")  # of own papers: in a frame with its own checksum, and under pdf_checksum
_BY_INSTANCE: Final = """SELECT d.name, i.instance_id FROM instances AS i JOIN datasets AS d ON d.id = i.dataset_id
    WHERE i.{} = ? ORDER BY i.id LIMIT 1"""


def checksum(*values: object) -> int:
    """Of the values of a row, as SQLite gives them."""
    return crc32(orjson.dumps(values, default=crc32))


class LostRowsError(sqlite3.DatabaseError):
    """A table has fewer rows than were written."""


def check_count(db: sqlite3.Connection, table: str) -> None:
    """`LostRowsError` unless a table of `COUNTED` has all its rows."""
    sql = f"SELECT value - (SELECT count(*) FROM {table} NOT INDEXED) FROM integrity WHERE name = '{table}'"
    if db.execute(sql).fetchone() != (0,):
        raise LostRowsError(f"has lost some of its {table.replace('_', ' ')}")


class Connection(sqlite3.Connection):
    """A connection with the functions that triggers and views call.

    ``damaged`` is the table and the values of the row at which a query ended; ``unchecked`` says whether there
    may be rows without a checksum.
    """

    damaged: tuple[str, tuple[Any, ...]] | None = None
    unchecked = False

    def add_functions(self) -> None:
        self.execute("PRAGMA trusted_schema = ON")  # else triggers and views may not call them
        self.create_function("checksum", -1, checksum, deterministic=True)
        self.create_function("intact", -1, self._is_intact)

    def _is_intact(self, table: str, expected: int | None, *values: Any) -> bool:
        if expected is None and self.unchecked:
            if table != "papers" or _is_paper(*values):
                return True
        elif expected == checksum(*values):
            return True
        self.damaged = table, values
        raise ValueError(table)


def _is_paper(_: int, key: bytes, body: bytes) -> bool:
    try:
        return hashlib.sha256(unpacked(body)).digest() == key
    except zstandard.ZstdError:
        return False


# -- the schema's part --------------------------------------------------------------------------


def columns_of(db: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """The columns that the checksum of a table covers, and its key; no columns where it has none."""
    info = db.execute(f"PRAGMA table_info({table})").fetchall()
    names = [name for _, name, *_ in info]
    covered = [name for name in names if name != "checksum" and (table != "own_papers" or name not in _APART)]
    return covered if "checksum" in names else [], [name for _, name, *_, place in info if place]


def checked_tables(db: sqlite3.Connection) -> list[str]:
    """The tables whose rows have checksums."""
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return [name for (name,) in tables if columns_of(db, name)[0]]


def drop_checks(db: sqlite3.Connection) -> dict[str, str]:
    """Drop all triggers and views of this file, so that a migration can change tables; their SQL by name."""
    rows = db.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE name LIKE 'intact\\_%' ESCAPE '\\'"
        " OR name LIKE 'checksum\\_%' ESCAPE '\\'"
    ).fetchall()
    for kind, name, _ in rows:
        db.execute(f"DROP {kind} {name}")
    return {name: sql for _, name, sql in rows}


def add_checks(db: sqlite3.Connection, before: dict[str, str]) -> None:
    """Make them for the tables as they are now, and the checksums of tables that have changed."""
    for table in checked_tables(db):
        covered, key = columns_of(db, table)
        row = " AND ".join(f"{name} = NEW.{name}" for name in key)
        new = f"UPDATE {table} SET checksum = checksum({', '.join(f'NEW.{name}' for name in covered)}) WHERE {row};"
        count = (
            f"UPDATE integrity SET value = value {{}} 1 WHERE name = '{table}';" if table in COUNTED else ""
        )
        on = {"INSERT": new + count.format("+"), f"UPDATE OF {', '.join(covered)}": new}
        if count:
            on["DELETE"] = count.format("-")
        for event, statements in on.items():
            name = f"checksum_{table}_{event.partition(' ')[0].lower()}"
            db.execute(f"CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {statements} END")
        values = ", ".join(covered)
        # As a subquery it comes last: SQLite puts the values that a row has to have in the place of its columns.
        look = f"(SELECT intact('{table}', checksum, {values}))"
        view = f"CREATE VIEW intact_{table} AS SELECT * FROM {table} WHERE {look}"
        db.execute(view)
        if before.get(f"intact_{table}") != view:
            old = " WHERE checksum IS NOT NULL" if table in _LARGE else ""
            db.execute(f"UPDATE {table} SET checksum = checksum({values}){old}")
    if "integrity" in {name for (name,) in db.execute("SELECT name FROM sqlite_master")}:
        db.execute("INSERT OR REPLACE INTO integrity VALUES ('schema', ?)", (schema_checksum(db),))


def schema_checksum(db: sqlite3.Connection) -> int:
    """Of all tables, indices, triggers and views."""
    sql = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return checksum(*db.execute(f"{sql} ORDER BY name, type").fetchall())


# -- errors ---------------------------------------------------------------------------------------


def damage(path: Path, what: str, detail: str = "") -> DamageError:
    """The error for what is damaged in a store."""
    return DamageError(str(path), f"{what} {detail}".rstrip(), REPAIR)


def place_of(db: sqlite3.Connection, table: str, row: dict[str, Any]) -> str:
    """Which dataset, instance, run, ... a row belongs to, as far as that can be read."""
    try:
        if table in ("papers", "bodies", "evidence"):
            column, key = ("paper", "id") if table == "papers" else ("id", "instance")
            found = db.execute(_BY_INSTANCE.format(column), (row[key],)).fetchone()
            if found:
                return f"dataset {shown(found[0])}, instance {shown(found[1])}"
        known = (
            db.execute("SELECT name FROM datasets WHERE id = ?", (row["dataset_id"],)).fetchone()
            if "dataset_id" in row
            else None
        )
    except sqlite3.Error:
        known = None
    parts = [f"dataset {shown(known[0])}"] if known else []
    parts += [f"{noun} {shown(row[name])}" for name, noun in _NOUNS.items() if row.get(name)]
    if table not in ("instances", "retrievals", "chat_results"):
        parts.append(f"{table.replace('_', ' ')} ({shown(next(iter(row.values()), None))})")
    return ", ".join(parts)


_NOUNS: Final = {"run_id": "run", "task": "task", "instance_id": "instance", "unit": "answer"}
