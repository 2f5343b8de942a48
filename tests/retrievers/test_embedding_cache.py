from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.retrievers import embedding_cache
from evidencebench_core.retrievers.embedding_cache import EmbeddingCache, cache_folder

ONE = np.array([1.0, -2.5, 3e-8], dtype=np.float32)
TWO = np.array([0.0, 7.0, -1.0], dtype=np.float32)
WARNINGS = (embedding_cache.__name__, logging.WARNING)


@pytest.fixture(autouse=True)
def _nothing_warned_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_cache, "_warned", set())


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [message for name, level, message in caplog.record_tuples if (name, level) == WARNINGS]


def test_vectors_come_back_bit_for_bit_by_identity_and_text(tmp_path: Path) -> None:
    EmbeddingCache(tmp_path).add("model a", {"one": ONE, "": TWO, "\U0001d400\ud800": ONE})
    cache = EmbeddingCache(tmp_path)
    found = cache.vectors("model a", ["one", "", "\U0001d400\ud800", "unknown", "one"])
    assert found.keys() == {"one", "", "\U0001d400\ud800"}
    assert found["one"].tobytes() == ONE.tobytes()
    assert found["one"].dtype == np.float32
    assert cache.vectors("model b", ["one"]) == {}


def test_more_texts_than_one_statement_takes(tmp_path: Path) -> None:
    vectors = {f"text {number}": np.array([number], dtype=np.float32) for number in range(1234)}
    cache = EmbeddingCache(tmp_path)
    cache.add("m", vectors)
    found = cache.vectors("m", vectors)
    assert {text: float(vector[0]) for text, vector in found.items()} == {
        text: float(vector[0]) for text, vector in vectors.items()
    }


def test_a_later_vector_replaces_and_adding_nothing_does_nothing(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.add("m", {})
    assert not cache.path.exists()
    cache.add("m", {"t": ONE})
    cache.add("m", {"t": TWO})
    assert cache.vectors("m", ["t"])["t"].tobytes() == TWO.tobytes()


def test_a_spoilt_row_counts_as_unknown(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.add("m", {"short": ONE, "text": ONE, "nan": ONE, "good": ONE})
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        for text, value in (("short", b"\0" * 8), ("text", "abc"), ("nan", b"\xff" * 12)):
            key = embedding_cache._key(text)
            connection.execute("UPDATE vectors SET vector = ? WHERE text = ?", (value, key))
    assert cache.vectors("m", ["short", "text", "nan", "good"]).keys() == {"good"}


@pytest.mark.parametrize("garbage", [b"not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_spoilt_file_is_made_anew_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, garbage: bytes
) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.path.write_bytes(garbage)
    assert cache.vectors("m", ["t"]) == {}
    cache.add("m", {"t": ONE})
    assert cache.vectors("m", ["t"]).keys() == {"t"}
    (line,) = _lines(caplog)
    assert str(cache.path) in line
    assert "made anew" in line


@pytest.mark.parametrize("start", range(0, 60_000, 7_000))
def test_damage_anywhere_in_the_file_never_raises(tmp_path: Path, start: int) -> None:
    cache = EmbeddingCache(tmp_path)
    vectors = {f"text {n}": np.full(64, n, dtype=np.float32) for n in range(300)}
    cache.add("m", vectors)
    damaged = bytearray(cache.path.read_bytes())
    damaged[start : start + 7_000] = b"\xa5" * len(damaged[start : start + 7_000])
    cache.path.write_bytes(damaged)
    cache.vectors("m", vectors)
    cache.add("m", vectors)
    assert cache.vectors("m", ["text 7"]).keys() <= {"text 7"}


def test_a_truncated_file_never_raises(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.add("m", {f"text {n}": np.full(64, n, dtype=np.float32) for n in range(300)})
    whole = cache.path.read_bytes()
    for share in (0, 10, 100, 4096, 5000, len(whole) // 2):
        cache.path.write_bytes(whole[:share])
        cache.add("m", {"new": ONE})
        assert cache.vectors("m", ["text 7", "new"]).keys() <= {"text 7", "new"}


def test_a_file_of_another_layout_is_made_anew(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    with closing(sqlite3.connect(cache.path)) as connection:
        connection.execute("CREATE TABLE vectors (something TEXT)")
    cache.add("m", {"t": ONE})
    assert cache.vectors("m", ["t"]).keys() == {"t"}


def test_a_place_that_cannot_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = EmbeddingCache(tmp_path / "file")
    cache.add("m", {"t": ONE})
    cache.add("m", {"t": ONE})
    assert cache.vectors("m", ["t"]) == {}
    assert cache.folder_hash(tmp_path, "x") is None
    (line,) = _lines(caplog)
    assert "is not used" in line
    (tmp_path / "folder" / cache.path.name).mkdir(parents=True)
    assert EmbeddingCache(tmp_path / "folder").vectors("m", ["t"]) == {}


def test_it_stops_growing_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_cache, "_LARGEST", 200_000)
    cache = EmbeddingCache(tmp_path)
    cache.add("m", {"first": ONE})
    cache.add("m", {f"text {n}": np.zeros(500, dtype=np.float32) for n in range(300)})  # 600 kB
    assert cache.vectors("m", ["first", "text 1"]).keys() == {"first"}
    assert "full" in _lines(caplog)[0]


def test_folder_hashes_are_kept_by_fingerprint(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    cache.remember_folder(Path("/models/a"), "old", "h1")
    cache.remember_folder(Path("/models/a"), "new", "h2")
    assert cache.folder_hash(Path("/models/a"), "new") == "h2"
    assert cache.folder_hash(Path("/models/a"), "old") is None


def test_processes_share_one_file_from_the_first_moment(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import numpy as np
from evidencebench_core.retrievers.embedding_cache import EmbeddingCache
for number in range(40):
    EmbeddingCache(Path(sys.argv[1])).add("m", {f"{sys.argv[2]} {number}": np.ones(8, dtype=np.float32)})
"""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(number)], stderr=subprocess.PIPE, text=True
        )
        for number in range(3)
    ]
    assert [writer.communicate()[1] for writer in writers] == ["", "", ""]
    texts = [f"{writer} {number}" for writer in range(3) for number in range(40)]
    assert len(EmbeddingCache(tmp_path).vectors("m", texts)) == 120


def test_the_folder_is_the_environments_then_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", "~/somewhere")
    assert cache_folder() == Path.home() / "somewhere"
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert "evidencebench" in cache_folder().name
