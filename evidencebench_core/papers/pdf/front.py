"""The title of a paper, and where its abstract begins and ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from evidencebench_core.data.sections import class_of_heading, is_aside
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.chunk import Chunk
from evidencebench_core.papers.pdf.roles import Role

_FILE_NAME: Final = re.compile(
    r"\.(?:docx?|pdf|indd|qxd|tex|dvi|rtf|odt|ps|html?)\b|^untitled|^microsoft word|^slide \d", re.I
)
_ARTICLE_KIND: Final = re.compile(
    r"(?:original|research|review|short|brief|case|clinical|open|full|regular|special|rapid)?\s*"
    r"(?:article|report|paper|communication|access|research|review|study|investigation|letter)s?",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"(?:abstract|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary)\s*(?:[.:—–-]+\s*|\s+(?=[A-Z]))", re.IGNORECASE
)
_LONGEST_ABSTRACT: Final = 650  # words, labels and all


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def title_chunks(chunks: Sequence[Chunk], stated: str, body: Body) -> list[Chunk]:
    """The chunks on the first page that are the title.

    What the document information says, if it stands on the page; else the largest letters that are more
    than a journal's name; else the first bold lines.
    """
    first = [chunk for chunk in chunks if chunk.column.page == 0]
    if len(stated.split()) > 2 and not _FILE_NAME.search(stated):
        wanted = _letters(stated)
        for i in range(len(first)):
            for n in (1, 2, 3):
                if _letters("".join(chunk.text for chunk in first[i : i + n])) == wanted:
                    return first[i : i + n]
    candidates = {
        i: chunk
        for i, chunk in enumerate(first)
        if chunk.n_words >= 3
        and len(chunk.lines) <= 8
        and class_of_heading(chunk.text) is None
        and not _ARTICLE_KIND.fullmatch(chunk.text.strip())
        and not is_aside(chunk.text)
    }
    start = max(candidates, key=lambda i: candidates[i].size, default=None)  # the first of the largest
    if start is None or first[start].size <= 1.12 * body.size:
        return [chunk for chunk in candidates.values() if chunk.bold > 0.9 and not body.bold][:1]
    size, end = first[start].size, start + 1
    while end < len(first) and abs(first[end].size - size) < 0.3:
        if not 0 < first[end - 1].lines[-1].y - first[end].lines[0].y < 2.2 * size:
            break
        end += 1
    return first[start:end]


def abstract_label(text: str) -> int:
    """How many characters of a paragraph are the word "Abstract" before it; 0 without it."""
    found = _LABEL.match(text)
    return found.end() if found and not text[found.end() :][:1].islower() else 0


def end_of_abstract(chunks: Sequence[Chunk], roles: Sequence[Role], start: int, body: Body) -> int:
    """Index of the first chunk that is no longer of the abstract, which begins at `start`.

    Labels of a structured abstract are headings of chapters too ("Methods"), so: if text stands directly below
    "Abstract", the next heading ends it; otherwise it goes on through its conclusion.
    """
    through = _end_of_structured(chunks, roles, start) if roles[start : start + 1] == ["heading"] else None
    n_words = 0
    opening: Chunk | None = None
    for index in range(start, len(chunks)):
        chunk, role = chunks[index], roles[index]
        else_set = opening is not None and role == "text" and _looks_else(opening, chunk, body)
        ends = role == "heading" or is_aside(chunk.text) or else_set if through is None else index >= through
        opening = opening or (chunk if role == "text" else None)
        n_words += chunk.n_words
        if ends or n_words > _LONGEST_ABSTRACT:
            return index
    return max(start, len(chunks))


def _end_of_structured(chunks: Sequence[Chunk], roles: Sequence[Role], start: int) -> int | None:
    """Where an abstract with labels above its parts ends: below the text of its conclusion."""
    n_words, concluded, texts = 0, False, 0
    for index in range(start, len(chunks)):
        chunk, role = chunks[index], roles[index]
        if is_aside(chunk.text):
            return index if texts else None
        if role == "heading":
            if concluded:
                return index
            concluded = class_of_heading(chunk.text) == "conclusion"
        elif role == "text":
            texts += 1
            n_words += chunk.n_words
        if n_words > _LONGEST_ABSTRACT:
            return None
    return None


def _looks_else(opening: Chunk, chunk: Chunk, body: Body) -> bool:
    """Whether a chunk below the abstract's first one is set differently."""
    above, own = opening.lines[-1], chunk.lines[0]
    if abs(opening.size - chunk.size) > 0.04 * opening.size:
        return True
    if (opening.bold > 0.9) != (chunk.bold > 0.9) or above.style[0] != own.style[0]:
        # A label within the abstract may be bold; all of the chunk being so, or nothing of it, is a change.
        return opening.bold > 0.9 or opening.italic > 0.9 or body.looks(own) != body.looks(above)
    same_column = opening.column is chunk.column
    return same_column and abs(opening.left - chunk.left) > 1.2 * chunk.size
