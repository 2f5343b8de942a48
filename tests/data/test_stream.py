"""Every shape of a file, and every way to break it."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from evidencebench_core.data.stream import DatasetFile
from evidencebench_core.errors import DataError


def read(content: bytes, folder: Path) -> list[tuple[str, str | None, object]]:
    (folder / "data").write_bytes(content)
    with DatasetFile(folder / "data") as file:
        return [tuple(record) for record in file.records()]


def test_objects_lists_and_lines(tmp_path: Path) -> None:
    nasty = {
        'quotes " \\ {': {"x": '\\"{ ', "n": [1, 2.5, -3e2, None]},
        "ü😀": "עברית \x00\u2028",
        "none": 12,
    }
    records = [(f"instance {key!r}", key, value) for key, value in nasty.items()]
    assert read(json.dumps(nasty).encode(), tmp_path) == records
    assert read(b"\xef\xbb\xbf" + json.dumps(nasty, ensure_ascii=False).encode(), tmp_path) == records
    expected = [("record 1", None, {"id": "a", "x": {"}": 1}}), ("record 2", None, {"y": []})]
    assert read(b'\n {\n"id"\n:"a", "x": {"}": 1}}\r\n\n{"y": []}\n', tmp_path) == expected
    assert read(b'[{"id": "a", "x": {"}": 1}}, {"y": []}]', tmp_path) == expected


def test_tables(tmp_path: Path) -> None:
    content = 'a, b\n1,"two, ""quoted""\nlines\u2028"\n\n,x\n'.encode()
    assert read(content, tmp_path) == [
        ("line 3", None, {"a": "1", "b": 'two, "quoted"\nlines\u2028'}),
        ("line 5", None, {"b": "x"}),
    ]
    expected = [("line 2", None, {"a": "1", "b": "2"})]
    assert read(b"a;b\r\n1;2", tmp_path) == read(b"a\tb\n1\t2", tmp_path) == expected


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_compressed_in_one_piece_or_two_and_cut_off(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    lines = b"".join(b'{"id": "%d", "x": "%b"}\n' % (n, os.urandom(64).hex().encode()) for n in range(500))
    packed, half = pack(lines), len(lines) // 2
    assert read(packed, tmp_path) == read(lines, tmp_path)
    assert read(pack(lines[:half]) + pack(lines[half:]), tmp_path) == read(lines, tmp_path)
    for length in (len(packed) // 2, len(packed) - 1):
        with pytest.raises(DataError):
            read(packed[:length], tmp_path)


REFUSED = [
    b"", b" \n ", b"[]", b"nonsense", b'"text"', b"\xff\xfe{\x00}\x00", b"\x1f\x8b" + b"\xff" * 100,
    b"\x28\xb5\x2f\xfd" + b"\xff" * 100, b'a,b\n1,"2', b"a,b\n1,\xe9", b'{"a": {}} x', b'{"a": {}, }', b"{1: {}}",
    b'{"a": {"x": NaN}}', b'{"a": {"x": 1e999}}', b'{"a": {"x": ' + b"9" * 20 + b"}}", b'{"a": {"x": "caf\xe9"}}',
    b'{"a": {"x": "\xed\xa0\x80"}}', b"[" * 200_000, b'{"a": ' * 200_000,
]  # fmt: skip


@pytest.mark.parametrize("content", REFUSED, ids=range(len(REFUSED)))
def test_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError) as caught:
        read(content, tmp_path)
    assert "\n" not in str(caught.value)
    assert caught.value.place.startswith(str(tmp_path / "data"))


def test_the_record_before_is_named_and_a_cut_is_noticed_anywhere(tmp_path: Path) -> None:
    content = b'{"first": {"x": [1, 2.5, "t\\u00e9", null]}, "second": {"y": "z"}}'
    with pytest.raises(DataError, match="after instance 'first' is not JSON"):
        read(content.replace(b'"z"', b"z"), tmp_path)
    for length in range(1, len(content), 9):
        with pytest.raises(DataError):
            read(content[:length], tmp_path)
