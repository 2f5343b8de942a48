"""PDF to `Paper`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import RawPaper, paper_of_blocks
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.pdf.assembly import assembly_of
from evidencebench_core.papers.pdf.body import body_of
from evidencebench_core.papers.pdf.chunk import chunks
from evidencebench_core.papers.pdf.columns import Column, columns, gutters
from evidencebench_core.papers.pdf.doubts import doubts_of
from evidencebench_core.papers.pdf.floats import without_floats
from evidencebench_core.papers.pdf.furniture import without_furniture, without_line_numbers, without_margins
from evidencebench_core.papers.pdf.glyphs import OpenedPdf, opened_pdf
from evidencebench_core.papers.pdf.page import Line, Page, fragments
from evidencebench_core.papers.pdf.places import sentence_boxes
from evidencebench_core.papers.pdf.running_text import Words

_FEWEST_CHARACTERS: Final = 60  # a page below has no text to speak of
_UNREADABLE: Final = 0.3


def paper_of_pdf(content: bytes, place: str = "the PDF") -> Paper:
    """The paper in a PDF file with a text layer.

    Columns are read one after the other; running headers, footers, page and line numbers, tables, figures,
    footnotes and references are left out and counted; words broken at line ends are joined. Scripts and
    actions in the file are never looked at.

    Raises
    ------
    PaperError
        If the file cannot be read, has no text, or passes a limit.
    """
    opened = opened_pdf(content, place)
    notes = _readability(opened, place)
    left_out: Counter[str] = Counter()
    columns, floats = _columns(opened.pages, left_out)
    body = body_of([column.lines for column in columns])
    words = Words(line.text for column in columns for line in column.lines)
    result = assembly_of(chunks(columns, body), opened.title, body, words)
    left_out += result.left_out
    paper = paper_of_blocks(RawPaper(result.blocks, result.title, left_out, notes, has_parts=True), "pdf")
    paper = replace(paper, boxes=sentence_boxes(paper, result, {page.number: page for page in opened.pages}))
    in_text = chain(result.title_lines, *result.lines)
    tabular = (line for line in floats if not (body.looks(line) and len(line.words) > 5))
    doubts = doubts_of(paper, opened.pages, columns, in_text, chain(result.aside, tabular), body)
    return replace(paper, doubts=doubts)


def _columns(pages: Sequence[Page], left_out: Counter[str]) -> tuple[list[Column], list[Line]]:
    """The columns of all pages in reading order, and the lines of tables and figures, which are not in them."""
    lines = [without_line_numbers(fragments(page.words)) for page in pages]
    lines, n_furniture = without_furniture(pages, lines, body_of(lines))
    left_out["headers and footers"] += n_furniture + sum(page.counts.artifacts > 0 for page in pages)
    body = body_of(lines)
    lines, left_out["notes in the margin"] = without_margins(pages, lines, body)
    known = [gutters(found) for found in lines]
    expected = list(chain.from_iterable(known))
    result: list[Column] = []
    floats: list[Line] = []
    for page, found, own in zip(pages, lines, known, strict=True):
        rest, counts = without_floats(page, found, own or gutters(found, expected), body)
        left_out.update(counts)
        floats += set(found).difference(rest)
        result += columns(rest, page.number, expected)
    return result, floats


def _readability(opened: OpenedPdf, place: str) -> list[str]:
    """Notes about pages without text; an error where no page has any."""
    pages = opened.pages
    n_all = sum(page.counts.characters for page in pages)
    n_unreadable = sum(page.counts.unreadable for page in pages)
    unknown = n_all == n_unreadable and any(page.counts.strings and not page.counts.turned for page in pages)
    if unknown or (n_unreadable > _UNREADABLE * n_all and n_unreadable > _FEWEST_CHARACTERS):
        problem = "has text in fonts that do not say which letters they show"
        remedy = "Run OCR on it first (for example ocrmypdf --force-ocr), or paste the text."
        raise PaperError(place, problem, remedy)
    blank = [page for page in pages if page.counts.characters < _FEWEST_CHARACTERS]
    pictures = [page.number for page in blank if page.counts.pictures]
    if len(blank) == len(pages) or n_all < _FEWEST_CHARACTERS:
        problem = "has pictures of pages, no text" if pictures else "has no text"
        raise PaperError(place, problem, "Run OCR first (for example ocrmypdf), or paste the text.")
    cut = [page.number for page in pages if page.counts.is_cut]
    notes = {
        "Pages without text, only pictures, are left out": pictures,
        "Pages that are damaged are left out": opened.broken,
        "Pages with too many drawings were read in part only": cut,
    }
    return [f"{note}: {', '.join(str(n + 1) for n in where)}." for note, where in notes.items() if where]
