"""Every format, and every way to break it."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from evidencebench_core.data.stream import iter_raw
from evidencebench_core.errors import DataError, StreamError

NASTY = {
    "plain": {"hypothesis": "x", "list": [1, 2.5, -3e2, True, False, None, [], {}]},
    'quotes " and \\ back\\slashes': {"text": "ends in a backslash \\", "more": '\\"{'},
    "braces": {"open": "{{{ [", "mixed": '"}{"', "nested": {"a": {"b": {"}": "{"}}}},
    "ünïcödé 😀": {"rtl": "עברית", "astral": "😀𝔘", "control": "\x00\x1f\x7f\u2028"},
    "not an object": 12,
    "null": None,
}


def read(content: bytes, folder: Path) -> list[tuple[str, object]]:
    path = folder / "data.json"
    path.write_bytes(content)
    return list(iter_raw(path))


def problem(content: bytes, folder: Path) -> StreamError:
    with pytest.raises(StreamError) as caught:
        read(content, folder)
    assert "\n" not in str(caught.value)
    assert str(folder / "data.json") in caught.value.place
    assert caught.value.remedy
    return caught.value


def test_one_object(tmp_path: Path) -> None:
    for indent, ensure_ascii in ((None, True), (2, False)):
        content = json.dumps(NASTY, indent=indent, ensure_ascii=ensure_ascii).encode()
        assert read(content, tmp_path) == list(NASTY.items())
        assert read(b"\xef\xbb\xbf" + content, tmp_path) == list(NASTY.items())  # with a byte order mark


def test_json_lines_of_both_kinds(tmp_path: Path) -> None:
    content = b'\n {\n"id"\n:"a", "x": {"}": 1}}\r\n{"hypothesis": "y", "id": "b"}\n\n'
    assert read(content, tmp_path) == [("a", {"x": {"}": 1}}), ("b", {"hypothesis": "y"})]
    content = b'{"hypothesis": "y", "id": "b"}\n{"id": "a", "x": 1}'
    assert read(content, tmp_path) == [("b", {"hypothesis": "y"}), ("a", {"x": 1})]
    assert read(b'{"a": {"id": 1}}\n{"b": {}}\n', tmp_path) == [("a", {"id": 1}), ("b", {})]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_in_one_piece_or_two_and_cut_off(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    lines = b"".join(b'{"id": "%d", "x": "%b"}\n' % (n, os.urandom(64).hex().encode()) for n in range(500))
    packed, half = pack(lines), len(lines) // 2
    assert read(packed, tmp_path) == read(lines, tmp_path)
    assert read(pack(lines[:half]) + pack(lines[half:]), tmp_path) == read(lines, tmp_path)
    for length in (len(packed) // 2, len(packed) - 1):
        assert problem(packed[:length], tmp_path).problem


REFUSED = [
    b"", b" \n ", b"{}", b"{}\n{}", b"[]", b'[{"id": "a"}]', b'"text"', b"nonsense", b"PK\x03\x04\x00\x00",
    b"\xff\xfe{\x00}\x00", b"\x1f\x8b" + b"\xff" * 100, b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
    b'{"a": {}} x', b'{"a": {}}}', b'{"a": {}, }', b"{1: {}}", b'{"a" {}}', b'{"a": {} "b": {}}', b"{'a': {}}",
    b'{"id": 3, "x": 1}', b'{"hypothesis": "x"}', b'{"id": "a", "x": 1, "x": 2}',
    b'{"a": {"x": [{"y": 1, "z": {}, "y": 2}]}}',
    b'{"a": {"x": NaN}}', b'{"a": {"x": 1e999}}', b'{"a": {"x": ' + b"9" * 20 + b"}}", b'{"a": {"x": tru}}',
    b'{"a": {"x": "line\nbreak"}}', b'{"a": {"x": "\\q"}}', b'{"a": {"x": "caf\xe9"}}', b'{"a\xe9": {}}',
    b'{"a": {"x": "\xed\xa0\x80"}}',  # a surrogate, written out
    b'{"a": ' + b"[" * 100_000 + b"1" + b"]" * 100_000 + b"}",
    b'{"a": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
]  # fmt: skip


@pytest.mark.parametrize("content", REFUSED, ids=range(len(REFUSED)))
def test_refused(tmp_path: Path, content: bytes) -> None:
    assert problem(content, tmp_path).problem


def test_the_instance_before_is_named(tmp_path: Path) -> None:
    assert "after instance 'first'" in problem(b'{"first": {"x":1}, "second": {"x": 1 2}}', tmp_path).place


def test_cut_off_anywhere(tmp_path: Path) -> None:
    content = b'{"first": {"x": [1, 2.5, "t\\u00e9", null]}, "second": {"y": "z"}}'
    for length in range(1, len(content), 9):
        assert problem(content[:length], tmp_path).problem


def test_missing_folder_and_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing.json", ".", "pipe"):
        with pytest.raises(DataError) as caught:
            list(iter_raw(tmp_path / name))
        assert caught.value.place == str(tmp_path / name)
