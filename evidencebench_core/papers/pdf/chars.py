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

UNREADABLE: Final = "\ufffd"
"""Stands for a character whose font does not say what it is."""

_REMEDY: Final = "Open it in a PDF viewer and print it to a new PDF, or paste the text."
_MAX_PAGES: Final = 200  # more than any paper has; a proceedings volume or a book is no paper
_MAX_PAGE_EDGE: Final = 14_400.0  # points; ISO 32000-1, annex C
_WORD_GAP: Final = 0.13  # ems; TeX has no spaces and shrinks them to 0.2, it kerns up to 0.1
_QUARTER_TURNS: Final = {1: (0.0, -1.0, 1.0, 0.0), 2: (-1.0, 0.0, 0.0, -1.0), 3: (0.0, 1.0, -1.0, 0.0)}

_SUBSET: Final = re.compile(r"^[A-Z]{6}\+|\+[0-9a-f]{2}$")  # "HBEMOE+Times-Bold"
_BOLD: Final = re.compile(r"bold|black|heavy|demi|semib|s?s?bx\d|medi\b|[-,.]bd?$|-b[if]?o?$", re.I)
_ITALIC: Final = re.compile(r"ital|oblique|slant|(?:bx|ss|cm|sf)ti\d|[-,.](?:b?i|it|obl)$", re.I)
# Fonts of signs whose codes are those of letters and digits: "P 5 0.03" for "P = 0.03".
_SIGNS: Final = re.compile(r"math.*pi(?:-|$)|mathpi|MT2SY|^Adv.*(?:sym|smpi|4C4E)|universal.*pi", re.I)
_ACCENTS: Final = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a",
    "˝": "\u030b", "ˇ": "\u030c", "¯": "\u0304",
}  # fmt: skip
_STROKES: Final = frozenset("−-_\ufffd")
# Signs that a file draws as one over another.
_DRAWN_TOGETHER: Final = {
    "+−": "±", "+-": "±", "+_": "±", "<−": "≤", "<_": "≤", ">−": "≥", ">_": "≥", "c\ufffd": "©",
}  # fmt: skip


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
    page: int = 0


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


@dataclass(slots=True)
class _Glyph:
    text: str
    x0: float
    x1: float
    y: float
    style: _Style
    spaced: bool


def open_document(content: bytes, place: str) -> pypdfium2.PdfDocument:
    """A file with pages, and not with too many; `PaperError` for anything else."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        problems = {
            pdfium.FPDF_ERR_PASSWORD: "is encrypted and asks for a password",
            pdfium.FPDF_ERR_SECURITY: "is encrypted in a way that cannot be read here",
        }
        problem = problems.get(error.err_code, "cannot be read as PDF: it is damaged, or no PDF")
        raise PaperError(place, problem, _REMEDY) from error
    n_pages = len(document)
    if n_pages < 1:
        raise PaperError(place, "has no pages", _REMEDY)
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
    width, height = min(right - x0, _MAX_PAGE_EDGE), min(top - y0, _MAX_PAGE_EDGE)
    turns = handle.get_rotation() // 90
    if turns in _QUARTER_TURNS:
        # pdfium measures glyphs along the x axis only, so the page's content itself is turned.
        a, b, c, d = _QUARTER_TURNS[turns]
        e = (x0 + width if turns == 2 else 0.0) + (y0 + height if turns == 3 else -y0 if turns == 1 else 0.0)
        f = (x0 + width if turns == 1 else -x0 if turns == 3 else 0.0) + (y0 + height if turns == 2 else 0.0)
        pdfium.FPDFPage_TransFormWithClip(handle, pdfium.FS_MATRIX(a, b, c, d, e, f), None)
        width, height = (height, width) if turns != 2 else (width, height)
        handle.set_rotation(0)
        handle.set_mediabox(0, 0, width, height)
        handle.set_cropbox(0, 0, width, height)
        handle.close()
        handle, x0, y0 = document[number], 0.0, 0.0
    page = Page(number, width, height)
    text = pdfium.FPDFText_LoadPage(handle)
    if text:
        _collect_words(page, _combined(list(_glyphs(page, text, x0, y0))))
        pdfium.FPDFText_ClosePage(text)
    page.rules = _rules(handle, x0, y0)
    handle.close()
    return page


def _collect_words(page: Page, glyphs: list[_Glyph]) -> None:
    """Put characters together to words, as far as the file sets them without a gap."""
    latest: _Glyph | None = None
    for glyph in glyphs:
        style = glyph.style
        word = page.words[-1] if page.words and latest is not None else None
        in_ligature = latest is not None and (latest.x0, latest.y) == (glyph.x0, glyph.y)
        latest = glyph
        if (
            word is not None
            and not glyph.spaced
            and (in_ligature or -0.3 * style.size < glyph.x0 - word.x1 < _WORD_GAP * style.size)
            and abs(word.y - glyph.y) < 0.05 * style.size
            and word.font == style.font
            and abs(word.size - style.size) < 0.05 * style.size
        ):
            word.text += glyph.text
            word.x1 = glyph.x1
        elif glyph.x0 >= -1 and glyph.x1 <= page.width + 1 and -1 <= glyph.y <= page.height + 1:
            look = (style.size, style.font, style.bold, style.italic)
            page.words.append(Word(glyph.text, glyph.x0, glyph.x1, glyph.y, *look, glyph.spaced, page.number))
        else:
            latest = None


def _glyphs(page: Page, text: Any, left: float, foot: float) -> Iterator[_Glyph]:
    """The upright characters of a page, in the order of the file."""
    x, y, box = ctypes.c_double(), ctypes.c_double(), pdfium.FS_RECTF()
    styles: dict[int, _Style] = {}
    widths: dict[tuple[str, int], float] = {}
    previous = (0.0, 0.0)
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
        if character.isspace():
            spaced = True
            continue
        if not style.upright:
            page.n_turned += 1
            continue
        page.n_characters += 1
        page.n_unreadable += character == UNREADABLE
        pdfium.FPDFText_GetCharOrigin(text, i, x, y)
        pdfium.FPDFText_GetLooseCharBox(text, i, box)
        width = box.right - x.value
        if previous != (x.value, y.value):  # else a further letter of a ligature, which has its box
            advance = _advance(style, code, widths)
            # The loose box is wider where ink overhangs, as of an italic f.
            width = advance if 0 < advance > width - 0.35 * style.size else width
        previous = (x.value, y.value)
        yield _Glyph(character, x.value - left, x.value - left + width, y.value - foot, style, spaced)
        spaced = False


def _character(text: Any, i: int, code: int, style: _Style) -> str:
    if code == 0xAD or (code == 2 and pdfium.FPDFText_IsHyphen(text, i) == 1):
        return "-"  # one that is drawn
    character = chr(code) if code < 0x110000 else UNREADABLE
    if (style.has_signs and code < 0x100) or pdfium.FPDFText_HasUnicodeMapError(text, i) == 1:
        return UNREADABLE
    if not character.isascii() or not character.isprintable():
        return UNREADABLE if unicodedata.category(character) in ("Cc", "Co", "Cn", "Cs") else character
    return character


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
    is_bold = (
        _BOLD.search(name) is not None
        or pdfium.FPDFText_GetFontWeight(text, i) >= 600
        or flags.value & 1 << 18  # ForceBold
        or pdfium.FPDFTextObj_GetTextRenderMode(item) == 2
    )
    return _Style(
        font=name,
        bold=bool(is_bold),
        italic=_ITALIC.search(name) is not None or bool(flags.value & 1 << 6),
        has_signs=_SIGNS.search(name) is not None,
        handle=pdfium.FPDFTextObj_GetFont(item),
        size=size * matrix.d,
        stretch=size * matrix.a,
        upright=size * matrix.d > 1 and matrix.a > 0 and abs(matrix.b) < 0.05 * matrix.a,
    )


def _combined(glyphs: list[_Glyph]) -> list[_Glyph]:
    """The same with what is drawn over another character put on it: accents, and ± of + and -."""
    rows: dict[int, list[_Glyph]] = defaultdict(list)
    for glyph in glyphs:
        rows[round(glyph.y / 10)].append(glyph)
    drawn: set[int] = set()
    for mark in glyphs:
        if mark.text not in _ACCENTS and mark.text not in _STROKES:
            continue
        middle, row = (mark.x0 + mark.x1) / 2, round(mark.y / 10)
        for base in (*rows[row], *rows[row - 1], *rows[row + 1]):
            both = _DRAWN_TOGETHER.get(base.text + mark.text, "")
            if mark.text in _ACCENTS and base.text.isalpha():
                both = unicodedata.normalize("NFC", base.text + _ACCENTS[mark.text])
            is_over = abs(base.y - mark.y) < 0.8 * mark.style.size and base.x0 <= middle <= base.x1
            if len(both) == 1 and is_over:
                base.text, base.spaced = both, base.spaced or mark.spaced
                drawn.add(id(mark))
                break
    return [glyph for glyph in glyphs if id(glyph) not in drawn]


def _rules(handle: pypdfium2.PdfPage, left: float, foot: float) -> list[Rule]:
    """The flat paths of a page."""
    boxes = (item.get_bounds() for item in handle.get_objects([pdfium.FPDF_PAGEOBJ_PATH], max_depth=8))
    return [
        Rule(x0 - left, x1 - left, (y0 + y1) / 2 - foot)
        for x0, y0, x1, y1 in boxes
        if y1 - y0 <= 3.0 and x1 - x0 > 12.0
    ]
