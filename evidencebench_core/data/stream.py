"""Dataset file -> records, one at a time, in bounded memory whatever the file's size.

A file is UTF-8, plain, gzip or zstd (told by the first bytes, not by the name), and holds one JSON object of records by
id, a JSON list of records, records a line, or a table, whose first line names the columns.
"""

import codecs
import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import ijson
import zstandard

from evidencebench_core.data.files import regular_file, vocabulary
from evidencebench_core.errors import DataError, shown

REMEDY: Final = "Give JSON, JSON lines or CSV in UTF-8, plain, gzip or zstd; docs/data.md shows every format."
_CHUNK: Final = 1 << 16
_BY_ID: Final = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_DEEP: Final = re.compile(rb"(?:[\[{][^\[\]{}]{0,100}){200}")
csv.field_size_limit(1 << 27)  # a cell may hold a paper


class Record(NamedTuple):
    """A part of a file that should become an instance."""

    place: str  # in the file: "instance 'x'", "record 3", "line 3"
    id: str | None  # the key it stands under
    value: Any  # JSON, or a row of texts


class DatasetFile:
    """The content of a dataset file, decompressed, to be read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = regular_file(path, REMEDY)
        self.n_bytes = path.stat().st_size
        self._digest = hashlib.sha256()
        magic = self._file.read(4)
        self._file.seek(0)
        content: Any = self._file
        if magic[:2] == b"\x1f\x8b":
            content = gzip.GzipFile(fileobj=self._file)
        elif magic == b"\x28\xb5\x2f\xfd":
            content = zstandard.ZstdDecompressor().stream_reader(self._file, read_across_frames=True)
        self._content = io.BufferedReader(content, _CHUNK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._content.close()
        self._file.close()

    @cached_property
    def _head(self) -> bytes:
        """What `read` returns next, without byte order mark and leading blanks."""
        with self._errors():
            if self._content.peek(3).startswith(codecs.BOM_UTF8):
                self._content.read(3)
            return self._content.peek(_CHUNK).lstrip()

    @property
    def is_table(self) -> bool:
        return not self._head.startswith((b"{", b"["))

    @property
    def bytes_read(self) -> int:
        """Bytes of the file as stored, not of its decompressed content."""
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        """The next piece of the content; `DataError` where it cannot be decompressed, or is nested too deeply."""
        with self._errors():
            piece = self._content.read(size)
        # ijson's memory grows with the square of the depth; the counts save most searches.
        if piece.count(b"[") + piece.count(b"{") > 1000 and _DEEP.search(piece):
            raise DataError(str(self.path), "is nested more than 200 deep", REMEDY)
        self._digest.update(piece)
        return piece

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, zstandard.ZstdError, OSError) as error:
            problem = f"is damaged, cut off or cannot be read ({error})"
            raise DataError(str(self.path), problem, "Get the file again.") from error

    def sha256(self, progress: Callable[[int, int, int], object] = lambda *_: None) -> str:
        """Of the content, without a byte order mark; it is read to its end for it."""
        _ = self._head
        for number, _ in enumerate(iter(lambda: self.read(_CHUNK), b"")):
            if number % 256 == 0:
                progress(self.bytes_read, self.n_bytes, 0)
        return self._digest.hexdigest()

    def records(self) -> Iterator[Record]:
        """What the file holds, in its order; `DataError` where it cannot be read, or holds nothing."""
        place, problem = "", ""
        records = self._rows() if self.is_table else self._objects()
        try:
            for record in records if self._head else ():
                place = f", after {record.place}"
                yield record
        except ijson.JSONError as error:
            text = error.args[0]
            line = (text.decode(errors="replace") if isinstance(text, bytes) else text).split("\n")[0]
            is_cut = "premature EOF" in line
            problem = "ends too early: the file is cut off" if is_cut else f"is not JSON: {line.rstrip('.')}"
        except (csv.Error, UnicodeDecodeError) as error:
            problem = f"is not a table in UTF-8: {error}"
        if problem or not place:
            raise DataError(f"{self.path}{place}", problem or "holds no instance", REMEDY)

    def _objects(self) -> Iterator[Record]:
        repeated: list[str] = []  # keys; an error that an object raises is lost in ijson
        keep = dict.setdefault  # quicker than __setitem__

        class Object(dict[str, Any]):
            def __setitem__(self, key: str, value: Any) -> None:
                if key in self:
                    repeated.append(key)
                keep(self, key, value)

        options = {"use_float": True, "multiple_values": True, "map_type": Object}
        prefix = "item" if self._head.startswith(b"[") else ""
        if _BY_ID.match(self._head):
            pairs = ijson.kvitems(self, prefix, **options)
        else:
            pairs = zip(repeat(None), ijson.items(self, prefix, **options), strict=False)
        for number, (key, value) in enumerate(pairs, start=1):
            place = f"record {number}" if key is None else f"instance {shown(key)}"
            if repeated:
                problem = f"has the key {shown(repeated[0])} twice in an object"
                raise DataError(f"{self.path}, {place}", problem, "Keep one of the two.")
            yield Record(place, key, value)

    def _rows(self) -> Iterator[Record]:
        for magic, name in vocabulary("errors.toml")["beginnings"].items():
            if self._head.startswith(magic.encode()):
                raise DataError(str(self.path), f"is {name}", REMEDY)
        header = self._head.split(b"\n")[0].decode()
        delimiter = max(",;\t", key=header.count)
        if delimiter not in header:
            problem = f"begins with {shown(header[:40])}: it is neither JSON nor a table"
            raise DataError(str(self.path), problem, REMEDY)
        rows = csv.DictReader(self._lines(), delimiter=delimiter, restkey="", strict=True)
        for row in rows:
            place = f"line {rows.line_num}"
            if "" in row:
                problem = "has more cells than the first line has columns"
                remedy = "Put quotation marks around cells with commas."
                raise DataError(f"{self.path}, {place}", problem, remedy)
            yield Record(place, None, {name.strip(): cell for name, cell in row.items() if cell})

    def _lines(self) -> Iterator[str]:
        rest = b""
        while piece := self.read(_CHUNK):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield f"{line.decode()}\n"
        if rest:
            yield rest.decode()
