"""Files that are no store of ours, of other versions, busy ones and full disks: one line each; copies of a store."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import connection
from evidencebench_core.data.connection import Database
from evidencebench_core.data.ingestion import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import EvidenceBenchError, StoreError
from evidencebench_core.llm import Answer, Call, Spending
from evidencebench_core.llm.answers import AnswerStore
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, retrieval_spec
from tests.factories import raw_dataset, store_with, written

INSERT = "INSERT INTO runs (id, kind, subject, settings, created_at, versions) VALUES (?, '', '', ?, '', '')"


def refused(path: Path) -> str:
    with pytest.raises(StoreError) as caught:
        open_store(path).datasets()
    assert "\n" not in str(caught.value)
    assert str(path) in caught.value.place
    return str(caught.value)


def test_what_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"This is a text file. " * 100)
    before = path.read_bytes()
    assert "is not a store (no SQLite database)" in refused(path)
    assert path.read_bytes() == before
    path.write_bytes(b"")  # an empty file becomes a store
    assert open_store(path).datasets() == ()
    theirs = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(theirs)) as db:
        db.execute("CREATE TABLE theirs (x)")
    assert "is a database, but not an EvidenceBench store" in refused(theirs)
    for place in (tmp_path, Path("/dev/null")):
        assert "is not a file" in refused(place)
    assert "cannot be made" in refused(theirs / "store.sqlite")


def test_a_store_of_another_version(store: Store) -> None:
    with store.write() as db:
        db.execute(f"PRAGMA user_version = {connection.VERSION - 1}")
    assert f"is a store of version {connection.VERSION - 1}" in refused(store.path)


def test_threads_make_one_store_and_share_it(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    stores = [open_store(path) for _ in range(8)]

    def work(number: int) -> int:
        store = stores[number % 8]
        with store.write() as db:
            db.execute(INSERT, (f"run {number}", ""))
        return len(store.datasets())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(64))) == [0] * 64
    with open_store(path).read() as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (64,)


def test_a_writer_that_does_not_finish(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_WAIT", 0.01)
    other = open_store(store.path)
    with store.write():
        assert len(other.datasets()) == 1  # reading goes on
        with pytest.raises(StoreError, match="is being written to"), other.write():
            pass


def test_what_is_acknowledged_is_on_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite syncs every commit at level 2 (FULL); at 1 a power cut can take the last ones, but harms no other."""
    levels = []
    opened = store.write

    @contextmanager
    def watched(durable: bool = True) -> Iterator[sqlite3.Connection]:
        with opened(durable) as db:
            yield db
            levels.append(db.execute("PRAGMA synchronous").fetchone()[0])

    monkeypatch.setattr(store, "write", watched)
    NoteStore(store).add(Note(instance_id="tiny_0", dataset="tiny", author="ml", text="x"))
    Annotations(store).save("own:1", Annotation("Ada", "Tea helps.", 10))
    call = Call({"model": "m", "messages": []})
    asyncio.run(AnswerStore(store).keep(call, "http://h/v1", Answer("yes"), Spending()))
    runs = RunStore(store)
    run = retrieval_spec(store.dataset("tiny").sha256, "lead", {}, {})
    runs.create(run)
    assert levels == [2] * 4
    runs.add(run.id, {"tiny_0": {"er@10": Retrieval((0,), (1.0,))}})  # computed again, without paying again
    assert levels == [2] * 4 + [1]


def test_a_full_disk(empty: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # SQLite reports its own limit of pages and a disk without space by the same code, SQLITE_FULL.
    opened = Database._opened

    def small(self: Database) -> sqlite3.Connection:
        db = opened(self)
        db.execute("PRAGMA max_page_count = 60")
        return db

    assert empty.datasets() == ()
    empty = open_store(empty.path)
    path = written(raw_dataset(500), tmp_path / "many.json")
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_opened", small)
        with pytest.raises(StoreError, match=r"the disk is full.*Free some space"):
            ingest(empty, path)
        assert empty.datasets() == ()
        with empty.read() as db:  # batches that waited for the one that failed were not written either
            assert db.execute("SELECT count(*) FROM papers").fetchone()[0] == 0
    empty = open_store(empty.path)
    assert ingest(empty, path).added


# Writes runs and says the number of each once it is committed; it does not end by itself.
WRITER = """
import itertools, sys
from evidencebench_core.data import open_store
store = open_store(sys.argv[1])
for number in itertools.count(1):
    with store.write() as db:
        db.execute(sys.argv[2], (f"run {number}", "x" * 50_000))
    print(number, flush=True)
"""


def test_a_copy_has_all_that_was_acknowledged_before_it(tmp_path: Path) -> None:
    store = store_with(raw_dataset(600), tmp_path, "many")
    command = [sys.executable, "-c", WRITER, str(store.path), INSERT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for number in range(3):
            for _ in range(10):
                acknowledged = int(writer.stdout.readline())
            path = tmp_path / f"copy{number}.sqlite"
            assert store.backup(path) == path.stat().st_size
            with closing(sqlite3.connect(path)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                assert db.execute("SELECT count(*) FROM runs").fetchone()[0] >= acknowledged
            assert len(open_store(path).ids("many")) == 600
            assert path.stat().st_mode & 0o777 == 0o600
            assert list(tmp_path.glob("*.part")) == []
        assert writer.poll() is None  # it was writing all the time
        writer.kill()


def test_what_it_never_takes_the_place_of(store: Store, tmp_path: Path) -> None:
    def refuses_to_copy(path: Path, overwrite: bool = True) -> None:
        with pytest.raises(EvidenceBenchError) as caught:
            store.backup(path, overwrite)
        assert caught.value.place == str(path)

    copy = tmp_path / "copy.sqlite"
    store.backup(copy)
    for path in (store.path, tmp_path, tmp_path / "no" / "copy.sqlite"):
        refuses_to_copy(path)
    refuses_to_copy(copy, overwrite=False)
    with closing(sqlite3.connect(copy)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("UPDATE datasets SET name = 'other'")
        refuses_to_copy(copy)  # in use
    with store.write() as db:
        db.execute("UPDATE datasets SET name = 'again'")
    store.backup(copy, overwrite=True)
    assert [info.name for info in open_store(copy).datasets()] == ["again"]
    with pytest.raises(EvidenceBenchError, match="is not there"):
        open_store(tmp_path / "missing.sqlite").backup(tmp_path / "other.sqlite")


def test_a_text_that_is_no_utf8_is_damage(store: Store) -> None:
    with store.write() as db:
        db.execute("UPDATE datasets SET name = CAST(x'ff' AS TEXT)")
    with pytest.raises(match="UTF-8"):
        store.datasets()
