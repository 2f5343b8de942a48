"""The content of a page: words with their places and fonts, lines of them, and horizontal rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Style = tuple[str, float, bool, bool]
"""Font, size to a tenth of a point, bold, italic."""

# In ems. A gap of one em separates columns in TeX's two-column layout; words stand closer.
_BREAK: Final = 0.9
_SPACE: Final = 0.13


UNREADABLE: Final = "\ufffd"
"""Stands for a character whose font does not say what it is."""


@dataclass(slots=True)
class Word:
    """Characters that the file sets without a gap, in points, upright, y upwards from the page's foot."""

    text: str
    x0: float
    x1: float
    y: float  # of the baseline
    size: float  # of the font as it looks on the page
    font: str  # its name, for telling fonts apart
    bold: bool
    italic: bool
    spaced: bool  # whether the file has a space before it
    page: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line: the frame of a table, a line above footnotes, the edge of a box."""

    x0: float
    x1: float
    y: float


@dataclass(slots=True)
class Counts:
    """Things met on a page beside its words."""

    characters: int = 0  # upright ones, spaces excepted
    unreadable: int = 0  # those whose font does not say what they are
    turned: int = 0  # set sideways, and left out: tables across, stamps in the margin
    artifacts: int = 0  # marked by the file as running headers or footers, and left out
    pictures: int = 0
    strings: int = 0  # pieces of text drawn, whether or not their characters are known
    is_cut: bool = False  # whether the page has more in it than is read of one page


@dataclass(frozen=True, slots=True)
class Page:
    """One page, upright; the origin is its lower left corner as a viewer shows it, and ``number`` counts from 0."""

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    counts: Counts


class Line:
    """Words that stand on one baseline, next to each other, super- and subscripts with them."""

    __slots__ = ("size", "text", "words", "x0", "x1", "y")

    def __init__(self, words: list[Word]) -> None:
        self.measure(words)

    def measure(self, words: list[Word]) -> None:
        """Take these words, and set what follows from them."""
        self.words = words
        main = max(self.words, key=lambda word: (word.size, len(word.text)))
        self.x0 = min(word.x0 for word in self.words)
        self.x1 = max(word.x1 for word in self.words)
        sizes: Counter[tuple[float, float]] = Counter()
        for word in self.words:
            sizes[round(word.size, 1), round(word.y, 1)] += len(word.text)
        (self.size, self.y), count = sizes.most_common(1)[0]
        if count < 3 and main.size <= 1.6 * self.size:
            self.size, self.y = round(main.size, 1), round(main.y, 1)
        self.text = _text(self.words)

    @property
    def style(self) -> Style:
        """Of most of its characters."""
        styles: Counter[Style] = Counter()
        for word in self.words:
            styles[word.font, round(word.size, 1), word.bold, word.italic] += len(word.text)
        return styles.most_common(1)[0][0]

    @property
    def bold(self) -> float:
        """Share of its characters that are bold."""
        return share(self.words, "bold")

    @property
    def italic(self) -> float:
        """Share of its characters that are italic."""
        return share(self.words, "italic")


def share(words: Sequence[Word], look: Literal["bold", "italic"]) -> float:
    """Share of the characters of words that are bold or italic."""
    marked = sum(len(word.text) for word in words if getattr(word, look))
    return marked / max(1, sum(len(word.text) for word in words))


def _text(words: list[Word]) -> str:
    parts: list[str] = []
    before: Word | None = None
    for word in words:
        if before and (word.spaced or word.x0 - before.x1 >= _SPACE * max(word.size, before.size)):
            parts.append(" ")
        parts.append(word.text)
        before = word
    return "".join(parts)


def fragments(words: Iterable[Word]) -> list[Line]:
    """Words joined as far as they are close together; what stands in two columns is never joined.

    Files give the words of a line in order, nearly always: what follows in the file and stands close to the
    right is joined, then what stands close on the page.
    """
    groups: list[list[Word]] = []
    x1 = y = size = 0.0
    for word in words:
        if groups:
            large, small = max(size, word.size), min(size, word.size)
            rise, gap = word.y - y, word.x0 - x1
            level = abs(rise) < 0.12 * large
            script = small < 0.87 * large and -0.45 * large < rise < 0.75 * large
            before = groups[-1][-1]
            if level and word.text == before.text and abs(word.x0 - before.x0) < 0.15 * large:
                continue  # drawn twice to look bold
            if (level or script) and -0.6 * large < gap < _BREAK * small:
                groups[-1].append(word)
                x1 = max(x1, word.x1)
                if word.size > 1.15 * size or (script and word.size > size):
                    y, size = word.y, word.size
                continue
        groups.append([word])
        x1, y, size = word.x1, word.y, word.size
    return merged_lines((Line(group) for group in groups), _BREAK)


def merged_lines(lines: Iterable[Line], widest: float) -> list[Line]:
    """Lines joined with those right of them on the same baseline, up to a gap of `widest` ems."""
    found: list[Line] = []
    for line in sorted(lines, key=lambda line: (-line.y, line.x0)):
        for other in reversed(found[-12:]):
            large, small = max(line.size, other.size), min(line.size, other.size)
            rise = line.y - other.y
            level = abs(rise) < 0.12 * large
            script = small < 0.87 * large and abs(rise) < 0.5 * large and widest <= 1.0
            gap = max(line.x0 - other.x1, other.x0 - line.x1)
            free = gap > -0.3 * large or not any(w.x0 < line.x1 and line.x0 < w.x1 for w in other.words)
            if (level or script) and free and gap < (widest if level else 0.25) * small:
                other.measure(sorted([*other.words, *line.words], key=lambda word: word.x0))
                break
        else:
            found.append(line)
    return sorted(found, key=lambda line: (-line.y, line.x0))
