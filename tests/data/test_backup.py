"""A copy of a store that is being written to, and what it never takes the place of."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import EvidenceBenchError
from evidencebench_core.runs import RunStore
from tests.factories import raw_dataset, store_with

# Says how many answers are kept, after each; it does not end by itself.
RUN = """
import itertools, sys
from evidencebench_core.data import open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import retrieval_spec, RunStore
store = open_store(sys.argv[1])
runs, dataset = RunStore(store), store.dataset("many")
run = runs.create(retrieval_spec(dataset.sha256, "first", {})).id
asked = ((f"er@{k}", instance_id) for k in itertools.count(1) for instance_id in store.ids("many"))
for number, (task, instance_id) in enumerate(asked, start=1):
    runs.add(run, {instance_id: {task: Retrieval((), (), (0,), 0.0, {"prompt": "x" * 20_000})}})
    print(number, flush=True)
"""


def test_a_copy_during_a_run_has_every_answer_that_was_acknowledged(tmp_path: Path) -> None:
    store = store_with(raw_dataset(600), tmp_path, "many")
    command = [sys.executable, "-c", RUN, str(store.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for number in range(5):
            for _ in range(30):
                acknowledged = int(running.stdout.readline())
            path = tmp_path / f"copy{number}.sqlite"
            assert store.backup(path) == path.stat().st_size
            with closing(sqlite3.connect(path)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            copy = open_store(path)
            (run,) = RunStore(copy).runs()
            assert {*copy.ids("many", acknowledged)} <= RunStore(copy).done(run.id, "er@1")
            assert path.stat().st_mode & 0o777 == 0o600
            assert list(tmp_path.glob("*.part")) == []
        assert running.poll() is None  # it was writing all the time
        running.kill()


def test_what_it_never_takes_the_place_of(store: Store, tmp_path: Path) -> None:
    def refused(path: Path, overwrite: bool = True) -> None:
        with pytest.raises(EvidenceBenchError) as caught:
            store.backup(path, overwrite)
        assert caught.value.place == str(path)

    refused(store.path)
    refused(tmp_path)
    refused(tmp_path / "no" / "copy.sqlite")
    path = tmp_path / "copy.sqlite"
    store.backup(path)
    refused(path, overwrite=False)
    other = open_store(path)
    with other.write():  # in use
        refused(path)
    assert [info.name for info in other.datasets()] == ["tiny"]
    other.close()
    with store.write() as db:
        db.execute("UPDATE datasets SET name = 'again'")
    store.backup(path, overwrite=True)
    assert [info.name for info in open_store(path).datasets()] == ["again"]
    missing = open_store(tmp_path / "missing.sqlite")
    with pytest.raises(EvidenceBenchError, match="is not there"):
        missing.backup(tmp_path / "copy2.sqlite")
    assert not missing.path.exists()
