"""Lists of indices as models write them: between brackets, in JSON, or bare on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from evidencebench_core.llm.indices import NUMBER_WORDS, Indices, indices_in

LIST: Final = re.compile(r"\[([^\[\]]*+)\]")
_BETWEEN: Final = re.compile(r"[ \t]*(?:(?:,|;|and|und|et|y|&)[ \t]*)?", re.IGNORECASE)
_BETWEEN_SINGLE: Final = re.compile(r"[ \t]*(?:\([^()\[\]\n]{0,80}\))?[ \t]*[,;]?[ \t]*\n?[ \t]*")
_NOTHING: Final = re.compile(
    r"[\s\"'`*_(){}.:=-]*(?:(?:there (?:is|are) )?(?:none|no|not any|not a single)"
    r"(?: of (?:the|these))?(?: (?:relevant|suitable|direct|strong|clear|such|single))*"
    r"(?: (?:sentences?|selections?|indices|evidence|list|results?|one))?"
    r"(?: (?:is|are|was|were|found|selected|chosen|relevant|applies|apply|qualifies|qualify|available|here"
    r"|in (?:the|this) (?:paper|section)))*"
    r"|(?:the )?(?:list is )?empty(?: list| set)?|null|nil|nothing|n/?a|zero|∅"
    r"|keine?|aucune?|ninguna?|nenhuma?|无|無|なし|нет|없음|لا شيء)[\s\"'`*_(){}.!]*",
    re.IGNORECASE,
)
# A line without brackets that is nothing but numbers: "3, 5 and 7-9", "sentences three and seven".
_BARE: Final = re.compile(
    r"(?:[\s,;()\[\]{}<>$\"'`*_.#&\\-]|–|—|\d+|and|to|und|et|y|sentences?|phrases?|frases?|sätze|satz|句子|句"
    r"|index|indices|idx|no\b|id|s(?=\d)"
    rf"|(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?![a-z])|:(?=[ \t]*[\d\[]))*+",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_EXPLAINED: Final = re.compile(  # "3 (the effect)", "Sentence 7: its size"
    r"[\s*_`\"'{<]*+(?:(?:and|und|et|y)\s+)?(?:(?:sentences?|index|idx|s|#)\s*+)?[*_`]*+\d{1,9}[*_`]*+"
    r"(?:\s*+[-–—]\s*+\d{1,9})?+[*_`]*+\s*+(?:\([^()]*+\)\s*+|[:–—][^\d].*)?[.}>*_`\"'\s]*",
    re.IGNORECASE,
)
_OUTSIDE: Final = re.compile(r"[,;](?![^(]*\))")  # a comma that is not in parentheses
_NO_MORE: Final = re.compile(r"[ \t]*(?:[,;.(]|\n|$)")
_LONG_LINE: Final = 2_000  # characters of a line that may explain itself
_TRIED: Final = 50  # lists looked at after one DECISION


def from_line(line: str) -> Indices | None:
    """``3, 5 and 7``, ``Sentence 3 (the effect), Sentence 7``, ``none``; ``None`` if the line is prose."""
    line = line.strip()
    if len(line) < 80 and _NOTHING.fullmatch(line):
        return Indices()
    if "[" in line or not _NUMBER.search(line):
        return None
    if only_numbers(line):
        chosen = indices_in(line.strip(" \t\r.*_`(){}<>$\\"))
        return chosen if chosen.is_list and not chosen.n_others else None
    if len(line) > _LONG_LINE or not all(map(_EXPLAINED.fullmatch, _OUTSIDE.split(line))):
        return None
    chosen = indices_in(line)
    return chosen if chosen.is_list else None


def only_numbers(text: str) -> bool:
    """Whether a text is nothing but numbers and what stands between them."""
    return _BARE.fullmatch(text) is not None


def from_json(text: str, start: int, end: int) -> Indices | None:
    """A list or an object that is JSON and more than plain numbers: objects, texts, lists within."""
    if text[start] == "[" and text[start + 1 : start + 40].lstrip()[:1] not in ("{", '"', "["):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:end])
    except (ValueError, RecursionError):
        return None
    return Indices.of_json(value)


def lists_in(text: str, start: int, end: int) -> Iterator[tuple[int, int, Indices]]:
    """Lists of indices; neighbours such as ``[3], [5]`` are one."""
    tried, position = 0, start
    while tried < _TRIED and (match := LIST.search(text, position, end)):
        tried, position = tried + 1, match.end()
        chosen = from_brackets(match[1])
        if chosen is None:
            continue
        together = [chosen]
        while after := _neighbour(text, position, end, together[-1]):
            together.append(after[1])
            position = after[0]
        yield match.start(), position, Indices.joined(together)


def _neighbour(text: str, start: int, end: int, before: Indices) -> tuple[int, Indices] | None:
    """The list right behind another, and where it ends."""
    gap = _BETWEEN.match(text, start, end)
    if gap and (after := LIST.match(text, gap.end(), end)):
        more = from_brackets(after[1])
        return None if more is None else (after.end(), more)
    gap = _BETWEEN_SINGLE.match(text, start, end)  # "[3] (the effect), [7] (its size)", or one a line
    after = LIST.match(text, gap.end(), end) if gap and before.is_single else None
    if after is None or not _NO_MORE.match(text, after.end(), end):
        return None
    more = from_brackets(after[1])
    return (after.end(), more) if more is not None and more.is_single else None


def from_brackets(inside: str) -> Indices | None:
    """The text between two brackets, unless it is prose."""
    if not inside.strip("\\ \t\r\n,`*\"'") or (len(inside) < 80 and _NOTHING.fullmatch(inside)):
        return Indices()
    chosen = indices_in(inside)
    return chosen if chosen.is_list else None
