"""Dataset file -> raw instances, one at a time, in bounded memory whatever the file's size.

What is read, in UTF-8, plain, gzip or zstd (told by the first bytes, not by the name):

- one JSON object of instances: ``{"<id>": {...}, "<id>": {...}}``, or one such object a line
- JSON lines ``{"id": "<id>", ...the keys of the instance}``: where the file's first key is one of these
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import ijson
import zstandard

from evidencebench_core.data.files import regular_file
from evidencebench_core.data.format import KEYS, OPTIONAL_KEYS
from evidencebench_core.errors import StreamError, shown

_CHUNK: Final = 1 << 16
_FIRST_KEY: Final = re.compile(rb'\{\s*"([^"\\]*)"')
_LINE_KEYS: Final = frozenset(("id", *KEYS, *OPTIONAL_KEYS))
_DEEP: Final = re.compile(rb"(?:[\[{][^\[\]{}]{0,100}){200}")
_REMEDY: Final = "Write {id: instance, ...} in JSON, or one object a line; plain, gzip or zstd."


class DatasetFile:
    """The content of a dataset file, decompressed, for ijson to read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = regular_file(path, _REMEDY)
        self.n_bytes = path.stat().st_size
        magic = self._file.read(4)
        self._file.seek(0)
        content: Any = self._file
        if magic[:2] == b"\x1f\x8b":
            content = gzip.GzipFile(fileobj=self._file)
        elif magic == b"\x28\xb5\x2f\xfd":
            content = zstandard.ZstdDecompressor().stream_reader(self._file, read_across_frames=True)
        self._content = io.BufferedReader(content, _CHUNK)

    def __enter__(self) -> DatasetFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._content.close()
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """Of the file, not of its content."""
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        """The next piece of the content; `StreamError` where it cannot be decompressed or is nested too deeply."""
        with self._errors():
            piece = self._content.read(size)
        # ijson's memory grows with the square of the depth; the counts save most searches
        if piece.count(b"[") + piece.count(b"{") > 1000 and _DEEP.search(piece):
            raise StreamError(str(self.path), "is nested too deeply", _REMEDY)
        return piece

    def _head(self) -> bytes:
        """What `read` gives next, without a byte order mark and blanks."""
        with self._errors():
            if self._content.peek(3).startswith(codecs.BOM_UTF8):
                self._content.read(3)
            return self._content.peek(_CHUNK).lstrip()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, zstandard.ZstdError, OSError) as error:
            problem = f"is damaged, cut off or cannot be read ({error})"
            raise StreamError(str(self.path), problem, "Get the file again.") from error

    def sha256(self, progress: Callable[[int, int, int], None] | None = None) -> str:
        """Of the content, which is read for it."""
        digest = hashlib.sha256()
        for number, chunk in enumerate(iter(lambda: self.read(_CHUNK), b"")):
            digest.update(chunk)
            if progress is not None and number % 256 == 0:
                progress(self.bytes_read, self.n_bytes, 0)
        return digest.hexdigest()

    def instances(self) -> Iterator[tuple[str, object]]:
        """What `iter_raw` gives."""
        last, problem = "", ""
        try:
            for instance_id, raw in self._parsed():
                last = instance_id
                yield instance_id, raw
        except ijson.JSONError as error:
            text = error.args[0]
            line = (text.decode(errors="replace") if isinstance(text, bytes) else text).split("\n")[0]
            is_cut = "premature EOF" in line
            problem = "ends too early: the file is cut off" if is_cut else f"is not JSON: {line.rstrip('.')}"
        except ValueError as error:
            problem = str(error)
        if not last and not problem:
            problem = "holds no instance"
        if problem:
            place = f"{self.path}, after instance {shown(last)}" if last else str(self.path)
            raise StreamError(place, problem, _REMEDY)

    def _parsed(self) -> Iterator[tuple[str, object]]:
        repeated: list[str] = []
        keep = dict.setdefault  # called 200 times an instance

        class Object(dict[str, Any]):
            """Notices a key that is there twice, of which JSON readers keep the last."""

            __slots__ = ()

            def __setitem__(self, key: str, value: Any) -> None:
                if keep(self, key, value) is not value:
                    repeated.append(key)  # an error raised here is lost in ijson

        head = self._head()
        if head and not head.startswith(b"{"):
            raise ValueError(f"begins with {shown(head[:20])}, not with an object")
        first = _FIRST_KEY.match(head)
        are_lines = first is not None and first[1].decode(errors="replace") in _LINE_KEYS
        parse = ijson.items if are_lines else ijson.kvitems
        for value in parse(self, "", map_type=Object, use_float=True, multiple_values=True):
            if repeated:
                raise ValueError(f"has the key {shown(repeated[0])} twice in an object")
            if not are_lines:
                yield value
                continue
            instance_id = value.pop("id", None) if isinstance(value, dict) else None
            if not isinstance(instance_id, str):
                raise ValueError(f"has a line whose id is {shown(instance_id)}")
            yield instance_id, value


def iter_raw(path: Path) -> Iterator[tuple[str, object]]:
    """Instance ids and raw values in the order of the file; `DataError` where it is not of the format above.

    Duplicate ids are not noticed here (ingest does), and a value may be anything that JSON can say
    (`parse_instance` looks at it).
    """
    with DatasetFile(path) as file:
        yield from file.instances()
