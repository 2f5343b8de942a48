"""Every format, every way to break it, every place where a chunk may end."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from evidencebench_core.data import source as source_module
from evidencebench_core.data.source import Source
from evidencebench_core.data.stream import instances_in, iter_raw
from evidencebench_core.errors import StreamError
from tests.factories import raw_dataset

NASTY = {
    "plain": {"hypothesis": "x", "list": [1, 2.5, -3e2, True, False, None, [], {}]},
    'quotes " and \\ back\\slashes': {"text": "ends in a backslash \\", "more": '\\"{'},
    "braces": {"open": "{{{ [", "close": "}}}", "mixed": '"}{"', "nested": {"a": {"b": {"}": "{"}}}},
    "ünïcödé 😀": {"rtl": "עברית", "astral": "😀𝔘", "accents": "é" * 50, "control": "\x00\x1f\x7f\u2028"},
    "empty": {},
    "not an object": 12,
    "text": "}",
    "list": [{"a": 1}],
    "null": None,
}


def read(content: bytes, folder: Path, **options: int) -> list[tuple[str, object]]:
    path = folder / "data.json"
    path.write_bytes(content)
    return list(iter_raw(path, **options))


def problem(content: bytes, folder: Path, **options: int) -> StreamError:
    with pytest.raises(StreamError) as caught:
        read(content, folder, **options)
    assert "\n" not in str(caught.value)
    assert str(folder / "data.json") in caught.value.place
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_wherever_a_chunk_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, ensure_ascii: bool
) -> None:
    monkeypatch.setattr(source_module, "CHUNK", chunk)
    for indent in (None, 2):
        content = json.dumps(NASTY, indent=indent, ensure_ascii=ensure_ascii).encode()
        assert read(content, tmp_path) == list(NASTY.items())
    assert read(b'{"a": 1234, "b": -5.25e1}', tmp_path) == [("a", 1234), ("b", -52.5)]


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_json_lines_of_both_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(source_module, "CHUNK", chunk)
    content = b'\n {\n"id"\n:"a", "x": {"}": 1}}\r\n{"hypothesis": "y", "id": "b"}\n{}\n\n{"c": {"id": 1}}\n'
    assert read(content, tmp_path) == [("a", {"x": {"}": 1}}), ("b", {"hypothesis": "y"}), ("c", {"id": 1})]


@pytest.mark.parametrize("chunk", [5, 1 << 20])
def test_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(source_module, "CHUNK", chunk)
    content = json.dumps(NASTY).encode()
    half = len(content) // 2
    zstd = zstandard.ZstdCompressor().compress
    for packed in (
        gzip.compress(content),
        gzip.compress(content[:half]) + gzip.compress(content[half:]),
        zstd(content),
        zstd(content[:half]) + zstd(content[half:]),
    ):
        assert read(packed, tmp_path) == list(NASTY.items())
    assert read(b"\xef\xbb\xbf" + content, tmp_path) == list(NASTY.items())  # with a byte order mark


@pytest.mark.parametrize("chunk", [*range(1, 15), 1 << 20])
def test_half_a_surrogate_pair_is_refused_wherever_a_chunk_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(source_module, "CHUNK", chunk)
    whole = rb'{"a": {"x": "\\ud83d \\\ud83d\ude00"}}'
    assert read(whole, tmp_path) == [("a", {"x": "\\ud83d \\😀"})]
    for half in (rb"\ud83d", rb"\ude00", rb"\ud83d\u0041", rb"\\\uDFFF"):
        error = problem(rb'{"a": {"x": "' + half + rb'"}}', tmp_path)
        assert error.problem.lower().startswith("has half of a surrogate pair, \\ud")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "holds no instance"),
        (b" \n ", "holds no instance"),
        (b"{}", "holds no instance"),
        (b"{}\n{}", "holds no instance"),
        (b"[]", "holds a list"),
        (b'[{"id": "a"}]', "holds a list"),
        (b'"text"', "holds a bare value"),
        (b"nonsense", "is not JSON: invalid string"),
        (b'{"a": {}} x', "is not JSON: invalid char"),
        (b'{"a": {}}}', "is not JSON: unallowed token"),
        (b'{"a": {}},', "is not JSON: unallowed token"),
        (b'{"a": {}, }', "is not JSON: invalid object key (must be a string)"),
        (b"{1: {}}", "is not JSON: invalid object key (must be a string)"),
        (b'{"a" {}}', "is not JSON: object key and value must be separated by a colon"),
        (b'{"a": {} "b": {}}', "is not JSON: after key and value, inside map, I expect ',' or '}'"),
        (b'{"id": 3, "x": 1}', "has an instance whose id is 3"),
        (b'{"hypothesis": "x"}', "has an instance whose id is None"),
        (b'{"a": {"x": NaN}}', "is not JSON: invalid char"),
        (b'{"a": {"x": -Infinity}}', "is not JSON: malformed number"),
        (b'{"a": {"x": 1e999}}', "is not JSON: numeric (floating point) overflow"),
        (b'{"a": {"x": ' + b"9" * 20 + b"}}", "has an integer beyond 64 bits"),
        (b'{"a": {"x": 9223372036854775808}}', "has an integer beyond 64 bits"),
        (b'{"a": {"x": -9223372036854775809}}', "has an integer beyond 64 bits"),
        (b'{"a": {"x": [{"y": 1, "z": {}, "y": 1}]}}', "has the key 'y' twice in an object"),
        (b'{"id": "a", "x": 1, "x": 2}', "has the key 'x' twice in an object"),
        (b'{"id": "a", "id": "b"}', "has the key 'id' twice in an object"),
        (b'{"a": ' + b"9" * 5000 + b"}", "has an integer beyond 64 bits"),
        (b'{"a": {"x": tru}}', "is not JSON: invalid string"),
        (b'{"a": {"x": 1,,}}', "is not JSON: "),
        (b'{"a": {"x": "line\nbreak"}}', "is not JSON: invalid character inside string"),
        (b'{"a": {"x": "\\q"}}', "is not JSON: inside a string, '\\' occurs before a character which it may"),
        (b"{'a': {}}", "is not JSON: invalid char"),
        (b"PK\x03\x04\x00\x00", "is not JSON: invalid char"),
        (b"\x89PNG\r\n\x1a\n", "is not JSON: invalid char"),
        (b"\xff\xfe{\x00}\x00", "is not JSON: invalid char"),
        (b'{"a": {"x": "caf\xe9"}}', "is not UTF-8 text: "),
        (b'{"a\xe9": {}}', "is not UTF-8 text: "),
        (b'{"a": {"x": "\xed\xa0\x80"}}', "is not UTF-8 text: "),  # a surrogate, written out
    ],
)
def test_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    assert problem(content, tmp_path).problem.startswith(expected)


@pytest.mark.parametrize(
    ("content", "line", "byte", "instance"),
    [
        (b'{\n"first": {"x":1},\n"second": {"x": 1 2}}', 3, 38, "in instance 'second'"),
        (b'{\n"first": {"x":1}\n; "second": {}}', 3, 19, "after instance 'first'"),
        (b'{"a": {"x": "\xc3\xa4\xe9"}}', 1, 15, "in instance 'a'"),
        (b'{"a": {"x": ["' + b"y" * 90_000 + b'",\n\n\n "y" 1]}}', 4, 90_023, "in instance 'a'"),
    ],
)
def test_where_it_is(tmp_path: Path, content: bytes, line: int, byte: int, instance: str) -> None:
    """The line; the byte within a few, as the parser looks ahead."""
    place = problem(content, tmp_path).place
    found = re.search(r"line (\d+), byte (\d+) \((.*)\)$", place)
    assert found, place
    assert (int(found[1]), found[3]) == (line, instance)
    assert abs(int(found[2]) - byte) <= 4


@pytest.mark.parametrize("length", range(1, 60, 3))
def test_cut_off_anywhere(tmp_path: Path, length: int) -> None:
    content = b'{"first": {"x": [1, 2.5, "t\\u00e9", null]}, "second": {"y": "z"}}'
    assert problem(content[:length], tmp_path).problem == "ends too early: the file is cut off"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_cut_off_while_compressed(tmp_path: Path, pack: object) -> None:
    lines = b"".join(b'{"id": "%d", "x": "%b"}\n' % (n, os.urandom(64).hex().encode()) for n in range(500))
    packed = pack(lines)  # type: ignore[operator]
    assert len(read(packed, tmp_path)) == 500
    for length in (len(packed) // 2, len(packed) - 1):
        assert re.search("cut off (gzip|zstd)", problem(packed[:length], tmp_path).problem)


@pytest.mark.parametrize("magic", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
def test_damaged_compression(tmp_path: Path, magic: bytes) -> None:
    assert "is damaged or cut off" in problem(magic + b"\xff" * 100, tmp_path).problem


def test_nested_too_deeply(tmp_path: Path) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        content = b'{"a": ' + opening * 100_000 + b"1" + closing * 100_000 + b"}"
        assert problem(content, tmp_path).problem == "is nested too deeply"


def test_a_value_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "CHUNK", 10)
    content = b'{"a": {"x": "%b"}, "b": {}}' % (b"y" * 1000)
    assert len(read(content, tmp_path, max_value=1020)) == 2
    assert problem(content, tmp_path, max_value=980).problem == "has a value of more than 980 bytes"


@pytest.mark.parametrize("beginning", [b'{"a": {"x": "', b'{"a": "', b'{"a', b'{"id": "', b'{"a": {"x": ['])
def test_a_line_of_3_gb_is_not_read(tmp_path: Path, beginning: bytes) -> None:
    path = tmp_path / "long.json"
    with path.open("wb") as file:
        file.write(beginning + b"1," * (5 << 20))
        file.truncate(3 << 30)  # sparse: the rest takes no space
    with Source(path) as source:
        with pytest.raises(
            StreamError, match=r"has a value of more than 4,194,304 bytes|has more than 500,000 values"
        ) as caught:
            list(instances_in(source, max_value=4 << 20))
        assert source.bytes_read <= 16 << 20
    assert "line 1, byte " in caught.value.place


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in KiB there")
@pytest.mark.parametrize("unit", [b"{},", b"[],", b"1.5,", b'"",', b"x"])
def test_a_small_file_takes_little_memory(tmp_path: Path, unit: bytes) -> None:
    path, mib = tmp_path / "bomb.json.gz", 1 << 20
    with gzip.open(path, "wb") as file:
        file.write(b'{"a": {"x": ' + (b'"' if unit == b"x" else b"["))
        for _ in range(60):
            file.write(unit * (mib // len(unit)))
    assert path.stat().st_size < 70_000
    probe = (
        "import resource, sys; from pathlib import Path; from evidencebench_core.data.stream import iter_raw\n"
        "from evidencebench_core.errors import StreamError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: list(iter_raw(Path(sys.argv[1])))\n"
        "except StreamError as error: print(error.problem)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", probe, path], capture_output=True, text=True, check=True)
    problem, n_kib = done.stdout.splitlines()
    assert problem.startswith(("has more than 500,000 values", "has a value of more than 16,777,216 bytes"))
    assert int(n_kib) < 150 * 1024


def test_a_packed_file_may_grow_so_many_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(b'{"id": "%d", "x": "%s"}\n' % (n, b"x" * 500) for n in range(4_000))
    assert len(read(gzip.compress(content), tmp_path)) == 4_000
    monkeypatch.setattr(source_module, "_FREE_CONTENT", 1_000)
    monkeypatch.setattr(source_module, "_MOST_GROWTH", 20)
    error = problem(gzip.compress(content), tmp_path)
    assert error.problem == "grows to more than 20 times its size when it is decompressed"
    assert len(read(content, tmp_path)) == 4_000  # as it is, it does not grow


def test_missing_folder_pipe_and_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StreamError, match=r"nothing\.json: cannot be read \(No such file"):
        list(iter_raw(tmp_path / "nothing.json"))
    with pytest.raises(StreamError, match=r"(is not a regular file|Is a directory)"):
        list(iter_raw(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StreamError, match="is not a regular file"):
        list(iter_raw(tmp_path / "pipe"))

    def refuse(*_: object) -> int:  # root may read everything, so the refusal is played
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(source_module.os, "open", refuse)
    with pytest.raises(StreamError, match=r"cannot be read \(Permission denied\)\. Ask for permission"):
        list(iter_raw(tmp_path / "secret.json"))


def test_a_file_that_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "CHUNK", 64)
    path = tmp_path / "data.json"
    path.write_text(json.dumps(raw_dataset(3)), encoding="utf-8")
    instances = iter_raw(path)
    next(instances)
    with path.open("a", encoding="utf-8") as file:
        file.write(" ")
    with pytest.raises(StreamError, match="was changed while it was read"):
        list(instances)


@pytest.mark.realdata
def test_the_real_train_set(train_path: Path, train_raw: dict[str, object]) -> None:
    assert list(iter_raw(train_path)) == list(train_raw.items())


@pytest.mark.parametrize("name", ["synthetic", "hypothesis", "id", "aspect_texts", "paper_id"])
def test_an_instance_may_be_called_like_a_key(tmp_path: Path, name: str) -> None:
    dataset = {name: raw_dataset(1)["tiny_0"], "other": raw_dataset(2)["tiny_1"]}
    assert dict(read(json.dumps(dataset).encode(), tmp_path)) == dataset
    lines = "\n".join(json.dumps({"id": key, **value}) for key, value in dataset.items())
    assert dict(read(lines.encode(), tmp_path)) == dataset
