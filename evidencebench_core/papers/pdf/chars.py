"""A PDF file through pdfium: its pages as words with their places and fonts, and horizontal rules.

pdfium is C++ and hostile files can crash it, so this module runs in the child of `papers.child` only.
Scripts, launch actions, attached files and forms are never looked at.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.hyphens import without_ligatures

UNREADABLE: Final = "\ufffd"
"""Stands for a character whose font does not say what it is."""

_REMEDY: Final = "Open it in a PDF viewer and print it to a new PDF, or paste the text."
_MAX_PAGES: Final = 200  # more than any paper has; a proceedings volume or a book is no paper
_WORD_GAP: Final = 0.13  # ems; TeX has no spaces and shrinks them to 0.2, it kerns up to 0.1

_SUBSET: Final = re.compile(r"^[A-Z]{6}\+|\+[0-9a-f]{2}$")  # "HBEMOE+Times-Bold"
_BOLD: Final = re.compile(r"bold|black|heavy|demi|semib|s?s?bx\d|medi\b|[-,.]bd?$|-b[if]?o?$", re.I)
_ITALIC: Final = re.compile(r"ital|oblique|slant|(?:bx|ss|cm|sf)ti\d|[-,.](?:b?i|it|obl)$", re.I)
# Fonts of signs whose codes are those of letters and digits: "P 5 0.03" for "P = 0.03".
_SIGNS: Final = re.compile(r"math.*pi(?:-|$)|mathpi|MT2SY|^Adv.*(?:sym|smpi|4C4E)|universal.*pi", re.I)
# Signs that a file draws over a letter or another sign.
_ACCENTS: Final = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a",
    "˝": "\u030b", "ˇ": "\u030c", "¯": "\u0304",
}  # fmt: skip
_STROKES: Final = {"+": "±", "<": "≤", ">": "≥"}  # with a line


@dataclass(slots=True)
class Word:
    """Characters that the file sets without a gap, in points, upright, y upwards from the page's foot."""

    text: str
    x0: float
    x1: float
    y: float  # of the baseline
    size: float  # of the font as it looks on the page
    font: str
    bold: bool
    italic: bool
    spaced: bool  # whether the file has a space before it
    page: Page


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line: the frame of a table, a line above footnotes, the edge of a box."""

    x0: float
    x1: float
    y: float


@dataclass(slots=True)
class Page:
    """One page, upright; the origin is its lower left corner as a viewer shows it, and ``number`` counts from 0."""

    number: int
    width: float
    height: float
    words: list[Word] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    n_characters: int = 0  # upright ones, spaces excepted
    n_unreadable: int = 0  # those whose font does not say what they are
    n_turned: int = 0  # set sideways, and left out: tables across, stamps in the margin


class _Style(NamedTuple):
    """What the characters of one text object share."""

    font: str
    bold: bool
    italic: bool
    has_signs: bool
    handle: Any
    size: float  # as it looks on the page
    stretch: float  # width of an em on the page
    upright: bool


def open_document(content: bytes, place: str) -> pypdfium2.PdfDocument:
    """A file with pages, and not with too many; else `PaperError`."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        problem = "cannot be read as PDF: it is damaged, or no PDF"
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            problem = "is encrypted and asks for a password"
        raise PaperError(place, problem, _REMEDY) from error
    n_pages = len(document)
    if n_pages > _MAX_PAGES:
        problem = f"has {n_pages:,} pages, and at most {_MAX_PAGES} are read"
        raise PaperError(place, problem, "Give one paper alone: print its pages to a new PDF.")
    return document


def pages_of(document: pypdfium2.PdfDocument) -> tuple[list[Page], list[int]]:
    """All pages, and the numbers of those that are damaged."""
    pages: list[Page] = []
    damaged: list[int] = []
    for number in range(len(document)):
        try:
            pages.append(_page(document, number))
        except pypdfium2.PdfiumError:
            damaged.append(number)
    return pages, damaged


def _page(document: pypdfium2.PdfDocument, number: int) -> Page:
    handle = document[number]
    x0, y0, right, top = handle.get_bbox()
    width, height = right - x0, top - y0
    angle = handle.get_rotation()
    if angle:
        # pdfium measures glyphs along the x axis only, so the page's content itself is turned.
        shift = {90: (0, width), 180: (width, height), 270: (height, 0)}[angle]
        turn = pypdfium2.PdfMatrix().translate(-x0, -y0).rotate(angle).translate(*shift)
        pdfium.FPDFPage_TransFormWithClip(handle, turn.to_raw(), None)
        width, height = (width, height) if angle == 180 else (height, width)
        handle.set_rotation(0)
        handle.set_mediabox(0, 0, width, height)
        handle.set_cropbox(0, 0, width, height)
        handle.close()
        handle, x0, y0 = document[number], 0.0, 0.0
    page = Page(number, width, height)
    page.words = _joined_letters(_combined(list(_letters(page, handle.get_textpage(), x0, y0))))
    page.rules = _rules(handle, x0, y0)
    handle.close()
    return page


def _joined_letters(letters: list[Word]) -> list[Word]:
    """Letters put together to words, as far as the file sets them without a gap."""
    words: list[Word] = []
    before: Word | None = None
    place = (0.0, 0.0)  # of the letter before
    for letter in letters:
        in_ligature = place == (letter.x0, letter.y)
        place = (letter.x0, letter.y)
        if (
            before is not None
            and not letter.spaced
            and (in_ligature or -0.3 * letter.size < letter.x0 - before.x1 < _WORD_GAP * letter.size)
            and abs(before.y - letter.y) < 0.05 * letter.size
            and before.font == letter.font
            and abs(before.size - letter.size) < 0.05 * letter.size
        ):
            before.text += letter.text
            before.x1 = letter.x1
        else:
            before = letter
            words.append(before)
    return words


def _letters(page: Page, text: Any, left: float, foot: float) -> Iterator[Word]:
    """The upright characters of a page, in the order of the file."""
    x, y, box = ctypes.c_double(), ctypes.c_double(), pdfium.FS_RECTF()
    styles: dict[int, _Style] = {}
    widths: dict[tuple[str, int], float] = {}
    place = (0.0, 0.0)
    spaced = False
    for i in range(pdfium.FPDFText_CountChars(text)):
        code = pdfium.FPDFText_GetUnicode(text, i)
        if code in (32, 10, 13) and (code == 32 or pdfium.FPDFText_IsGenerated(text, i) == 1):
            spaced |= pdfium.FPDFText_IsGenerated(text, i) != 1
            continue
        item = pdfium.FPDFText_GetTextObject(text, i)
        if not item:
            continue
        address = ctypes.addressof(item.contents)
        if address not in styles:
            styles[address] = _style(text, i, item)
        style = styles[address]
        character = _character(text, i, code, style)
        if not character or character.isspace():
            spaced |= bool(character)
            continue
        if not style.upright:
            page.n_turned += 1
            continue
        page.n_characters += 1
        page.n_unreadable += character == UNREADABLE
        pdfium.FPDFText_GetCharOrigin(text, i, x, y)
        pdfium.FPDFText_GetLooseCharBox(text, i, box)
        x0, x1, y0 = x.value - left, box.right - left, y.value - foot
        if place != (x0, y0):  # else a further letter of a ligature, which has its box
            # The loose box is wider than the pen moves where ink overhangs, as of an italic f.
            advance = _advance(style, code, widths)
            x1 = x0 + advance if 0 < advance > x1 - x0 - 0.35 * style.size else x1
        place = (x0, y0)
        if -1 <= x0 <= page.width + 1 and -1 <= y0 <= page.height + 1:
            appearance = (style.size, style.font, style.bold, style.italic)
            yield Word(character, x0, x1, y0, *appearance, spaced, page)
        spaced = False


def _character(text: Any, i: int, code: int, style: _Style) -> str:
    if code == 0xAD or (code == 2 and pdfium.FPDFText_IsHyphen(text, i) == 1):
        return "-"  # one that is drawn
    character = chr(code) if code < 0x110000 else UNREADABLE
    if (style.has_signs and code < 0x100) or pdfium.FPDFText_HasUnicodeMapError(text, i) == 1:
        return UNREADABLE
    category = unicodedata.category(character)
    if category == "Cf":
        return ""  # nothing to see
    return UNREADABLE if category in ("Cc", "Co", "Cn", "Cs") else without_ligatures(character)


def _advance(style: _Style, code: int, widths: dict[tuple[str, int], float]) -> float:
    """How far a character moves the pen."""
    key = (style.font, code)
    if key not in widths:
        width = ctypes.c_float()
        is_known = pdfium.FPDFFont_GetGlyphWidth(style.handle, code, 1000.0, width)
        widths[key] = width.value / 1000 if is_known else 0.0
    return widths[key] * style.stretch


def _style(text: Any, i: int, item: Any) -> _Style:
    matrix, buffer, flags = pdfium.FS_MATRIX(), ctypes.create_string_buffer(256), ctypes.c_int()
    pdfium.FPDFText_GetMatrix(text, i, matrix)
    pdfium.FPDFText_GetFontInfo(text, i, buffer, 256, flags)
    name = _SUBSET.sub("", buffer.value.decode("utf-8", "replace"))
    size = pdfium.FPDFText_GetFontSize(text, i)
    return _Style(
        font=name,
        bold=_BOLD.search(name) is not None or pdfium.FPDFText_GetFontWeight(text, i) >= 600,
        italic=_ITALIC.search(name) is not None or bool(flags.value & 1 << 6),
        has_signs=_SIGNS.search(name) is not None,
        handle=pdfium.FPDFTextObj_GetFont(item),
        size=size * matrix.d,
        stretch=size * matrix.a,
        upright=size * matrix.d > 1 and matrix.a > 0 and abs(matrix.b) < 0.05 * matrix.a,
    )


def _combined(letters: list[Word]) -> list[Word]:
    """The same with what is drawn over another character put on it: accents, and ± of + and -."""
    rows: dict[int, list[Word]] = defaultdict(list)
    for letter in letters:
        rows[round(letter.y / 10)].append(letter)
    drawn: set[int] = set()
    for mark in letters:
        if mark.text not in _ACCENTS and mark.text not in "−-_":
            continue
        middle, row = (mark.x0 + mark.x1) / 2, round(mark.y / 10)
        for base in (*rows[row], *rows[row - 1], *rows[row + 1]):
            if mark.text in _ACCENTS:
                both = unicodedata.normalize("NFC", base.text + _ACCENTS[mark.text])
            else:
                both = _STROKES.get(base.text, "")
            is_over = abs(base.y - mark.y) < 0.8 * mark.size and base.x0 <= middle <= base.x1
            if is_over and len(both) == 1:
                base.text, base.spaced = both, base.spaced or mark.spaced
                drawn.add(id(mark))
                break
    return [letter for letter in letters if id(letter) not in drawn]


def _rules(handle: pypdfium2.PdfPage, left: float, foot: float) -> list[Rule]:
    """The flat paths of a page."""
    boxes = (item.get_bounds() for item in handle.get_objects([pdfium.FPDF_PAGEOBJ_PATH], max_depth=8))
    return [
        Rule(x0 - left, x1 - left, (y0 + y1) / 2 - foot)
        for x0, y0, x1, y1 in boxes
        if y1 - y0 <= 3.0 and x1 - x0 > 12.0
    ]
