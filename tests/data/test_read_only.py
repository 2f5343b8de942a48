"""Reading a store where nothing can be written: folders of others, read-only places, full disks. Who may read it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evidencebench_core.cli import main
from evidencebench_core.data import schema
from evidencebench_core.data.store import open_store
from evidencebench_core.retrievers.encoding import EmbeddingCache
from evidencebench_core.runs import RunStore
from evidencebench_core.runs.notes import Note, NoteStore
from tests.factories import raw_dataset, store_with

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions and limits of POSIX")

# Whatever only reads, on a store that can be written to and then, without rights or without space, on another.
READING = """
import contextlib, io, json, os, resource, signal, sys
from evidencebench_core.cli import main
writable, other, how, run = sys.argv[1:]
VERBS = (
    ["datasets", "--json"], ["show", "tiny_0", "--json"], ["runs", "--json"], ["score", run, "--json"],
    ["retrievers", "--json"], ["notes", "--dataset", "many", "--json"], ["export", run, "--format", "json"],
    ["export", run, "--format", "trec", "--task", "er@10"], ["export-dataset", "many"],
    ["analyse", "positions", run, "--json"], ["analyse", "missed", run, "--json"],
)
def said(store):
    for verb in VERBS:
        out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([*verb, "--store", store])
        out.flush()
        yield verb, code, out.buffer.getvalue(), err.getvalue()
expected = list(said(writable))
assert not [one for one in expected if one[1]], [one for one in expected if one[1]]
if how == "full disk":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
elif os.getuid() == 0:
    os.setuid(65534)
for one, another in zip(expected, said(other)):
    assert one == another, (one, another)
print(main(["delete", "run", run, "--yes", "--store", other]))
"""

KILLED = """
import os, sys
from evidencebench_core.data import open_store
from evidencebench_core.runs.notes import Note, NoteStore
notes = NoteStore(open_store(sys.argv[1]))
notes.add(Note(instance_id="tiny_0", dataset="many", author="x", text="late"))
os._exit(1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that can be closed to writers; whoever the tests run as can clean it up."""
    path = tmp_path / "folder"
    path.mkdir()
    for above in (tmp_path, *tmp_path.parents):  # another user has to get there
        if above.stat().st_uid == os.getuid() and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)
    yield path
    path.chmod(0o755)


def closed(folder: Path) -> None:
    """Make it as it is to others who may read it."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def program(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("how", ["no rights", "no rights, killed", "full disk"])
def test_what_reads_writes_nothing(tmp_path: Path, folder: Path, how: str) -> None:
    store = store_with(raw_dataset(4), folder, "many")
    main(["run", "--dataset", "many", "--retriever", "lead", "--store", str(store.path)])
    (run,) = RunStore(store).runs()
    store.close()
    if "killed" in how:  # what was committed last is in the files beside the store
        program(KILLED, store.path)
        assert store.path.with_name("store.sqlite-wal").stat().st_size
    shutil.copytree(folder, tmp_path / "writable")
    if "no rights" in how:
        closed(folder)
    files = {path: path.read_bytes() for path in folder.iterdir() if path.suffix != ".sqlite-shm"}
    how = how.partition(",")[0]
    done = program(READING, tmp_path / "writable" / "store.sqlite", store.path, how, run.id)
    assert (done.stderr.count("\n"), done.stdout) == (1, "1\n"), done.stderr  # deleting ends in one line
    assert f"{store.path}: cannot be " in done.stderr
    assert {path: path.read_bytes() for path in files} == files


READER = """
import os, sys
from evidencebench_core.data import open_store
store = open_store(sys.argv[1])
if os.getuid() == 0:
    os.setuid(65534)
for line in sys.stdin:
    print(store.is_read_only, *[info.name for info in store.datasets()], flush=True)
"""


def test_what_its_owner_writes_is_seen(folder: Path) -> None:
    store = store_with(raw_dataset(4), folder, "many")
    store.close()
    closed(folder)
    command = [sys.executable, "-c", READER, str(store.path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for name in ("many", "again"):
            folder.chmod(0o755)
            store.path.chmod(0o644)
            with store.write() as db:
                db.execute("UPDATE datasets SET name = ?", (name,))
            store.close()
            closed(folder)
            reader.stdin.write("\n")
            reader.stdin.flush()
            assert reader.stdout.readline() == f"True {name}\n"
        reader.stdin.close()


def test_what_cannot_be_read_without_writing_is_one_line(folder: Path) -> None:
    store = open_store(folder / "store.sqlite")
    set_version = "PRAGMA user_version = {}".format
    with store.write() as db:
        db.execute(set_version(schema.VERSION - 1))
    store.close()
    closed(folder)
    code = READER.replace("print(", "print(store.datasets() and ").replace("sys.stdin", "'x'")
    done = program(code, store.path)
    problem = (
        f"is of version {schema.VERSION - 1} and cannot be brought up to date: it cannot be written. Copy it"
    )
    assert problem in done.stderr
    folder.chmod(0o755)
    store.path.chmod(0o600)
    with store.write() as db:
        db.execute(set_version(schema.VERSION))
        db.execute("UPDATE migrations SET applied_at = 'now'")
    shutil.copy(store.path, folder / "copy.sqlite")
    (folder / "copy.sqlite-wal").write_bytes(store.path.with_name("store.sqlite-wal").read_bytes())
    assert (folder / "copy.sqlite-wal").stat().st_size
    store.close()
    closed(folder)
    done = program(code, folder / "copy.sqlite")
    assert "copy.sqlite: cannot be read here: copy.sqlite-wal holds changes" in done.stderr
    folder.chmod(0o755)
    store.path.chmod(0o000)
    folder.chmod(0o555)
    assert "store.sqlite: cannot be opened: no permission" in program(code, store.path).stderr


def test_only_its_owner_may_read_a_new_store_and_the_cache(tmp_path: Path) -> None:
    before = os.umask(0o022)  # the usual one: without care everybody may read
    try:
        _check_modes(tmp_path)
    finally:
        os.umask(before)


def _check_modes(tmp_path: Path) -> None:
    store = store_with(raw_dataset(2), tmp_path, "many")
    NoteStore(store).add(Note(instance_id="tiny_0", dataset="many", author="x", text="mine"))
    assert not store.is_read_only
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("store.sqlite*")}
    assert {"store.sqlite", "store.sqlite-wal", "store.sqlite-shm"} <= set(modes)
    assert set(modes.values()) == {0o600}
    cache = EmbeddingCache(tmp_path)
    cache.vectors("model", ["text"])
    assert cache.path.stat().st_mode & 0o777 == 0o600
