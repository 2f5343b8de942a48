"""The reasons that an answer gives for single sentences."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_LONGEST: Final = 1_000  # characters kept of a sentence's reasons

# "12: why", "- **Sentence 12** - why", "[3, 5]: why", "| 12 | why |"; "1. First ..." is a step, not a sentence.
_OWN_LINE: Final = re.compile(
    r"^[ \t>*#•·_`|-]*+(?:(sentences?|index|indices|idx)[ \t*_`]*|([\[(#])[ \t]*)?"
    r"(\d{1,7}(?:(?:,| and |&|, and)[ \t]*\d{1,7})*+)[ \t]*[\])]?[ \t*_`]*"
    r"(:|[–—|]|-(?=[ \t])|\.(?=[ \t])|\)(?=[ \t]))[ \t*_`]*"
    r"(\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_MENTION: Final = re.compile(r"(?:sentences?|index|idx|#|\[|\()[ \t]*(\d{1,7})\b", re.IGNORECASE)
_DECISION: Final = re.compile(r"^[ \t>*#_`\"'{]*+decision\b[^\n]*", re.IGNORECASE | re.MULTILINE)


def reasoning_in(text: str, indices: Collection[int], shift: int = 0) -> dict[int, str]:
    """The lines about each index; those of which nothing is said are left out."""
    wanted = {index + shift: index for index in indices}
    lines: dict[int, dict[str, None]] = {}
    for match in _OWN_LINE.finditer(text):
        named, bracket, numbers, mark, said = match.groups()
        if mark in (".", ")") and not (named or bracket):
            continue
        for number in re.findall(r"\d+", numbers):
            if (index := wanted.get(int(number))) is not None:
                lines.setdefault(index, {}).setdefault(said.strip(" \t\r|")[:_LONGEST])
    missing = {number: index for number, index in wanted.items() if index not in lines}
    if missing:
        decisions = [(match.start(), match.end()) for match in _DECISION.finditer(text)]
        for match in _MENTION.finditer(text):
            index = missing.get(int(match[1]))
            if index is None or index in lines or _within(decisions, match.start()):
                continue
            lines[index] = {_line_at(text, match.start()): None}
    return {index: "\n".join(lines[index])[:_LONGEST] for index in indices if index in lines}


def _within(spans: list[tuple[int, int]], position: int) -> bool:
    from bisect import bisect_right

    place = bisect_right(spans, (position, position)) - 1
    return place >= 0 and spans[place][0] <= position < spans[place][1]


def _line_at(text: str, position: int) -> str:
    start = text.rfind("\n", max(0, position - _LONGEST), position) + 1 or max(0, position - _LONGEST)
    end = text.find("\n", position, position + _LONGEST)
    return text[start : end if end >= 0 else position + _LONGEST].strip()[:_LONGEST]
