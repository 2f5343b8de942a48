"""The text between the brackets of a selection -> numbers and ranges, and the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = 9  # numbers of more digits are no sentence of any paper
_FEW: Final = 10_000  # a range up to this long is walked through

_PLAIN_NUMBERS: Final = re.compile(r"[\d\s,]*+")
_NUMBER: Final = r"([+-]?\d++)(?:\.0++(?!\d))?"
_PREFIX: Final = (
    r"(?:(?:sentences?|sent|index|indices|indexes|idx|ids?|nos?|numbers?|nr|line|item|satz|sätze|phrases?|句子|句|文|第|s|i)"
    r"(?![a-z])[\s.:=#_-]*|[#\"'`*_\[(<{$\s\\]+)*+"
)
_ITEM: Final = re.compile(
    rf"{_PREFIX}(?<![\d.]){_NUMBER}[\"'`*_\])>}}$\s\\]*+(?:(?:to|bis|through|–|—|−|-|\.\.+|~)\s*{_PREFIX}{_NUMBER})?(.*)",
    re.IGNORECASE | re.DOTALL,
)
_REST: Final = re.compile(r"[\s\"'`*_\])>}$.;\\句文号번]*(?:[:(–—=|].*|-\s.*|\s(?=\S).*)?", re.DOTALL)
_GROUP: Final = re.compile(r"\s*\(\s*\d{1,9}(?:\s*,\s*\d{1,9})++\s*\)\s*")
_EXPLAINED: Final = re.compile(r"[^\w]*(?:[A-Za-z]+\s*)?\d+[\s\"'`*_]*[:–—][^\d]")
_WORDY: Final = re.compile(r"\s*(?:\d[\d.]*%?\s+)?[^\W\d][^:–—]*")
_COMMENT: Final = re.compile(r"(?://|#\s)[^\n]*")  # to the end of a line, as in code
_THOUSANDS: Final = re.compile(r"\b(\d{1,3}),(0\d\d)\b")  # no index begins with a nought
_DIGITS_ONLY: Final = re.compile(r"\s*\d{1,9}\s*")
_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {word: number for number, word in enumerate(_UNITS.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), start=2)
}
NUMBER_WORDS: Final = tuple(_WORDS)
_OF_OBJECT: Final = (
    "index",
    "sentence_index",
    "sentenceindex",
    "idx",
    "id",
    "sentence_id",
    "sentence",
    "number",
)
_LISTS_OF_OBJECT: Final = (
    *("decision", "final_decision", "indices", "indexes", "sentence_indices", "selected_indices"),
    *("selected_sentences", "selection", "selected", "sentences", "answer", "final_answer", "result"),
)


@dataclass(frozen=True, slots=True)
class Indices:
    """Numbers in order, as inclusive ranges, and how many elements were no number.

    ``is_list`` is false if so little is a number that the brackets hold prose.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    n_others: int = 0

    @property
    def is_list(self) -> bool:
        return len(self.ranges) > 0 and self.n_others <= len(self.ranges)

    @property
    def is_single(self) -> bool:
        """Whether it is one number and nothing else."""
        return len(self.ranges) == 1 and self.ranges[0][0] == self.ranges[0][1] and not self.n_others

    @classmethod
    def joined(cls, parts: Iterable[Indices]) -> Indices:
        """All elements of several lists, one list after the other."""
        every = tuple(parts)
        ranges = tuple(one for part in every for one in part.ranges)
        return cls(ranges, sum(part.n_others for part in every))

    def among(self, shown: Collection[int], shift: int = 0) -> tuple[tuple[int, ...], int]:
        """Those that were shown, each once, in the order given; and how many elements were not."""
        found: dict[int, None] = {}
        n_unknown, in_order = self.n_others, None
        for low, high in self.ranges:
            start, stop = low + shift, high + shift + 1
            if stop - start <= _FEW:
                hits = [index for index in range(start, stop) if index in shown]
            else:
                in_order = sorted(shown) if in_order is None else in_order
                hits = [index for index in in_order if start <= index < stop]
            n_unknown += stop - start - len(hits)
            found.update(dict.fromkeys(hits))
        return tuple(found), n_unknown

    @classmethod
    def of_json(cls, value: object) -> Indices | None:
        """From decoded JSON: numbers, texts, and objects that name an index. ``None`` if none is in it."""
        found = cls(*_walked(value))
        return found if found.is_list else None


def indices_in(text: str) -> Indices:
    """The elements of a list such as ``3, "5", index 7, 9-12, twelve``."""
    if ",0" in text:
        text = _THOUSANDS.sub(r"\1\2", text)
    if "\n" in text:
        text = _COMMENT.sub("", text)
    if _PLAIN_NUMBERS.fullmatch(text) and "\n" not in text:
        elements: Iterator[str] | list[str] = text.replace(",", " ").split()
    else:
        elements = _elements(text)
    ranges: list[tuple[int, int]] = []
    n_others, explained = 0, None
    for element in elements:
        if explained is None and element.strip():
            explained = _EXPLAINED.match(element) is not None
        if explained and _WORDY.fullmatch(element):
            continue  # the explanation goes on: "3: a dose of 12 mg, 5 times a day"
        found = _range(element)
        group = _GROUP.fullmatch(element)
        if group is not None:  # "(3, 7)" among others
            ranges.extend((int(number),) * 2 for number in re.findall(r"\d{1,9}", element))
        elif found is not None:
            ranges.append(found)
        elif element.strip(" \t\r\n\"'`*_\\."):
            n_others += 1
    return Indices(tuple(ranges), n_others)


def _range(element: str) -> tuple[int, int] | None:
    if element.isdecimal() and element.isascii():
        return (int(element),) * 2 if len(element) <= _DIGITS else None
    match = _ITEM.match(element)
    if match is None:
        word = _word(element)
        return None if word is None else (word, word)
    first, last, rest = match[1], match[2], match[3]
    if len(first) > _DIGITS or (last and len(last) > _DIGITS) or not _REST.fullmatch(rest):
        return None
    low = int(first)
    if last is None or (rest[:1] == " " and rest[1:2].isalpha() and " - " in element):
        return low, low  # "3 - 12 mg a day"
    high = int(last)
    return (low, high) if low <= high else None


def _word(element: str) -> int | None:
    parts = re.findall(r"[a-z]+", element.lower()[:60])
    parts = [part for part in parts if part not in ("sentence", "index", "number")]
    if not 1 <= len(parts) <= 2 or any(part not in _WORDS for part in parts):
        return None
    numbers = [_WORDS[part] for part in parts]
    if len(numbers) == 1:
        return numbers[0]
    return sum(numbers) if numbers[0] >= 20 and 1 <= numbers[1] <= 9 else None


_CUT: Final = re.compile(r"[,;\n\"'`(){}|&]| (?:and|or|plus|then|und|et|y|и|\+) ")
_CLOSING: Final = {"(": ")", "{": "}"}


def _elements(text: str) -> Iterator[str]:
    """Split at commas, semicolons and line ends that are neither quoted nor in parentheses."""
    start, closers, quote = 0, [], ""
    for match in _CUT.finditer(text):
        mark, position = match[0], match.start()
        if quote:
            if mark == quote:
                quote = ""
        elif mark in "\"'`":
            if not text[start:position].strip():  # else an apostrophe or the like
                quote = mark if text.find(mark, position + 1, position + 2_000) >= 0 else ""
        elif mark in _CLOSING:
            closers.append(_CLOSING[mark])
        elif mark in ")}":
            if closers and closers[-1] == mark:
                closers.pop()
        elif not closers:
            yield text[start:position]
            start = match.end()
    yield text[start:]


def _walked(value: object) -> tuple[tuple[tuple[int, int], ...], int]:
    ranges: list[tuple[int, int]] = []
    n_others, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, dict):
            by_name = {str(name).lower(): inner for name, inner in one.items()}
            named = [by_name[name] for name in (*_OF_OBJECT, *_LISTS_OF_OBJECT) if name in by_name][:1]
            if not named and all(_DIGITS_ONLY.fullmatch(name) for name in by_name):
                named = [list(by_name)]  # {"3": "why", "7": "why"}
            waiting.extend(named)
            n_others += not named
        elif isinstance(one, (int, float)) and not isinstance(one, bool) and one == one // 1:
            ranges.append((int(one),) * 2)
        elif isinstance(one, str) and (found := _range(one.strip())) is not None:
            ranges.append(found)
        else:
            n_others += 1
    return tuple(ranges), n_others
