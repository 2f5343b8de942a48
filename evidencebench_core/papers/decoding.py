"""Bytes of a text file into text."""

from __future__ import annotations

import codecs
from typing import Final

from evidencebench_core.errors import PaperError

__all__ = ["decoded"]

_MARKS: Final = (  # the longer ones first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_STRAY: Final = 4  # control characters that a pasted text may bring along
_CONTROLS: Final = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1c\x1d\x1e")


def decoded(content: bytes, place: str) -> tuple[str, tuple[str, ...]]:
    """Text of a file, and notes on how it was read.

    UTF-8, or what its byte order mark says; what is neither is read as Windows-1252, which has a letter
    for almost every byte.

    Raises
    ------
    PaperError
        For a file that is no text: more than one in a hundred is a control character.
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), None) or _unmarked(content)
    notes: tuple[str, ...] = ()
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as broken:
        if encoding != "utf-8":
            raise PaperError(
                place, f"is no {encoding} text ({broken.reason})", "Save it as UTF-8."
            ) from broken
        text = content.decode("cp1252", errors="replace")
        notes = ("The file is not in UTF-8; it was read as Windows-1252, so some letters may be wrong.",)
    sample = text[:100_000]
    if sum(ord(character) in _CONTROLS for character in sample) > max(_STRAY, len(sample) // 100):
        raise PaperError(
            place, "is no text", "Give JATS XML, BioC, PDF, DOCX, Markdown or plain text, or paste the text."
        )
    return text, notes


def _unmarked(content: bytes) -> str:
    """UTF-16 without a mark has a zero in every other byte of Latin text."""
    head = content[:2000]
    half = max(1, len(head) // 2)
    if head[1::2].count(0) > half * 0.6 and not head[0::2].count(0) > half * 0.2:
        return "utf-16-le"
    if head[0::2].count(0) > half * 0.6 and not head[1::2].count(0) > half * 0.2:
        return "utf-16-be"
    return "utf-8"
