"""Dataset file -> raw instances, one at a time, in bounded memory whatever the file's size.

What is read, all of it UTF-8 (a byte order mark is tolerated), plain, gzip or zstd:

- one JSON object of instances: ``{"<id>": {...}, "<id>": {...}}``
- JSON lines, each line either ``{"id": "<id>", ...the keys of the instance}`` or
  ``{"<id>": {...}}``. An object is taken for the first kind if its first key is ``id`` or one
  of the format's own keys. Lines may also be broken over several lines.

ijson's events are put together here, not by its ``kvitems``, whose memory grows with the square of the nesting.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final, NoReturn

import ijson

from evidencebench_core.data.check import KEYS, OPTIONAL_KEYS
from evidencebench_core.data.source import Source
from evidencebench_core.errors import StreamError, shown

MAX_VALUE: Final = 16 << 20
_MOST_LEVELS: Final = 100
_MOST_EVENTS: Final = 500_000  # of an instance: values, keys and ends; the benchmark's have up to 5,000
_NO_INSTANCE: Final = "That is no instance: check that the file is one object of instances or JSON lines."
_KEYS: Final = frozenset(("id", *KEYS, *OPTIONAL_KEYS))
_ESCAPE: Final = re.compile(  # a pair of surrogates, half of one, any other
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.S
)
_LONGEST_ESCAPE: Final = len(rb"\ud83d\ude00")
_BLANKED: Final = bytes.maketrans(b"\r\n", b"  ")

Event = tuple[str, Any]


def iter_raw(path: Path, max_value: int = MAX_VALUE) -> Iterator[tuple[str, object]]:
    """Instance ids and raw values in the order of the file.

    Parameters
    ----------
    path : Path
        A regular file.
    max_value : int
        Bytes of JSON that an instance may have, give or take a chunk of a megabyte. Memory is a small
        multiple of it at worst, and of a megabyte usually.

    Yields
    ------
    (str, object)
        Duplicate ids are not noticed here (ingest does), and a value may be anything that JSON
        can say (`parse_instance` looks at it).

    Raises
    ------
    StreamError
        With line and byte, if the file is not readable, is not the format above, is cut off, has half a
        surrogate pair, a number beyond 64 bits or a key twice, or holds no instance at all.
    """
    with Source(path) as source:
        yield from instances_in(source, max_value)
        source.check_unchanged()


def instances_in(source: Source, max_value: int = MAX_VALUE) -> Iterator[tuple[str, object]]:
    """The same from a source that is already open (ingest asks it for hash and progress)."""
    content = _Content(source, max_value)
    try:
        events = ijson.basic_parse(content, use_float=True, multiple_values=True)
        for event, _ in events:
            if event == "start_array":
                content.fail(
                    "holds a list, not an object", "Write {id: instance, ...}, or one object a line."
                )
            if event != "start_map":
                content.fail("holds a bare value, not an object", "Write {id: instance, ...}.")
            content.begun = True
            yield from _instances_of_object(content, events)
    except ijson.JSONError as error:
        content.fail_as(error)
    except UnicodeDecodeError as error:
        content.fail(f"is not UTF-8 text: {error.reason}", "Give JSON in UTF-8.")
    if content.instance is None:
        content.fail("holds no instance", "Give a file with at least one.")


def _instances_of_object(content: _Content, events: Iterator[Event]) -> Iterator[tuple[str, object]]:
    event, key = next(events)
    if event == "map_key" and key in _KEYS:
        first = next(events)
        second = next(events)
        events = chain((first, second), events)
        # An instance may be called like a key, "synthetic" say: then keys of the format follow within it.
        if not (first[0] == "start_map" and second[0] == "map_key" and second[1] in _KEYS):
            flat = _value(content, chain((("start_map", None), (event, key)), events))
            identity = flat.pop("id", None)
            if not isinstance(identity, str):
                content.fail(
                    f"has an instance whose id is {shown(identity)}",
                    'A line is {"id": "...", ...} or {"<id>": {...}}, the id being text.',
                )
            content.instance = identity
            yield identity, flat
            return
    while event == "map_key":
        content.instance = key
        yield key, _value(content, events)
        event, key = next(events)


def _value(content: _Content, events: Iterator[Event]) -> Any:
    """The value whose events come next."""
    content.inside = True
    content.mark()
    value: Any = None
    around: list[Any] = []  # the lists and objects that are open
    name = ""  # the last key
    for number, (event, scalar) in enumerate(events):
        if number > _MOST_EVENTS:
            content.fail(f"has more than {_MOST_EVENTS:,} values in it", _NO_INSTANCE)
        if event == "map_key":
            name = scalar
            if name in around[-1]:
                content.fail(f"has the key {shown(name)} twice in an object", "Keep one of them.")
            continue
        if event in ("end_map", "end_array"):
            value = around.pop()
        else:
            value = {} if event == "start_map" else [] if event == "start_array" else scalar
            if around and type(around[-1]) is dict:
                around[-1][name] = value
            elif around:
                around[-1].append(value)
            if event in ("start_map", "start_array"):
                around.append(value)
                if len(around) > _MOST_LEVELS:
                    content.fail("is nested too deeply", "An instance has three levels.")
        if not around:
            break
    content.inside = False
    content.mark()
    return value


class _Content:
    """The bytes that ijson reads, and where in the file they are."""

    def __init__(self, source: Source, max_value: int) -> None:
        self.source = source
        self.max_value = max_value
        self.begun = False  # whether there was an object
        self.instance: str | None = None  # the last one begun,
        self.inside = False  # and whether it is still being read: both for messages
        self._chunks = iter(source)
        self._piece = b""  # the last that was read, and where it begins
        self._byte, self._line = 0, 1
        self._rest = b""  # an escape that may go on in the next chunk
        self._marked = 0
        self._ended = False

    def mark(self) -> None:
        """A value begins or ends about here."""
        self._marked = self._byte if self.inside else self._byte + len(self._piece)

    def read(self, size: int = -1) -> bytes:
        """The next piece, of whatever size, without an escape cut in two."""
        if not size:  # ijson asks whether these are bytes
            return b""
        self._line += self._piece.count(b"\n")
        self._byte += len(self._piece)
        if self._byte - self._marked > self.max_value:
            self._piece = b""
            self.fail(
                f"has a value of more than {self.max_value:,} bytes",
                _NO_INSTANCE,
            )
        chunk = next(self._chunks, b"")
        data = self._rest + chunk
        self._ended = not data
        if not self._byte and data.startswith(codecs.BOM_UTF8):
            self._byte, data = len(codecs.BOM_UTF8), data[len(codecs.BOM_UTF8) :]
        self._piece, whole = data, len(data)
        for escape in _ESCAPE.finditer(data):
            if chunk and escape.end() > len(data) - _LONGEST_ESCAPE:
                whole = escape.start()
                break
            if escape[1]:
                self.fail(
                    f"has half of a surrogate pair, \\{escape[1].decode()}", "Fix it there.", escape.start()
                )
        if chunk and whole == len(data) and data.endswith(b"\\"):
            whole -= 1  # an escape of which only the backslash is there
        self._piece, self._rest = data[:whole], data[whole:]
        return self._piece or (self.read() if chunk else b"")

    def fail_as(self, error: ijson.JSONError) -> NoReturn:
        """Raise what ijson found wrong, with the place, which only its picture of it tells."""
        if self._ended and not self.begun:
            self.fail("holds no instance", "Give a file with at least one.")
        if self._ended:
            self.fail("ends too early: the file is cut off", "Get the whole file.", len(self._piece))
        text = error.args[0]
        picture = (text if isinstance(text, bytes) else str(text).encode()).split(b"\n")
        reason = picture[0].decode(errors="replace").partition("error: ")[2].rstrip(".")
        shown_bytes = picture[1].strip(b" ") if len(picture) > 2 else b""  # 30 before the place, 30 after
        start = self._piece.translate(_BLANKED).find(shown_bytes)
        column = len(picture[1][: picture[2].find(b"^")].lstrip(b" ")) if start >= 0 and shown_bytes else 0
        problem, remedy = f"is not JSON: {reason}", "Give JSON in UTF-8, plain, gzip or zstd."
        if "UTF8" in reason:
            problem = f"is not UTF-8 text: {reason}"
        elif reason == "integer overflow":
            problem, remedy = "has an integer beyond 64 bits", "Write it as text."
        self.fail(problem, remedy, max(start, 0) + column)

    def fail(self, problem: str, remedy: str, at: int = 0) -> NoReturn:
        """Raise with the place, ``at`` bytes into the last piece."""
        line = self._line + self._piece.count(b"\n", 0, at)
        place = f"{self.source.path}, line {line}, byte {self._byte + at}"
        if self.instance is not None:
            place += f" ({'in' if self.inside else 'after'} instance {shown(self.instance)})"
        raise StreamError(place, problem, remedy) from None
