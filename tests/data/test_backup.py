"""A copy of a store that is being written to, and what it never takes the place of."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evidencebench_core.data.backup import backup
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.runs import RunStore
from tests.factories import raw_dataset, store_with

# Says how many answers are kept, after each; it does not end by itself.
RUN = """
import itertools, sys
from evidencebench_core.data import open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunSpec, RunStore
store = open_store(sys.argv[1])
runs, dataset = RunStore(store), store.dataset("many")
run = runs.create(RunSpec(dataset.sha256, "first", {}), dataset).id
asked = ((f"er@{k}", instance_id) for k in itertools.count(1) for instance_id in store.ids("many"))
for number, (task, instance_id) in enumerate(asked, start=1):
    runs.add(run, {instance_id: {task: Retrieval((), (), (0,), 0.0, {"prompt": "x" * 20_000})}})
    print(number, flush=True)
"""


def integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])


def test_a_copy_during_a_run_has_every_answer_that_was_acknowledged(tmp_path: Path) -> None:
    store = store_with(raw_dataset(600), tmp_path, "many")
    command = [sys.executable, "-c", RUN, str(store.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for number in range(5):
            for _ in range(30):
                acknowledged = int(running.stdout.readline())
            path = tmp_path / f"copy{number}.sqlite"
            assert backup(store, path) == path.stat().st_size
            assert integrity(path) == "ok"
            copy = open_store(path)
            (run,) = RunStore(copy).runs()
            done = RunStore(copy).done(run.id, "er@1")
            assert {*copy.ids("many", acknowledged)} <= done
            assert path.stat().st_mode & 0o777 == 0o600
            assert not [one for one in tmp_path.iterdir() if one.suffix == ".part"]
        assert running.poll() is None  # it was writing all the time
        running.kill()


def test_what_it_never_takes_the_place_of(store: Store, tmp_path: Path) -> None:
    def failure(path: Path, overwrite: bool = True) -> str:
        with pytest.raises(EvidenceBenchError) as caught:
            backup(store, path, overwrite)
        return str(caught.value)

    assert "is the store itself" in failure(store.path)
    assert "is no file" in failure(tmp_path)
    assert "cannot be written" in failure(tmp_path / "no" / "copy.sqlite")
    path = tmp_path / "copy.sqlite"
    backup(store, path)
    before = path.read_bytes()
    assert "is there already" in failure(path, overwrite=False)
    other = open_store(path)
    with other.write():  # in use
        assert "copy.sqlite-wal is beside it" in failure(path)
    other.close()
    assert path.read_bytes() == before
    with store.write() as db:
        db.execute("UPDATE datasets SET name = 'again'")
    backup(store, path, overwrite=True)
    assert [info.name for info in open_store(path).datasets()] == ["again"]
    missing = open_store(tmp_path / "missing.sqlite")
    with pytest.raises(EvidenceBenchError, match="is not there"):
        backup(missing, tmp_path / "copy2.sqlite")
    assert not missing.path.exists()


def test_a_damaged_store_takes_no_backup_away(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "copy.sqlite"
    backup(store, path)
    before = path.read_bytes()
    store.close()
    with store.path.open("r+b") as stream:
        stream.seek(4096 * 20)
        stream.write(b"\xab" * 4096)
    with pytest.raises(EvidenceBenchError, match="is damaged"):
        backup(open_store(store.path), path, overwrite=True)
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from evidencebench_core.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
sys.exit(main(["store", "backup", sys.argv[2], "--store", sys.argv[1]]))
"""
    path = tmp_path / "copies" / "copy.sqlite"
    path.parent.mkdir()
    command = [sys.executable, "-c", code, str(store.path), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"{path}: cannot be written" in done.stderr
    assert list(path.parent.iterdir()) == []
