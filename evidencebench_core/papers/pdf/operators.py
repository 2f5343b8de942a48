"""The operators of a page's content stream, read without building objects.

pypdf's own reader of content streams makes an object of every number, which takes half of the time of
an import; of a page we want the text and the rules (table lines), so most of them are not needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["Operand", "operators"]

Operand = float | bytes | str | list["float | bytes"]

# Syntax of ISO 32000-1, 7.2 and 7.3. Possessive quantifiers: no input makes the scan take quadratic time.
# Strings with deeper parentheses than one level are finished by hand.
_TOKEN: Final = re.compile(
    rb"[\0\t\n\f\r ]*+(?:"
    rb"([+-]?+(?:\d++\.?+\d*+|\.\d++)(?=[\0\t\n\f\r \[\]()<>/%]|$))"  # 1 number
    rb"|\(((?:[^()\\]|\\.)*+)\)"  # 2 string without parentheses inside
    rb"|<([0-9A-Fa-f\0\t\n\f\r ]*+)>"  # 3 hexadecimal string
    rb"|/([^\0\t\n\f\r ()<>\[\]{}/%]*+)"  # 4 name
    rb"|(\[)|(\])"  # 5, 6 array
    rb"|(\()"  # 7 string with parentheses inside, or without an end
    rb"|(<<|>>|[<>{})])"  # 8 dictionaries and what has no business here
    rb"|(%[^\r\n]*+)"  # 9 comment
    rb"|([^\0\t\n\f\r \[\]()<>/%{}]++)"  # 10 operator
    rb")",
    re.DOTALL,
)
_NUMBER, _STRING, _HEXADECIMAL, _NAME, _ARRAY, _ARRAY_END, _OPEN_STRING = range(1, 8)
_OPERATOR: Final = 10
_VALUES: Final = frozenset({_NUMBER, _STRING, _HEXADECIMAL, _OPEN_STRING})
_ESCAPE: Final = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPED: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_LINE_ENDS: Final = frozenset({b"\r\n", b"\r", b"\n"})
_BRACKET: Final = re.compile(rb"\\.|[()]", re.DOTALL)
_INLINE_IMAGE_END: Final = re.compile(rb"[\0\t\n\f\r ]EI(?=[\0\t\n\f\r ]|$)")
_MOST_OPERANDS: Final = 64


def operators(stream: bytes) -> Iterator[tuple[bytes, list[Operand]]]:
    """Every operator of a content stream with the operands before it, in order.

    Parameters
    ----------
    stream : bytes
        Decoded content; anything that does not follow the syntax is passed over.

    Yields
    ------
    tuple of bytes and list
        Numbers as float, strings as bytes, names as str, arrays as lists of numbers and strings.
        Dictionaries come as the names and values in them. Inline images are passed over.
    """
    operands: list[Operand] = []
    array: list[float | bytes] | None = None
    position, end = 0, len(stream)
    while position < end:
        found = _TOKEN.match(stream, position)
        if found is None:
            position += 1
            continue
        position, kind = found.end(), found.lastindex
        if kind == _OPERATOR:
            operator = found[_OPERATOR]
            if operator == b"BI":
                image_end = _INLINE_IMAGE_END.search(stream, position)
                position = image_end.end() if image_end else end
            else:
                yield operator, operands
            operands, array = [], None
        elif kind == _ARRAY:
            array = []
        elif kind == _ARRAY_END:
            operands += [array] if array is not None else []
            array = None
        elif kind == _NAME:
            operands += [found[_NAME].decode("latin-1")] if array is None else []
        elif kind in _VALUES:
            value, position = _value(found, stream)
            if array is not None:
                array.append(value)
            elif len(operands) < _MOST_OPERANDS:
                operands.append(value)


def _value(found: re.Match[bytes], stream: bytes) -> tuple[float | bytes, int]:
    """A number or a string, and where what follows begins."""
    kind = found.lastindex
    if kind == _NUMBER:
        return float(found[_NUMBER]), found.end()
    if kind == _STRING:
        return _unescaped(found[_STRING]), found.end()
    if kind == _HEXADECIMAL:
        return _from_hexadecimal(found[_HEXADECIMAL]), found.end()
    raw, position = _nested_string(stream, found.end())
    return _unescaped(raw), position


def _unescaped(raw: bytes) -> bytes:
    return _ESCAPE.sub(_unescaped_one, raw) if b"\\" in raw else raw


def _unescaped_one(found: re.Match[bytes]) -> bytes:
    after = found[1]
    if after[0] in b"01234567":
        return bytes((int(after, 8) & 255,))
    return b"" if after in _LINE_ENDS else _ESCAPED.get(after, after)


def _from_hexadecimal(raw: bytes) -> bytes:
    digits = bytes(raw.translate(None, b"\0\t\n\f\r "))
    return bytes.fromhex((digits + b"0" if len(digits) % 2 else digits).decode("ascii"))


def _nested_string(stream: bytes, start: int) -> tuple[bytes, int]:
    """The string that began before `start` with its parentheses, and where what follows begins."""
    depth, position = 1, start
    for found in _BRACKET.finditer(stream, start):
        depth += {b"(": 1, b")": -1}.get(found[0], 0)
        position = found.end()
        if depth == 0:
            return stream[start : position - 1], position
    return stream[start:], len(stream)
