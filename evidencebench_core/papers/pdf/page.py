"""What stands on a page: words with their places and fonts, and horizontal rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNREADABLE: Final = "\ufffd"
"""Stands for a character whose font does not say what it is."""


@dataclass(slots=True)
class Word:
    """Characters that the file sets without a gap, in points, upright, y upwards from the page's foot.

    Attributes
    ----------
    text : str
    x0, x1 : float
        Left and right edge.
    y : float
        Baseline.
    size : float
        Of the font as it looks on the page.
    font : str
        Name, for telling fonts apart.
    bold, italic : bool
    spaced : bool
        Whether the file has a space before it.
    page : int
        Number of its page, from 0.
    """

    text: str
    x0: float
    x1: float
    y: float
    size: float
    font: str
    bold: bool
    italic: bool
    spaced: bool
    page: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line: the frame of a table, a line above footnotes, the edge of a box."""

    x0: float
    x1: float
    y: float


@dataclass(slots=True)
class Counts:
    """What was met beside words that are kept.

    Attributes
    ----------
    characters : int
        Upright ones, spaces excepted.
    unreadable : int
        Those whose font does not say what they are.
    turned : int
        Set sideways, and left out: tables across, stamps in the margin.
    artifacts : int
        Marked by the file as running headers or footers, and left out.
    pictures : int
        Images drawn.
    strings : int
        Pieces of text drawn, whether or not their characters are known.
    is_cut : bool
        Whether the page has more in it than is read of one page.
    """

    characters: int = 0
    unreadable: int = 0
    turned: int = 0
    artifacts: int = 0
    pictures: int = 0
    strings: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes
    ----------
    number : int
        From 0.
    width, height : float
        In points.
    words : tuple of Word
        In the order of the file.
    rules : tuple of Rule
    counts : Counts
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    rules: tuple[Rule, ...]
    counts: Counts
