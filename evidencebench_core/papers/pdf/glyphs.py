"""A PDF file through pdfium: its pages as words with their places and fonts, and horizontal rules.

pdfium is C++ and hostile files can crash it, so this module and `drawings` run in the child of `papers.child` only.
Scripts, launch actions, attached files and forms are never looked at.
"""

from __future__ import annotations

import ctypes
import unicodedata
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.pdf.drawings import rules_of
from evidencebench_core.papers.pdf.fonts import Font, font_of
from evidencebench_core.papers.pdf.page import UNREADABLE, Counts, Page, Word

REMEDY: Final = "Open it in a PDF viewer and print it to a new PDF, or paste the text."
_LOAD_ERRORS: Final = {
    pdfium.FPDF_ERR_PASSWORD: (
        "is encrypted and asks for a password",
        "Open it with its password and print it to a new PDF without one.",
    ),
    pdfium.FPDF_ERR_SECURITY: ("is encrypted in a way that cannot be read here", REMEDY),
}
_MOST_PAGES: Final = 200  # more than any paper has; a proceedings volume or a book is no paper
_LARGEST_PAGE: Final = 14_400.0  # points; ISO 32000-1, annex C
_MOST_WORDS: Final = 6_000
_MOST_CHARACTERS: Final = 60_000
_MOST_MARKS: Final = 1_000
_STROKES: Final = frozenset("−-_")
_UNDER_STROKES: Final = frozenset("+<>")
_OVER: Final = {"−+": "±", "-+": "±", "_+": "±", "−<": "≤", "_<": "≤", "−>": "≥", "_>": "≥", "○c": "©"}
_ACCENTS: Final = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a",
    "˝": "\u030b", "ˇ": "\u030c", "¯": "\u0304",
}  # fmt: skip
_OVERDRAWN: Final = frozenset({*_ACCENTS, *_STROKES, "○"})
# A gap that separates words, in ems. TeX has no spaces and shrinks them to 0.2; it kerns up to 0.1.
_WORD_GAP: Final = 0.13
_OVERLAP: Final = 0.3
_ZONE: Final = 0.15  # of the height of a page, where running headers and footers are marked as artifacts
_QUARTER_TURNS: Final = {1: (0.0, -1.0, 1.0, 0.0), 2: (-1.0, 0.0, 0.0, -1.0), 3: (0.0, 1.0, -1.0, 0.0)}


@dataclass(frozen=True, slots=True)
class OpenedPdf:
    """The pages of a file, the title in its document information, and the pages that could not be opened."""

    title: str
    pages: tuple[Page, ...]
    broken: tuple[int, ...]


_Fonts = dict[tuple[str, int], Font]


class _Run(NamedTuple):
    """Properties that the characters of one text object share."""

    font: Font
    handle: Any
    size: float  # as it looks on the page
    stretch: float  # width of an em on the page
    upright: bool
    artifact: bool
    bold: bool


@dataclass(slots=True)
class _Glyph:
    text: str
    x0: float
    x1: float
    y: float
    run: _Run
    spaced: bool


def document_of(content: bytes, place: str) -> pypdfium2.PdfDocument:
    """A file with pages, and not with too many."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        problem, remedy = _LOAD_ERRORS.get(
            error.err_code, ("cannot be read as PDF: it is damaged, or no PDF", REMEDY)
        )
        raise PaperError(place, problem, remedy) from error
    n_pages = len(document)
    if n_pages < 1:
        raise PaperError(place, "has no pages", REMEDY)
    if n_pages > _MOST_PAGES:
        problem = f"has {n_pages:,} pages, and at most {_MOST_PAGES} are read"
        raise PaperError(place, problem, "Give one paper alone: print its pages to a new PDF.")
    return document


def opened_pdf(content: bytes, place: str) -> OpenedPdf:
    """All pages of a file."""
    with document_of(content, place) as document:
        fonts: _Fonts = {}
        pages = {number: _page(document, number, fonts) for number in range(len(document))}
        broken = tuple(number for number, page in pages.items() if page is None)
        title = document.get_metadata_value("Title")[:2000].strip("\0 ")
        return OpenedPdf(title, tuple(filter(None, pages.values())), broken)


def _page(document: Any, number: int, fonts: _Fonts) -> Page | None:
    """One page, upright and with the origin at the lower left of what a viewer shows; None if it is broken."""
    try:
        handle = document[number]
    except pypdfium2.PdfiumError:
        return None
    x0, y0, right, top = handle.get_bbox()
    width, height = min(right - x0, _LARGEST_PAGE), min(top - y0, _LARGEST_PAGE)
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
    collected = _Collector(number, x0, y0, height, fonts)
    text = pdfium.FPDFText_LoadPage(handle)
    if text:
        collected.read_text(text)
        pdfium.FPDFText_ClosePage(text)
    rules = rules_of(handle, x0, y0, collected.counts)
    handle.close()

    def is_shown(word: Word) -> bool:
        return word.x0 >= -1 and word.x1 <= width + 1 and -1 <= word.y <= height + 1 and word.size > 1

    words = tuple(filter(is_shown, collected.words))
    return Page(number, width, height, words, rules, collected.counts)


class _Collector:
    """The words and counts of one page."""

    def __init__(self, number: int, x0: float, y0: float, height: float, fonts: _Fonts) -> None:
        self.number, self.x0, self.y0, self.height, self.fonts = number, x0, y0, height, fonts
        self.words: list[Word] = []
        self.counts = Counts()
        self.runs: dict[int, _Run] = {}

    def read_text(self, text: Any) -> None:
        """Put the characters together to words, as far as the file sets them without a gap."""
        latest: _Glyph | None = None
        for glyph in _with_accents(self._glyphs(text)):
            if len(self.words) > _MOST_WORDS:
                self.counts.is_cut = True
                break
            self._add(glyph, is_piece=latest is not None and (latest.x0, latest.y) == (glyph.x0, glyph.y))
            latest = glyph

    def _glyphs(self, text: Any) -> list[_Glyph]:
        """The upright characters of a page, marked headers and footers aside, in the order of the file."""
        x, y, box = ctypes.c_double(), ctypes.c_double(), pdfium.FS_RECTF()
        glyphs: list[_Glyph] = []
        spaced = False
        for i in range(pdfium.FPDFText_CountChars(text)):
            code = pdfium.FPDFText_GetUnicode(text, i)
            if code in (32, 10, 13) and (code == 32 or pdfium.FPDFText_IsGenerated(text, i) == 1):
                spaced |= pdfium.FPDFText_IsGenerated(text, i) != 1
                continue
            handle = pdfium.FPDFText_GetTextObject(text, i)
            if not handle:
                continue
            run = self.runs.get(ctypes.addressof(handle.contents)) or self._run(text, i, handle)
            character = self._character(text, i, code, run)
            if character.isspace():
                spaced = True
            elif not run.upright:
                self.counts.turned += 1
            elif len(glyphs) >= _MOST_CHARACTERS:
                self.counts.is_cut = True
                break
            else:
                pdfium.FPDFText_GetCharOrigin(text, i, x, y)
                pdfium.FPDFText_GetLooseCharBox(text, i, box)
                left, base = x.value - self.x0, y.value - self.y0
                if run.artifact and not _ZONE * self.height < base < (1 - _ZONE) * self.height:
                    self.counts.artifacts += 1
                    continue
                # Characters of one ligature have its origin and its box.
                piece = bool(glyphs) and (glyphs[-1].x0, glyphs[-1].y) == (left, base)
                loose = box.right - x.value
                width = loose if piece else self._advance(run, code, loose)
                glyphs.append(_Glyph(character, left, left + width, base, run, spaced))
                spaced = False
        self.counts.characters = len(glyphs)
        return glyphs

    def _add(self, glyph: _Glyph, *, is_piece: bool) -> None:
        word, run = (self.words[-1] if self.words else None), glyph.run
        if (
            word is not None
            and not glyph.spaced
            and (is_piece or -_OVERLAP * run.size < glyph.x0 - word.x1 < _WORD_GAP * run.size)
            and abs(word.y - glyph.y) < 0.05 * run.size
            and word.font == run.font.name
            and abs(word.size - run.size) < 0.05 * run.size
        ):
            word.text += glyph.text
            word.x1 = glyph.x1
        else:
            look = (run.size, run.font.name, run.bold, run.font.italic)
            self.words.append(Word(glyph.text, glyph.x0, glyph.x1, glyph.y, *look, glyph.spaced, self.number))

    def _character(self, text: Any, i: int, code: int, run: _Run) -> str:
        if code == 0xAD or (code == 2 and pdfium.FPDFText_IsHyphen(text, i) == 1):
            return "-"  # one that is drawn
        character = chr(code) if code < 0x110000 else UNREADABLE
        if character in run.font.symbols:
            character = run.font.symbols[character]
        elif pdfium.FPDFText_HasUnicodeMapError(text, i) == 1:
            character = UNREADABLE
        if not character.isascii() or not character.isprintable():
            if unicodedata.category(character) in ("Cc", "Co", "Cn", "Cs"):
                character = UNREADABLE
            self.counts.unreadable += character == UNREADABLE
        return character

    def _advance(self, run: _Run, code: int, loose: float) -> float:
        """How far a character moves the pen; its loose box is wider where ink overhangs, as of an italic f."""
        known = run.font.widths.get(code)
        if known is None:
            width = ctypes.c_float()
            done = pdfium.FPDFFont_GetGlyphWidth(run.handle, code, 1000.0, width)
            known = run.font.widths[code] = width.value / 1000 if done else 0.0
        advance = known * run.stretch
        return advance if advance > 0.0 and loose - advance < 0.35 * run.size else loose

    def _run(self, text: Any, i: int, handle: Any) -> _Run:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(text, i, matrix)
        a, b, d = matrix.a, matrix.b, matrix.d
        size = pdfium.FPDFText_GetFontSize(text, i)
        font = self._font(text, i)
        run = _Run(
            font,
            pdfium.FPDFTextObj_GetFont(handle),
            size * d,
            size * a,
            upright=size > 0 and a > 0 and abs(b) < 0.05 * a and d > 0,
            artifact=_is_artifact(handle),
            bold=font.bold or pdfium.FPDFTextObj_GetTextRenderMode(handle) == 2,
        )
        self.runs[ctypes.addressof(handle.contents)] = run
        return run

    def _font(self, text: Any, i: int) -> Font:
        buffer, flags = ctypes.create_string_buffer(256), ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(text, i, buffer, 256, flags)
        name, weight = buffer.value.decode("utf-8", "replace"), pdfium.FPDFText_GetFontWeight(text, i)
        key = (name, flags.value ^ weight << 32)
        if key not in self.fonts:
            self.fonts[key] = font_of(name, weight, flags.value)
        return self.fonts[key]


def _with_accents(glyphs: list[_Glyph]) -> list[_Glyph]:
    """The same with what is drawn over another character put on it: accents, before or behind it, and ± of + and -."""
    marks = [glyph for glyph in glyphs if glyph.text in _OVERDRAWN]
    operators = [glyph for glyph in glyphs if glyph.text in _UNDER_STROKES]
    taken: set[int] = set()
    for mark in marks[:_MOST_MARKS]:
        middle, near = (mark.x0 + mark.x1) / 2, 0.8 * mark.run.size
        for under in operators if mark.text in _STROKES else glyphs:
            if under is mark or abs(under.y - mark.y) > near or not under.x0 <= middle <= under.x1:
                continue
            both = _OVER.get(mark.text + under.text)
            if mark.text in _ACCENTS and under.text.isalpha():
                both = unicodedata.normalize("NFC", under.text + _ACCENTS[mark.text])
            if both and len(both) == 1:
                under.text, under.spaced = both, under.spaced or mark.spaced
                taken.add(id(mark))
                break
    return [glyph for glyph in glyphs if id(glyph) not in taken] if taken else glyphs


def _is_artifact(item: Any) -> bool:
    """Whether the file marks an object as none of its text; pdfium does not tell which kind of artifact."""
    for n in range(pdfium.FPDFPageObj_CountMarks(item)):
        buffer, size = (pdfium.FPDF_WCHAR * 64)(), ctypes.c_ulong()
        mark = pdfium.FPDFPageObj_GetMark(item, n)
        pdfium.FPDFPageObjMark_GetName(mark, buffer, ctypes.sizeof(buffer), size)
        if bytes(buffer)[: size.value].decode("utf-16-le", "replace").strip("\0") == "Artifact":
            return True
    return False
