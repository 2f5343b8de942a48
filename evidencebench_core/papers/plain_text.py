"""Plain text, also pasted text, to a `Paper`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import Final

from evidencebench_core.data.sections import class_of_heading, is_label, part_of_heading
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.outline import paper_of_outline
from evidencebench_core.papers.paper import Paper

_WRAPPED: Final = 120  # characters; no line of wrapped text is longer
_LONGEST_HEADING: Final = 180
_MOST_WORDS: Final = 24
_LETTERS: Final = 0.6  # of what is printed in a heading
_NUMBERED: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,4}\.)\s+[A-Z]\S*")
_ITEM: Final = re.compile(r"\s*(?:(?P<bullet>[-*•–▪◦])\s+|(?:\[\d{1,3}\]|\(?\d{1,3}[.)])\s+)(?=\S)")
_COLUMNS: Final = re.compile(r"\t|\s\|\s|\S {3,}(?=\S)")
_ENDS: Final = (".", ",", ";", ":", "?", "!")
_MARKS: Final = (  # the longer ones first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_STRAY: Final = 4  # control characters that a pasted text may bring along
_CONTROLS: Final = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1c\x1d\x1e")


def paper_of_text(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Paper:
    """The paper of a text file or of pasted text.

    A line of its own that is short and has no stop is a heading; blank lines part paragraphs; wrapped
    lines are joined. The title is the first line, the abstract what stands under "Abstract".
    """
    text, notes = decoded_text(content, name or "the text")
    pieces, n_tables = _pieces(text)
    return paper_of_outline(pieces, "text", limits, left_out={"tables": n_tables}, notes=notes)


def decoded_text(content: bytes, place: str) -> tuple[str, tuple[str, ...]]:
    """Text of a file, and notes on how it was read; `PaperError` for a file that is no text.

    UTF-8, or what its byte order mark says; what is neither is read as Windows-1252, which has a letter
    for almost every byte. In a text at most one character in a hundred is a control character.
    """
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), None)
    encoding = marked or _unmarked_encoding(content)
    notes: tuple[str, ...] = ()
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as broken:
        if encoding != "utf-8":
            problem = f"is no {encoding} text ({broken.reason})"
            raise PaperError(place, problem, "Save it as UTF-8.") from broken
        text = content.decode("cp1252", errors="replace")
        notes = ("The file is not in UTF-8; it was read as Windows-1252, so some letters may be wrong.",)
    sample = text[:100_000]
    if sum(ord(character) in _CONTROLS for character in sample) > max(_STRAY, len(sample) // 100):
        remedy = "Give JATS XML, BioC, PDF, DOCX, Markdown or plain text, or paste the text."
        raise PaperError(place, "is no text", remedy)
    return text, notes


def _unmarked_encoding(content: bytes) -> str:
    """UTF-16 without a mark has a zero in every other byte of Latin text."""
    head = content[:2000]
    half = max(1, len(head) // 2)
    even, odd = head[0::2].count(0) / half, head[1::2].count(0) / half
    if odd > 0.6 and even <= 0.2:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 and odd <= 0.2 else "utf-8"


def _pieces(text: str) -> tuple[list[Block], int]:
    """Headings and paragraphs, and how many tables were left out."""
    words = frozenset(re.findall(r"[a-z]+(?:-[a-z]+)*", text.lower()))
    pieces: list[Block] = []
    n_tables = 0
    for group in _groups(text):
        if len(group) > 1 and sum(len(_COLUMNS.findall(line)) >= 2 for line in group) >= len(group) / 2:
            n_tables += 1
        else:
            pieces += _pieces_of_group(group, words)
    return pieces, n_tables


def _groups(text: str) -> Iterator[list[str]]:
    """Lines that stand together, without blank ones."""
    group: list[str] = []
    for line in re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text):
        if line.strip():
            group.append(line.strip() if "\t" not in line else line)
        elif group:
            yield group
            group = []
    if group:
        yield group


def _pieces_of_group(lines: Sequence[str], words: frozenset[str]) -> Iterator[Block]:
    if len(lines) == 1:
        line = lines[0].strip()
        yield Block("heading" if _is_lone_heading(line) else "paragraph", _without_bullet(line))
        return
    wrapped = max(map(len, lines)) <= _WRAPPED
    running: list[str] = []
    for number, line in enumerate(lines):
        heads = _is_main_heading(line) or (number == 0 and not wrapped and _is_lone_heading(line))
        if (heads or not wrapped or _ITEM.match(line)) and running:
            yield Block("paragraph", _unwrap(running, words))
            running = []
        if heads:
            yield Block("heading", line.strip())
        else:
            running.append(_without_bullet(line))
    if running:
        yield Block("paragraph", _unwrap(running, words))


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


def _unwrap(lines: Sequence[str], words: frozenset[str]) -> str:
    """Wrapped lines as one; a hyphen at a line's end goes where the joined word stands elsewhere in the text."""
    text = lines[0]
    for line in lines[1:]:
        broken = re.search(r"([A-Za-z]+)-$", text.rstrip())
        rest = re.match(r"\s*([a-z]+)", line)
        if broken and rest:
            whole = (broken[1] + rest[1]).lower()
            text = text.rstrip()[: None if whole not in words else -1] + line.lstrip()
        else:
            text = f"{text} {line}"
    return text
