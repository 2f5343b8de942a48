"""Dataset file -> raw instances, one at a time, in bounded memory whatever the file's size.

What is read, in UTF-8, plain, gzip or zstd (told by the first bytes, not by the name):

- one JSON object of instances: ``{"<id>": {...}, "<id>": {...}}``, or one such object a line
- JSON lines ``{"id": "<id>", ...the keys of the instance}``: where the file's first key is one of these
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import ijson
import zstandard

from evidencebench_core.data.format import KEYS, OPTIONAL_KEYS
from evidencebench_core.errors import StreamError, shown

_CHUNK: Final = 1 << 16
_LARGEST: Final = 16 << 20  # bytes of an instance, give or take what a chunk becomes
_FIRST_KEY: Final = re.compile(rb'\s*\{\s*"([^"\\]*)"')
_LINE_KEYS: Final = frozenset(("id", *KEYS, *OPTIONAL_KEYS))
_DEEP: Final = re.compile(rb"(?:[\[{][^\[\]{}]{0,100}){200}")
_REMEDY: Final = "Write {id: instance, ...} in JSON, or one object a line; plain, gzip or zstd."


class DatasetFile:
    """The content of a dataset file, decompressed, for ijson to read once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_file():
            raise StreamError(str(path), "is not a regular file", _REMEDY)
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
            raise StreamError(str(path), problem, "Check the path and its permissions.") from error
        self.n_bytes = path.stat().st_size
        self._chunks = self._content()
        self._head = b""
        self._since_mark = 0
        self.ended = False

    def __enter__(self) -> DatasetFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def bytes_read(self) -> int:
        """Of the file, not of its content."""
        return self._file.tell()

    def head(self) -> bytes:
        """What the next `read` gives, without a byte order mark."""
        if not self._head:
            self._head = next(self._chunks, b"").removeprefix(codecs.BOM_UTF8)
        return self._head

    def mark(self) -> None:
        """An instance ends about here."""
        self._since_mark = 0

    def read(self, size: int = -1) -> bytes:
        """The next piece, of whatever size."""
        if size == 0:  # ijson asks for the type
            return b""
        piece, self._head = self.head(), b""
        self.ended = not piece
        self._since_mark += len(piece)
        if self._since_mark > _LARGEST + _CHUNK:
            raise ValueError(f"has a value of more than {_LARGEST:,} bytes")
        # ijson's memory grows with the square of the depth; the counts save most searches
        if (b"[[[[" in piece or piece.count(b"{") > 1000) and _DEEP.search(piece):
            raise ValueError("is nested too deeply")
        return piece

    def sha256(self, progress: Callable[[int, int, int], None] | None = None) -> str:
        """Of the content, which is read for it."""
        digest = hashlib.sha256()
        for number, chunk in enumerate(self._chunks):
            digest.update(chunk)
            if progress is not None and number % 256 == 0:
                progress(self.bytes_read, self.n_bytes, 0)
        return digest.hexdigest()

    def _content(self) -> Iterator[bytes]:
        magic = self._file.read(4)
        self._file.seek(0)
        content: Any = self._file
        if magic[:2] == b"\x1f\x8b":
            content = gzip.GzipFile(fileobj=self._file, mode="rb")
        elif magic == b"\x28\xb5\x2f\xfd":
            content = zstandard.ZstdDecompressor().stream_reader(self._file, read_across_frames=True)
        try:
            yield from iter(lambda: content.read(_CHUNK), b"")
        except (EOFError, zlib.error, zstandard.ZstdError, OSError) as error:
            problem = f"is damaged, cut off or cannot be read ({error})"
            raise StreamError(str(self.path), problem, "Get the file again.") from error


def iter_raw(path: Path) -> Iterator[tuple[str, object]]:
    """Instance ids and raw values in the order of the file; `StreamError` where it is not of the format above.

    Duplicate ids are not noticed here (ingest does), and a value may be anything that JSON can say
    (`parse_instance` looks at it).
    """
    with DatasetFile(path) as file:
        yield from instances_in(file)


def instances_in(file: DatasetFile) -> Iterator[tuple[str, object]]:
    """The same from a file that is already open."""
    last, problem = "", ""
    try:
        for instance_id, raw in _parsed(file):
            last = instance_id
            file.mark()
            yield instance_id, raw
    except ijson.JSONError as error:
        problem = "ends too early: the file is cut off" if file.ended else _reason(error)
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 text: {error.reason}"
    except ValueError as error:
        problem = str(error)
    if not last and not problem:
        problem = "holds no instance"
    if problem:
        place = f"{file.path}, after instance {shown(last)}" if last else str(file.path)
        raise StreamError(place, problem, _REMEDY)


def _parsed(file: DatasetFile) -> Iterator[tuple[str, object]]:
    repeated: list[str] = []
    set_item = dict.__setitem__  # called 200 times an instance

    class Object(dict[str, Any]):
        """Notices a key that is there twice, of which JSON readers keep the last."""

        __slots__ = ()

        def __setitem__(self, key: str, value: Any) -> None:
            if key in self:
                repeated.append(key)  # an error raised here is lost in ijson
            set_item(self, key, value)

    head = file.head().lstrip()
    if head and not head.startswith(b"{"):
        raise ValueError(f"begins with {shown(head[:20])}, not with an object")
    first = _FIRST_KEY.match(head)
    are_lines = first is not None and first[1].decode(errors="replace") in _LINE_KEYS
    parse = ijson.items if are_lines else ijson.kvitems
    for value in parse(file, "", map_type=Object, use_float=True, multiple_values=True):
        if repeated:
            raise ValueError(f"has the key {shown(repeated[0])} twice in an object")
        if not are_lines:
            yield value
            continue
        instance_id = value.pop("id", None) if isinstance(value, dict) else None
        if not isinstance(instance_id, str):
            raise ValueError(f"has a line whose id is {shown(instance_id)}")
        yield instance_id, value


def _reason(error: ijson.JSONError) -> str:
    text = error.args[0]
    line = (text.decode(errors="replace") if isinstance(text, bytes) else str(text)).split("\n")[0]
    return f"is not JSON: {line.partition('error: ')[2].rstrip('.') or line}"
