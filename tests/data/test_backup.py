"""A copy of a store that is being written to, and what it never takes the place of."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import EvidenceBenchError
from tests.factories import raw_dataset, store_with

# Writes runs and says the number of each once it is committed; it does not end by itself.
WRITER = """
import itertools, sys
from evidencebench_core.data import open_store
store = open_store(sys.argv[1])
sql = "INSERT INTO runs (id, kind, subject, settings, created_at, versions) VALUES (?, '', '', ?, '', '')"
for number in itertools.count(1):
    with store.write() as db:
        db.execute(sql, (f"run {number}", "x" * 50_000))
    print(number, flush=True)
"""


def test_a_copy_has_all_that_was_acknowledged_before_it(tmp_path: Path) -> None:
    store = store_with(raw_dataset(600), tmp_path, "many")
    command = [sys.executable, "-c", WRITER, str(store.path)]
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
    def refused(path: Path, overwrite: bool = True) -> None:
        with pytest.raises(EvidenceBenchError) as caught:
            store.backup(path, overwrite)
        assert caught.value.place == str(path)

    copy = tmp_path / "copy.sqlite"
    store.backup(copy)
    for path in (store.path, tmp_path, tmp_path / "no" / "copy.sqlite"):
        refused(path)
    refused(copy, overwrite=False)
    other = open_store(copy)
    with other.write():
        refused(copy)  # in use
    other.close()
    with store.write() as db:
        db.execute("UPDATE datasets SET name = 'again'")
    store.backup(copy, overwrite=True)
    assert [info.name for info in open_store(copy).datasets()] == ["again"]
    with pytest.raises(EvidenceBenchError, match="is not there"):
        open_store(tmp_path / "missing.sqlite").backup(tmp_path / "other.sqlite")
