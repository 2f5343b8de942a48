"""Dataset file -> raw instances, one at a time, in bounded memory whatever the file's size.

What is read, all of it UTF-8 (a byte order mark is tolerated), plain, gzip or zstd:

- one JSON object of instances: ``{"<id>": {...}, "<id>": {...}}``
- JSON lines, each line either ``{"id": "<id>", ...the keys of the instance}`` or
  ``{"<id>": {...}}``. An object is taken for the first kind if its first key is ``id`` or one
  of the format's own keys. Lines may also be broken over several lines.

A window of bytes moves over the file. orjson decodes what lies before the brace that closes an
instance if no text in it has unpaired braces: no proper prefix of a JSON object is one, so if orjson
takes it, that was the end. Where it does not, the scanner of `json` decides and words the error.

ijson 3.6 cannot do this: it turns half a surrogate pair into another character, needs memory with
the square of the nesting (60,000 brackets, 3 GB), and its errors do not say where they are.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import orjson

from evidencebench_core.data.check import KEYS, OPTIONAL_KEYS
from evidencebench_core.data.source import Source
from evidencebench_core.errors import StreamError, shown

MAX_VALUE: Final = 64 << 20
_TAIL: Final = 16  # no token but a string is cut off further from the end: "-Infinity", "\\ud83d\\ude00"
_LOOK_AHEAD: Final = 4 << 10  # bytes, to see the first key of an object and that of its value
_BLANK: Final = re.compile(rb"[ \t\n\r]*")
_PLAIN_KEY: Final = re.compile(rb'"([^"\\\x00-\x1f\x80-\xff]*)"')
_KEY: Final = '"(?:' + "|".join(("id", *KEYS, *OPTIONAL_KEYS)) + ')"'
_FLAT: Final = re.compile(
    rf"{{\s*{_KEY}\s*:\s*+(?!{{\s*{_KEY})".encode()
)  # an instance may be called "synthetic"


def iter_raw(path: Path, max_value: int = MAX_VALUE) -> Iterator[tuple[str, object]]:
    """Instance ids and raw values in the order of the file.

    Parameters
    ----------
    path : Path
        A regular file.
    max_value : int
        The longest instance accepted, in bytes of JSON. Memory is a small multiple of it at
        worst, and of a megabyte usually.

    Yields
    ------
    (str, object)
        Duplicate ids are not noticed here (ingest does), and a value may be anything that JSON
        can say (`parse_instance` looks at it).

    Raises
    ------
    StreamError
        With line and byte, if the file is not readable, is not the format above, is cut off,
        has NaN or Infinity, or holds no instance at all.
    """
    with Source(path) as source:
        yield from instances_in(source, max_value)
        source.check_unchanged()


def instances_in(source: Source, max_value: int = MAX_VALUE) -> Iterator[tuple[str, object]]:
    """The same from a source that is already open (ingest asks it for hash and progress)."""
    window = _Window(source, max_value)
    if window.next_byte() == b"[":
        window.fail("holds a list, not an object", "Write {id: instance, ...}, or one object a line.")
    while window.next_byte():
        yield from _instances_of_object(window)
    if window.instance is None:
        window.fail("holds no instance", "Give a file with at least one.")


def _instances_of_object(window: _Window) -> Iterator[tuple[str, object]]:
    if window.is_flat():
        flat = cast("dict[str, Any]", window.value())
        identity = flat.pop("id", None)
        if not isinstance(identity, str):
            window.fail(
                f"stands right after an instance whose id is {shown(identity)}",
                'A line is {"id": "...", ...} or {"<id>": {...}}, the id being text.',
            )
        window.instance = identity
        yield identity, flat
        return
    window.take(b"{", "an object of instances")
    more = window.next_byte() != b"}"
    while more:
        key = window.key()
        window.take(b":", "':' after an instance id")
        window.instance, window.inside = key, True
        value = window.value()
        window.inside = False
        yield key, value
        more = window.next_byte() != b"}"
        if more:
            window.take(b",", "',' or '}' after an instance")
    window.take(b"}", "")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _integer(digits: str) -> int | float:
    """As orjson has it: what goes beyond 64 bits, which no key of the format can hold, is a float."""
    number = int(digits)
    return number if -(1 << 63) <= number < 1 << 64 else _finite_float(digits)


_decode: Final = json.JSONDecoder(
    parse_float=_finite_float, parse_int=_integer, parse_constant=_refuse_constant
).raw_decode


def _end_by_braces(data: bytes, start: int) -> int:
    """Where the object that begins at ``start`` ends if no text in it has unpaired braces; 0 if not here."""
    find = data.find
    depth, at = 1, start + 1
    opened = find(b"{", at)
    while (closed := find(b"}", at)) >= 0:
        while 0 <= opened < closed:
            depth += 1
            opened = find(b"{", opened + 1)
        depth -= 1
        at = closed + 1
        if not depth:
            return at
    return 0


class _Window:
    """The part of the content that is being looked at, and where in the file that is."""

    def __init__(self, source: Source, max_value: int) -> None:
        self.source = source
        self.max_value = max_value
        self.instance: str | None = None  # the last one begun,
        self.inside = False  # and whether it is still being read: both for messages
        self._chunks = iter(source)
        self._data = b""
        self._at = 0
        self._byte, self._line = 0, 1  # where the window begins in the content
        self._ended = False
        self._grow()
        if self._data.startswith(codecs.BOM_UTF8):
            self._at = len(codecs.BOM_UTF8)

    def _grow(self) -> bool:
        """Drop what is done with and read as much again as is left; False at the end."""
        self._byte += self._at
        self._line += self._data.count(b"\n", 0, self._at)
        parts = [self._data[self._at :]]
        self._at = 0
        n_left, n_new = len(parts[0]), 0
        if n_left > self.max_value:
            self._fail_long()
        while not self._ended and n_new <= n_left:
            parts.append(next(self._chunks, b""))
            n_new += len(parts[-1])
            self._ended = not parts[-1]
        self._data = b"".join(parts)
        return n_new > 0

    def next_byte(self) -> bytes:
        """Skip blanks; the byte that follows, or b"" at the end of the file."""
        while True:
            self._at = cast("re.Match[bytes]", _BLANK.match(self._data, self._at)).end()
            if self._at < len(self._data):
                return self._data[self._at : self._at + 1]
            if not self._grow():
                return b""

    def take(self, byte: bytes, what: str) -> None:
        there = self.next_byte()
        if not there:
            self._fail_cut_off()
        if there != byte:
            self.fail(f"has {self._next_text()} where {what} should be", "Check the JSON there.")
        self._at += 1

    def is_flat(self) -> bool:
        """Whether an instance with its own ``id`` comes next."""
        while len(self._data) - self._at < min(_LOOK_AHEAD, self.max_value) and self._grow():
            pass
        return _FLAT.match(self._data, self._at) is not None

    def key(self) -> str:
        """The string that comes next: an instance id."""
        if self.next_byte() not in (b'"', b""):
            self.fail(f"has {self._next_text()} where an instance id should be", "Ids are JSON strings.")
        if match := _PLAIN_KEY.match(self._data, self._at):
            self._at = match.end()
            return match[1].decode()
        return str(self._value_by_json())

    def value(self) -> object:
        """The JSON value that comes next."""
        if self.next_byte() == b"{":
            end = _end_by_braces(self._data, self._at)
            if not end and self._grow():
                end = _end_by_braces(self._data, self._at)
            try:
                value = orjson.loads(memoryview(self._data)[self._at : end])
            except orjson.JSONDecodeError:
                return self._value_by_json()
            self._move_to(end)
            return value
        return self._value_by_json()

    def _value_by_json(self) -> object:
        while True:
            text = self._text()
            try:
                value, end = _decode(text, 0)
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated")
                at_end = error.pos >= len(text) - _TAIL
                if (unfinished or at_end) and self._grow():
                    continue
                rest = text.rstrip()  # all there is
                if unfinished or error.pos >= len(rest) or (at_end and not rest.endswith("}")):
                    self._fail_cut_off()
                at = self._at + len(text[: error.pos].encode())
                self.fail(f"is not JSON: {error.msg[0].lower()}{error.msg[1:]}", "Fix it there.", at)
            except RecursionError:
                self.fail("is nested too deeply", "An instance has three levels.")
            except ValueError as error:  # NaN and Infinity, integers of thousands of digits
                self.fail(f"has a bad number: {error}", "Write a JSON number.")
            if end > len(text) - _TAIL and isinstance(value, int | float) and self._grow():
                continue  # the number may go on
            self._move_to(self._at + len(text[:end].encode()))
            return value

    def _move_to(self, end: int) -> None:
        if end - self._at > self.max_value:
            self._fail_long()
        self._at = end

    def _text(self) -> str:
        """The rest of the window as text."""
        data = self._data[self._at :]
        try:
            return codecs.utf_8_decode(data, "strict", self._ended)[0]
        except UnicodeDecodeError as error:
            self.fail(
                f"is not UTF-8 text: it has the byte {data[error.start]:#04x}",
                "Give JSON in UTF-8, plain, gzip or zstd.",
                self._at + error.start,
            )

    def fail(self, problem: str, remedy: str, at: int | None = None) -> NoReturn:
        at = self._at if at is None else at
        line = self._line + self._data.count(b"\n", 0, at)
        place = f"{self.source.path}, line {line}, byte {self._byte + at}"
        if self.instance is not None:
            place += f" ({'in' if self.inside else 'after'} instance {shown(self.instance)})"
        raise StreamError(place, problem, remedy) from None

    def _next_text(self) -> str:
        return shown(self._text()[:20])

    def _fail_cut_off(self) -> NoReturn:
        self.fail("ends too early: the file is cut off", "Get the whole file.", len(self._data))

    def _fail_long(self) -> NoReturn:
        self.fail(
            f"has a value of more than {self.max_value:,} bytes",
            "That is no instance: check that the file is one object of instances or JSON lines.",
        )
