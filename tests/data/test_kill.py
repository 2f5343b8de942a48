"""SIGKILL in the middle of an ingest, a full disk, and a folder that may not be written to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import open_store
from tests.factories import raw_dataset, store_with, tiny_dataset, written

# Tells of every batch, then waits for a line.
VICTIM = """
import sys
from pathlib import Path
from evidencebench_core.data import ingest, open_store
def report(*numbers):
    print(*numbers, flush=True)
    sys.stdin.readline()
ingest(open_store(sys.argv[1]), Path(sys.argv[2]), progress=report)
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")]


@pytest.mark.parametrize("n_batches", [1, 3])
def test_killed(tmp_path: Path, n_batches: int) -> None:
    store = store_with(tiny_dataset(), tmp_path)
    path = written(raw_dataset(64 * 5), tmp_path / "many.json")
    command = [sys.executable, "-c", VICTIM, str(store.path), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdin is not None
        assert victim.stdout is not None
        for _ in range(n_batches):
            assert victim.stdout.readline()
            victim.stdin.write("\n")
            victim.stdin.flush()
        assert victim.stdout.readline()
        victim.kill()
    assert [info.name for info in store.datasets()] == ["tiny"]
    assert ingest(store, path).added
    assert len(list(store.iter("many"))) == 320
    with store.read() as db:
        assert db.execute("SELECT count(*) FROM instances").fetchone()[0] == 326
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def run(code: str, *arguments: object) -> str:
    """What a Python program says; it must end well."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


FULL = """
import resource, signal, sys
from pathlib import Path
from evidencebench_core.data import ingest, open_store
from evidencebench_core.errors import StoreError
store = open_store(sys.argv[1])
store.datasets()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    ingest(store, Path(sys.argv[2]))
except StoreError as error:
    print(error)
"""


def test_no_more_can_be_written(tmp_path: Path) -> None:
    """A limit on the size of files fails like a broken disk: SQLite cannot write on."""
    store = store_with(tiny_dataset(), tmp_path)
    path = written(raw_dataset(2_000), tmp_path / "many.json")
    said = run(FULL, store.path, path)
    assert "store.sqlite: cannot be read or written" in said
    assert said.count("\n") == 1
    assert [info.name for info in store.datasets()] == ["tiny"]
    assert ingest(store, path).added


READ_ONLY = """
import os, sys
from pathlib import Path
from evidencebench_core.data import ingest, open_store
from evidencebench_core.errors import StoreError
folder, path, elsewhere = map(Path, sys.argv[1:])
warm = open_store(elsewhere)  # everything is imported before rights are given up
ingest(warm, path, "warm")
warm.get("warm", "tiny_0")
warm.close()
if os.getuid() == 0:
    os.setuid(65534)
for action in (
    lambda: open_store(folder / "new.sqlite").datasets(),
    lambda: open_store(folder / "deep" / "new.sqlite").datasets(),
    lambda: ingest(open_store(folder / "old.sqlite"), path, "again"),
    lambda: open_store(folder / "old.sqlite").write().__enter__(),
):
    try:
        action()
    except StoreError as error:
        print(error)
    else:
        sys.exit("no error")
"""


def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    old = open_store(folder / "old.sqlite")
    ingest(old, written(raw_dataset(3), tmp_path / "old.json"))
    old.close()
    folder.chmod(0o555)
    path = written(tiny_dataset(), tmp_path / "tiny.json")
    try:
        lines = run(READ_ONLY, folder, path, tmp_path / "warm.sqlite").splitlines()
    finally:
        folder.chmod(0o755)
    assert len(lines) == 4
    assert all("name another store" in line.lower() for line in lines)
    assert [info.name for info in old.datasets()] == ["old"]
