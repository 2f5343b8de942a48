"""The damage in a store, and a new store of all that can still be read."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import orjson
import zstandard

from evidencebench_core.data.files import whole_file
from evidencebench_core.data.integrity import COUNTED, Connection, checksum, columns_of, place_of
from evidencebench_core.data.packing import packed_paper, unpacked, unpacked_paper
from evidencebench_core.data.schema import VERSION, is_current, migrate
from evidencebench_core.data.store import Store
from evidencebench_core.data.tables.benchmark import add_evidence, add_nearest
from evidencebench_core.errors import DamageError, StoreError, shown
from evidencebench_core.words import quantity

_DERIVED: Final = ("evidence", "nearest_sentences", "retrieval_counts")  # made again from the others
_TABLES: Final = (  # parents first
    "datasets", "papers", "instances", "bodies", "evidence", "runs", "retrievals", "nearest_sentences",
    "retrieval_counts", "notes", "hypothesis_variants", "hypothesis_drafts", "saved_filters", "own_papers",
    "annotations", "annotation_heads", "trained_models", "imported_scores", "llm_answers", "chat_runs",
    "chat_results", "llm_batches", "item_sets", "item_drafts", "item_wordings", "answer_sets",
    "answer_marks", "constructions", "construction_settings", "construction_builds", "construction_pools",
    "construction_papers", "construction_decisions",
)  # fmt: skip
_NAMED: Final = 5  # instances of a line

Row = dict[str, Any]


def faults(store: Store) -> list[str]:
    """Everything in a store that is not as it was written, a line each; empty where all is well.

    Looks at SQLite's own structure, at the checksum of every row, and whether rows are missing.

    Raises
    ------
    StoreError
        If there is no store, or it cannot be opened at all.
    """
    if not store.path.is_file():
        raise StoreError(str(store.path), "is not there", "Name the store with --store.")
    found: list[str] = []
    try:
        store.datasets()
    except DamageError as error:
        found.append(error.problem)
    try:
        db = _opened(store.path)
    except StoreError as error:
        if not found:
            raise
        return [*found, error.problem]
    with closing(db):
        found += _structure_faults(db)
        reader = _Reader(db)
        found += _Contents(reader, _TABLES).missing()
        found += reader.damaged
    return list(dict.fromkeys(found))


def repair(store: Store, path: Path) -> list[str]:
    """Write all of a store that can be read to a new one, which appears once it is whole; what is lost, a line each.

    The store itself is only read. A dataset that has lost instances is not the same one any more: it gets another
    hash, so that its file can be ingested again beside it.

    Raises
    ------
    StoreError
        If there is no store, it is of an older version, nothing of it can be read, or the new file is there already.
    SettingError
        If the new file cannot be written.
    """
    if not store.path.is_file():
        raise StoreError(str(store.path), "is not there", "Name the store with --store.")
    if path.exists():
        raise StoreError(str(path), "is there already", "Name another file.")
    with closing(_opened(store.path)) as db:
        reader = _Reader(db)
        contents = _Contents(reader, [table for table in _TABLES if table not in _DERIVED])
        if not contents.n_rows:
            raise StoreError(str(store.path), "cannot be read at all", "Restore it from a backup.")
        with whole_file(path, private=True) as stream:
            part = Path(stream.name)
            with closing(sqlite3.connect(part, isolation_level=None, factory=Connection)) as new:
                new.add_functions()
                new.execute("PRAGMA journal_mode = OFF")
                new.execute("PRAGMA synchronous = OFF")
                new.execute("BEGIN")
                migrate(new, part)
                for table in contents.tables:
                    _copy(new, table, contents.whole(table))
                _complete(new, contents)
                new.execute("COMMIT")
                new.execute("PRAGMA journal_mode = WAL")
    return list(dict.fromkeys(contents.missing() + contents.left_out() + reader.damaged))


def _copy(new: Connection, table: str, rows: Iterator[Row]) -> None:
    for row in rows:
        if table == "chat_runs":
            row |= {"n_answered": 0, "n_failed": 0}  # counted again as the results come
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        new.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", tuple(row.values()))
        if table == "papers":
            words = packed_paper(*unpacked_paper(row["body"]))[1]
            new.execute("INSERT INTO paper_words (rowid, sentences) VALUES (?, ?)", (row["id"], words))


def _complete(new: Connection, contents: _Contents) -> None:
    """Make what follows from the rows that were copied, and datasets other ones that have lost instances."""
    new.execute("INSERT INTO hypothesis_words (rowid, hypothesis) SELECT instance, hypothesis FROM bodies")
    add_evidence(new)
    add_nearest(new)
    for info in contents.datasets.values():
        if len(contents.instances[info["id"]]) != info["n_instances"]:
            sha256 = hashlib.sha256(f"{info['sha256']} repaired".encode()).hexdigest()
            of_dataset = "FROM instances WHERE dataset_id = :id"
            values = {"id": info["id"], "old": info["sha256"], "new": sha256}
            new.execute(
                f"UPDATE datasets SET sha256 = :new, n_bytes = 0, n_instances = (SELECT count(*) {of_dataset}),"
                f" n_papers = (SELECT count(DISTINCT paper_id) {of_dataset}),"
                f" n_result_instances = (SELECT count(*) {of_dataset} AND n_result_aspects > 0) WHERE id = :id",
                values,
            )
            new.execute("UPDATE trained_models SET dataset_sha256 = :new WHERE dataset_sha256 = :old", values)
            for table in ("annotations", "annotation_heads"):
                key = "'instance:' || :old || ':'"
                new.execute(
                    f"UPDATE {table} SET paper = replace(paper, :old, :new)"
                    f" WHERE substr(paper, 1, length({key})) = {key}",
                    values,
                )
    new.execute(  # every annotator stands on a revision that there is
        """INSERT OR REPLACE INTO annotation_heads (paper, annotator, revision)
        SELECT paper, annotator, max(revision) FROM annotations AS a WHERE NOT EXISTS
            (SELECT 1 FROM annotation_heads AS h WHERE h.paper = a.paper AND h.annotator = a.annotator
                AND (h.revision = 0 OR EXISTS (SELECT 1 FROM annotations AS b WHERE b.paper = h.paper
                    AND b.annotator = h.annotator AND b.revision = h.revision)))
        GROUP BY paper, annotator"""
    )


def _opened(path: Path) -> Connection:
    """The file as it is, without bringing it up to date."""
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, factory=Connection
    )
    try:
        db.execute("PRAGMA writable_schema = ON")  # passes over what is damaged of the schema
        db.add_functions()
        db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        if not is_current(db, path):
            remedy = "Open a copy with this program, which brings it up to date, and repair that."
            raise StoreError(str(path), f"is of a version before {VERSION}", remedy)
    except sqlite3.Error as error:
        db.close()
        raise StoreError(
            str(path), f"cannot be read as a store ({error})", "Restore it from a backup."
        ) from error
    except BaseException:
        db.close()
        raise
    return db


def _structure_faults(db: Connection) -> list[str]:
    try:
        lines = [line for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
        keys = db.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.Error as error:
        return [f"the file's structure: {error}"]
    found = [f"the file's structure: {' '.join(line.split())}" for line in lines]
    return found + [
        f"{table} refers to a row of {parent} that is not there" for table, _, parent, _ in keys[:100]
    ]


class _Reader:
    """Reads rows past damage; ``damaged`` says which are not as they were written."""

    def __init__(self, db: Connection) -> None:
        self.db, self.damaged = db, list[str]()
        self.facts: dict[str, int] = {}
        try:
            self.facts = dict(db.execute("SELECT name, value FROM integrity"))
        except sqlite3.Error as error:
            self.damaged.append(f"the table of counts cannot be read ({error})")

    def rows(self, table: str) -> Iterator[Row]:
        """All rows of a table that are as they were written."""
        try:
            covered, key = columns_of(self.db, table)
            names = [name for _, name, *_ in self.db.execute(f"PRAGMA table_info({table})")]
            (sql,) = self.db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        except (sqlite3.Error, TypeError):
            self.damaged.append(f"the table {table} cannot be read")
            return
        found = self._both_ways if "WITHOUT ROWID" in sql else self._by_rowid
        for values in found(table, key):
            row = dict(zip(names, values, strict=True))
            if self._is_intact(table, covered, row):
                del row["checksum"]
                yield row
            else:
                self.damaged.append(f"{place_of(self.db, table, row)} is damaged")

    def _is_intact(self, table: str, covered: list[str], row: Row) -> bool:
        try:
            if row["checksum"] is None and self.facts.get("unchecked") == 1:
                if table == "papers" and hashlib.sha256(unpacked(row["body"])).digest() != row["key"]:
                    return False
            elif row["checksum"] != checksum(*(row[name] for name in covered)):
                return False
            if table in ("papers", "bodies", "own_papers", "item_sets", "answer_sets"):
                orjson.loads(unpacked(row["body"]))
            if table == "own_papers" and row["pdf_checksum"] is not None:
                return bool(crc32(row["pdf"] or b"") == row["pdf_checksum"])
        except (zstandard.ZstdError, TypeError, ValueError):
            return False
        return True

    def _by_rowid(self, table: str, _: list[str]) -> Iterator[tuple[Any, ...]]:
        sql = f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid"
        try:
            (end,) = self.db.execute(f"SELECT max(rowid) FROM {table}").fetchone()
        except sqlite3.Error:
            end = 1 << 24
        last, is_whole = 0, True
        while True:
            try:
                for row_id, *values in self.db.execute(sql, (last,)):
                    last = row_id
                    yield tuple(values)
                break
            except sqlite3.Error as error:
                if is_whole:
                    self.damaged.append(f"a part of the table {table} cannot be read ({error})")
                is_whole, last = False, self._next(f"{sql} LIMIT 1", last, end or 0)
                if last >= (end or 0):
                    break

    def _next(self, sql: str, last: int, end: int) -> int:
        """The last row of those that cannot be read: by steps that double, then by halves."""

        def can_read(after: int) -> bool:
            try:
                self.db.execute(sql, (after,)).fetchone()
            except sqlite3.Error:
                return False
            return True

        low, step = last, 1
        while low + step < end and not can_read(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, end)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if can_read(middle) else (middle, high)
        return high

    def _both_ways(self, table: str, key: list[str]) -> Iterator[tuple[Any, ...]]:
        """Rows from both ends; between two damaged places of such a table they are not found."""
        seen = set()
        for direction in ("ASC", "DESC"):
            order = ", ".join(f"{name} {direction}" for name in key)
            columns = ", ".join(key)
            try:
                for *values, _ in self.db.execute(f"SELECT *, 0 FROM {table} NOT INDEXED ORDER BY {order}"):
                    row = tuple(values)
                    if row not in seen:
                        seen.add(row)
                        yield row
                return
            except sqlite3.Error as error:
                if direction == "ASC":
                    self.damaged.append(f"a part of the table {table} ({columns}) cannot be read ({error})")


class _Contents:
    """The content of a store without the texts: which rows belong to something that is whole."""

    def __init__(self, reader: _Reader, tables: Sequence[str]) -> None:
        self.tables, self._reader = tables, reader
        self.n_rows = 0
        ids: dict[str, set[Any]] = defaultdict(set)
        found: dict[str, list[Row]] = defaultdict(list)
        self._n: Counter[str] = Counter()
        self._answers: Counter[tuple[str, str]] = Counter()
        for table in tables:
            for row in reader.rows(table):
                self._n[table] += 1
                if table in ("datasets", "instances", "retrieval_counts"):
                    found[table].append(row)
                elif table == "chat_runs":
                    found[table].append({**row, "run_id": row["id"], "task": "answers"})
                elif table in ("papers", "bodies", "evidence", "runs", "item_sets"):
                    ids[table].add(row["id" if "id" in row else "instance"])
                elif table in ("retrievals", "chat_results"):
                    self._answers[row["run_id"], row.get("task", "answers")] += 1
        self.n_rows = self._n.total()
        self.datasets = {row["id"]: row for row in found["datasets"] if row["ingested_at"]}
        self.instances: dict[int, set[str]] = defaultdict(set)
        self._incomplete: dict[int, list[str]] = defaultdict(list)
        self._rows, self._papers = set[int](), set[int]()
        parts = [ids[table] for table in ("bodies", "evidence") if table in tables]
        for row in found["instances"]:
            if row["paper"] in ids["papers"] and all(row["id"] in part for part in parts):
                self.instances[row["dataset_id"]].add(row["instance_id"])
                if row["dataset_id"] in self.datasets:
                    self._rows.add(row["id"])
                    self._papers.add(row["paper"])
            else:
                self._incomplete[row["dataset_id"]].append(row["instance_id"])
        self._kept = {key for key in self.datasets if self.instances[key]}
        self._counts = found["retrieval_counts"]
        if "retrieval_counts" not in tables:
            self._counts = list(reader.rows("retrieval_counts"))
        self._counts += found["chat_runs"]
        self._item_sets = ids["item_sets"]
        self._dataset_of: dict[str, int] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()

    def whole(self, table: str) -> Iterator[Row]:
        """The rows of a table that belong to something that is whole."""
        for row in self._reader.rows(table):
            if self._keeps(table, row):
                yield row
            elif table not in ("datasets", "papers", "instances", "bodies"):  # `missing` names these
                if "run_id" in row:
                    of = f"run {row['run_id']}"
                elif "item_set_id" in row:
                    of = "a lost item set"
                else:
                    name = self.datasets.get(row.get("dataset_id", 0), {}).get("name")
                    of = f"dataset {shown(name or 'without a name')}"
                self._left_out[of, table.replace("_", " ")] += 1

    def left_out(self) -> list[str]:
        """Which rows can be read, but belong to an instance, a run or a dataset that is lost."""
        return [
            f"{of}: {quantity(n_rows, 'row')} of {table} left out with what is lost"
            for (of, table), n_rows in self._left_out.items()
        ]

    def _keeps(self, table: str, row: Row) -> bool:
        if table == "datasets":
            return row["id"] in self._kept
        if table == "papers":
            return row["id"] in self._papers
        if table in ("instances", "bodies"):
            return row["id" if table == "instances" else "instance"] in self._rows
        parents = {"dataset_id": self._kept, "item_set_id": self._item_sets}
        if any(row[name] not in there for name, there in parents.items() if name in row):
            return False
        if table in ("runs", "chat_runs"):
            self._dataset_of[row["id"]] = row.get("dataset_id", 0)  # these are about none
        run = row.get("run_id")
        if run is None:
            return True
        dataset = self._dataset_of.get(run)
        return dataset is not None and (
            table != "retrievals" or row["instance_id"] in self.instances[dataset]
        )

    def missing(self) -> list[str]:
        """Which rows are not there any more, by the numbers that are kept apart."""
        lines = []
        for table in COUNTED:
            n_lost = self._reader.facts.get(table, 0) - self._n[table]
            if n_lost > 0:
                lines.append(f"{quantity(n_lost, 'row')} of {table.replace('_', ' ')} damaged or lost")
        for key, info in self.datasets.items():
            n_lost = info["n_instances"] - len(self.instances[key])
            if n_lost:
                names = [shown(name) for name in self._incomplete[key][:_NAMED]]
                which = f" ({', '.join(names)}{', …' if n_lost > len(names) else ''})" if names else ""
                n_all = quantity(info["n_instances"], "instance")
                lines.append(f"dataset {shown(info['name'])}: {n_lost:,} of {n_all} damaged or lost{which}")
        for row in self._counts:
            n_all = row["n_answered"] + row["n_failed"]
            n_lost = n_all - self._answers[row["run_id"], row["task"]]
            if n_lost:
                of_all = quantity(n_all, "answer")
                lines.append(f"run {row['run_id']}, {row['task']}: {n_lost:,} of {of_all} damaged or lost")
        return lines
