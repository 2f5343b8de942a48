"""How many entries a list of references has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from evidencebench_core.papers.pdf.chunk import Chunk

_NUMBER: Final = re.compile(r"[\[(]?(\d{1,3})[\]).]?\s*(?=[^\W\d_])")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")


def n_references(chunks: Sequence[Chunk]) -> int:
    """The number of entries: by their numbers, else by hanging indents, else by paragraphs with a year."""
    texts = [line.text for chunk in chunks for line in chunk.lines]
    numbered = 0
    for text in texts:
        found = _NUMBER.match(text)
        step = 3 if numbered else 1  # one may be hidden within a line
        if found and 0 < int(found[1]) - numbered <= step:
            numbered = int(found[1])
    if numbered >= 3 or (numbered and numbered >= len(texts) / 4):
        return numbered
    hanging, indented = 0, 0
    for chunk in chunks:
        left = min(line.x0 for line in chunk.column.lines)
        for line in chunk.lines:
            out = line.x0 - left < 0.4 * line.size
            hanging += out
            indented += not out
    if hanging and indented >= 0.4 * hanging:
        return hanging
    paragraphs = sum(_YEAR.search(chunk.text) is not None for chunk in chunks)
    ends = sum(text.rstrip().endswith(".") and _YEAR.search(text) is not None for text in texts)
    return max(paragraphs, ends)


def start_of_references(chunks: Sequence[Chunk]) -> int:
    """Index of the chunk where a list of references without a heading begins; past the end without one.

    Such a list is at least five entries in the last two thirds that begin with their numbers and have years.
    """
    for start in range(len(chunks) // 3, len(chunks)):
        first = _NUMBER.match(chunks[start].lines[0].text)
        if first is None or first[1] != "1":
            continue
        texts = [line.text for chunk in chunks[start:] for line in chunk.lines]
        numbers = [int(found[1]) for text in texts if (found := _NUMBER.match(text))]
        following = sum(n in numbers for n in range(1, 6))
        if following == 5 and sum(map(bool, map(_YEAR.search, texts))) >= len(texts) / 5:
            return start
    return len(chunks)
