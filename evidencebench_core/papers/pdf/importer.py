"""PDF to `Paper`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import paper_of_blocks
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.pdf.assembly import assembled
from evidencebench_core.papers.pdf.body import body_of
from evidencebench_core.papers.pdf.chunk import chunks
from evidencebench_core.papers.pdf.columns import Column, columns, gutters
from evidencebench_core.papers.pdf.floats import without_floats
from evidencebench_core.papers.pdf.furniture import without_furniture, without_line_numbers
from evidencebench_core.papers.pdf.glyphs import OpenedPdf, opened_pdf
from evidencebench_core.papers.pdf.line import fragments
from evidencebench_core.papers.pdf.mending import words_of
from evidencebench_core.papers.pdf.page import Page

__all__ = ["paper_of_pdf"]

_FEWEST_CHARACTERS: Final = 60  # a page below has no text to speak of
_UNREADABLE: Final = 0.3


def paper_of_pdf(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Paper:
    """The paper in a PDF file with a text layer.

    Columns are read one after the other; running headers, footers, page and line numbers, tables, figures,
    footnotes and references are left out and counted; words broken at line ends are mended. Scripts and
    actions in the file are never looked at.

    Parameters
    ----------
    content : bytes
    name : str
        For messages.
    limits : Limits

    Raises
    ------
    PaperError
        If the file cannot be read, has no text, or passes a limit.
    """
    place = name or "the PDF"
    limits.check_size(len(content), place)
    opened = opened_pdf(content, place)
    notes = _readability(opened, place)
    left_out: Counter[str] = Counter()
    page_columns = _columns(opened.pages, left_out)
    body = body_of([column.lines for column in page_columns])
    words = words_of(line.text for column in page_columns for line in column.lines)
    result = assembled(chunks(page_columns, body), opened.title, body, words)
    left_out += result.left_out
    return paper_of_blocks(result.blocks, result.title, left_out, notes, "pdf", limits=limits)


def _columns(pages: Sequence[Page], left_out: Counter[str]) -> list[Column]:
    """The columns of all pages in reading order, without what does not belong to the running text."""
    lines = [without_line_numbers(fragments(page.words))[0] for page in pages]
    lines, n_furniture = without_furniture(pages, lines, body_of(lines))
    left_out["headers and footers"] += n_furniture + sum(page.counts.artifacts > 0 for page in pages)
    body = body_of(lines)
    known = [gutters(found) for found in lines]
    expected = [gutter for found in known for gutter in found]
    result: list[Column] = []
    for page, found, own in zip(pages, lines, known, strict=True):
        rest, counts = without_floats(page, found, own or gutters(found, expected), body)
        left_out.update(counts)
        result += columns(rest, page.number, expected)
    return result


def _readability(opened: OpenedPdf, place: str) -> list[str]:
    """What to say about pages without text.

    Raises
    ------
    PaperError
        If there is no page with text that can be read.
    """
    pages = opened.pages
    n_all = sum(page.counts.characters for page in pages)
    n_unreadable = sum(page.counts.unreadable for page in pages)
    unknown = n_all == n_unreadable and any(page.counts.strings and not page.counts.turned for page in pages)
    if unknown or (n_unreadable > _UNREADABLE * n_all and n_unreadable > _FEWEST_CHARACTERS):
        raise PaperError(
            place,
            "has text in fonts that do not say which letters they show",
            "Run OCR on it first (for example ocrmypdf --force-ocr), or paste the text.",
        )
    blank = [page for page in pages if page.counts.characters < _FEWEST_CHARACTERS]
    pictures = [page for page in blank if page.counts.pictures]
    if len(blank) == len(pages) or n_all < _FEWEST_CHARACTERS:
        problem = "has pictures of pages, no text" if pictures else "has no text"
        raise PaperError(place, problem, "Run OCR first (for example ocrmypdf), or paste the text.")
    notes = []
    if pictures:
        notes.append(f"Pages without text, only pictures, are left out: {_numbers(pictures)}.")
    cut = [page for page in pages if page.counts.is_cut]
    if cut:
        notes.append(f"Pages with too many drawings were read in part only: {_numbers(cut)}.")
    return notes


def _numbers(pages: Sequence[Page]) -> str:
    return ", ".join(str(page.number + 1) for page in pages)
