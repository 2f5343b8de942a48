import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.retrievers.encoding import EmbeddingCache, cache_folder
from evidencebench_core.retrievers.encoding import cache as cache_module

ONE = np.array([1.0, -2.5, 3e-8], dtype=np.float32)
TWO = np.array([0.0, 7.0, -1.0], dtype=np.float32)
WARNINGS = (cache_module.__name__, logging.WARNING)


@pytest.fixture(autouse=True)
def _nothing_warned_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_warned", set())


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [message for name, level, message in caplog.record_tuples if (name, level) == WARNINGS]


def test_vectors_come_back_bit_for_bit_by_model_and_text(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.add("model a", {})
    assert not cache.path.exists()
    cache.add("model a", {"one": TWO, "": TWO, "\U0001d400\ud800": ONE})
    cache.add("model a", {"one": ONE})  # a later vector replaces
    known = EmbeddingCache(tmp_path).vectors("model a", ["one", "", "\U0001d400\ud800", "unknown", "one"])
    assert known.keys() == {"one", "", "\U0001d400\ud800"}
    assert known["one"].tobytes() == ONE.tobytes()
    assert known["one"].dtype == np.float32
    assert cache.vectors("model b", ["one"]) == {}


def test_a_damaged_row_counts_as_unknown(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.add("m", {"short": ONE, "text": ONE, "bits": ONE, "good": ONE})
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        for text, value in (("short", b"\0" * 8), ("text", "abc"), ("bits", b"\0" * 20)):
            changed = (value, cache_module._digest(text))
            connection.execute("UPDATE vectors SET vector = ? WHERE text = ?", changed)
    assert cache.vectors("m", ["short", "text", "bits", "good"]).keys() == {"good"}


def test_a_damaged_file_is_set_aside_with_one_line_and_never_raises(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache, garbage = EmbeddingCache(tmp_path), b"not a database at all" * 400
    cache.path.write_bytes(garbage)
    assert cache.vectors("m", ["t"]) == {}
    cache.add("m", {"t": ONE})
    assert cache.vectors("m", ["t"]).keys() == {"t"}
    (line,) = _lines(caplog)
    assert f"{cache.path} was damaged" in line
    assert cache.path.with_suffix(".damaged").read_bytes() == garbage
    vectors = {f"text {n}": np.full(64, n, dtype=np.float32) for n in range(300)}
    cache.add("m", vectors)
    whole = cache.path.read_bytes()
    damaged = [whole[:length] for length in (0, 10, 100, 4096, 5000, len(whole) // 2)]
    damaged.append(b"SQLite format 3\0" + b"\xff" * 9000)
    for start in range(0, len(whole), 7000):
        size = len(whole[start : start + 7000])
        damaged.append(whole[:start] + b"\xa5" * size + whole[start + size :])
    for content in damaged:
        cache.path.write_bytes(content)
        for text, vector in cache.vectors("m", vectors).items():
            assert vector.tobytes() == vectors[text].tobytes()
        cache.add("m", {"new": ONE})
        assert cache.vectors("m", ["new"]).keys() <= {"new"}


def test_a_place_that_cannot_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = EmbeddingCache(tmp_path / "file")
    monkeypatch.setattr(cache_module, "_LARGEST_IN_MEMORY", 3 * (ONE.nbytes + 8))
    cache.add("m", {f"t{number}": ONE for number in range(5)})
    assert cache.vectors("m", ["t0", "t4"]).keys() == {"t0"}  # in memory, up to a bound
    assert cache.vectors("m", ["t0"])["t0"].tobytes() == ONE.tobytes()
    (line,) = _lines(caplog)
    assert "is not used" in line
    (tmp_path / "folder" / cache.path.name).mkdir(parents=True)
    assert EmbeddingCache(tmp_path / "folder").vectors("m", ["t"]) == {}


def test_it_stops_growing_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_LARGEST", 200_000)
    monkeypatch.setattr(cache_module, "_LARGEST_IN_MEMORY", 0)
    cache = EmbeddingCache(tmp_path)
    cache.add("m", {"first": ONE})
    cache.add("m", {f"text {n}": np.zeros(500, dtype=np.float32) for n in range(300)})  # 600 kB
    assert cache.vectors("m", ["first", "text 1"]).keys() == {"first"}
    assert "full" in _lines(caplog)[0]


WRITER = """
import sys
from pathlib import Path
import numpy as np
from evidencebench_core.retrievers.encoding import EmbeddingCache
for number in range(int(sys.argv[3])):
    EmbeddingCache(Path(sys.argv[1])).add("m", {f"{sys.argv[2]} {number}": np.ones(8, dtype=np.float32)})
    print(number, flush=True)
"""


def _writer(folder: Path, name: str, n_texts: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(n_texts)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_share_one_file_from_the_first_moment(tmp_path: Path) -> None:
    writers = [_writer(tmp_path, str(number), 40) for number in range(3)]
    assert [writer.communicate()[1] for writer in writers] == ["", "", ""]
    texts = [f"{writer} {number}" for writer in range(3) for number in range(40)]
    assert len(EmbeddingCache(tmp_path).vectors("m", texts)) == 120


def test_a_killed_process_loses_no_more_than_it_was_writing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    writer = _writer(tmp_path, "killed", 100_000)
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    writer.kill()
    writer.communicate()
    cache = EmbeddingCache(tmp_path)
    assert len(cache.vectors("m", [f"killed {number}" for number in range(20)])) == 20
    cache.add("m", {"after": ONE})
    assert cache.vectors("m", ["after"]).keys() == {"after"}
    assert _lines(caplog) == []


def test_the_folder_is_the_environments_then_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", "~/somewhere")
    assert cache_folder() == Path.home() / "somewhere"
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert "evidencebench" in cache_folder().name
