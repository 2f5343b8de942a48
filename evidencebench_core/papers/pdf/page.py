"""What stands on a page: words with their places and fonts, and horizontal rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
    """What was met beside words that are kept."""

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
