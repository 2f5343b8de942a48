"""Plain text, also pasted text, to blocks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, RawPaper
from evidencebench_core.papers.headings import is_label, part_of_heading
from evidencebench_core.papers.hyphens import Words, joined_lines

_WRAPPED: Final = 120  # characters; no line of wrapped text is longer
_LONGEST_HEADING: Final = 180
_MOST_WORDS: Final = 24
_LETTERS: Final = 0.6  # of what is printed in a heading
_NUMBERED: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,4}\.)\s+[A-Z]\S*")
_ITEM: Final = re.compile(r"\s*(?:(?P<bullet>[-*•–▪◦])\s+|(?:\[\d{1,3}\]|\(?\d{1,3}[.)])\s+)(?=\S)")
_COLUMNS: Final = re.compile(r"\t|\s\|\s|\S {3,}(?=\S)")
_ENDS: Final = (".", ",", ";", ":", "?", "!")
_STRAY: Final = 4  # control characters that a pasted text may bring along
_CONTROLS: Final = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1c\x1d\x1e")


def read_text(content: bytes, place: str) -> RawPaper:
    """The blocks of a text file or of pasted text: blank lines part paragraphs, wrapped lines are joined."""
    text, notes = decoded_text(content, place)
    words = Words(text.splitlines())
    blocks: list[Block] = []
    n_tables = 0
    for group in _groups(text):
        if len(group) > 1 and sum(len(_COLUMNS.findall(line)) >= 2 for line in group) >= len(group) / 2:
            n_tables += 1
        else:
            blocks += _blocks_of_group(group, words)
    return RawPaper(blocks, left_out={"tables": n_tables}, notes=list(notes))


def decoded_text(content: bytes, place: str) -> tuple[str, tuple[str, ...]]:
    """Text decoded from UTF-8, UTF-16 with its mark or else Windows-1252, and notes on that; else `PaperError`."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    notes: tuple[str, ...] = ()
    try:
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
        notes = ("The file is not in UTF-8; it was read as Windows-1252, so some letters may be wrong.",)
    sample = text[:100_000]
    if sum(ord(character) in _CONTROLS for character in sample) > max(_STRAY, len(sample) // 100):
        remedy = "Give JATS XML, PDF, DOCX, Markdown or plain text, or paste the text."
        raise PaperError(place, "is not text", remedy)
    return text, notes


def _groups(text: str) -> Iterator[list[str]]:
    """Lines that stand together, without blank ones."""
    lines = re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text)
    for is_printed, group in groupby(lines, key=lambda line: bool(line.strip())):
        if is_printed:
            yield [line if "\t" in line else line.strip() for line in group]


def _blocks_of_group(lines: Sequence[str], words: Words) -> Iterator[Block]:
    if len(lines) == 1:
        line = lines[0].strip()
        yield Block("heading" if _is_lone_heading(line) else "paragraph", _without_bullet(line))
        return
    wrapped = max(map(len, lines)) <= _WRAPPED
    running: list[str] = []
    for number, line in enumerate(lines):
        heads = _is_main_heading(line) or (number == 0 and not wrapped and _is_lone_heading(line))
        if (heads or not wrapped or _ITEM.match(line)) and running:
            yield Block("paragraph", joined_lines(running, words)[0])
            running = []
        if heads:
            yield Block("heading", line.strip())
        else:
            running.append(_without_bullet(line))
    if running:
        yield Block("paragraph", joined_lines(running, words)[0])


def _is_main_heading(line: str) -> bool:
    """A heading wherever it stands: "Methods", "2. Results", "References"."""
    line = line.strip()
    if not line[:1].isupper() and not _NUMBERED.match(line):
        return False
    if line.endswith((".", ",", ";", "?", "!")):
        return False
    return class_of_heading(line) is not None or part_of_heading(line) != "body"


def _is_lone_heading(line: str) -> bool:
    """A short line without a stop, alone between blank lines."""
    if _is_main_heading(line) or (is_label(line) and line[:1].isupper()):
        return True
    n_words = len(line.split())
    if len(line) > _LONGEST_HEADING or n_words > _MOST_WORDS or line.endswith(_ENDS):
        return False
    printed = "".join(line.split())
    mostly_letters = sum(map(str.isalpha, printed)) >= _LETTERS * len(printed)
    return mostly_letters and (line[0].isupper() or line[0].isdigit())


def _without_bullet(line: str) -> str:
    item = _ITEM.match(line)
    return line[item.end() :] if item and item["bullet"] else line
