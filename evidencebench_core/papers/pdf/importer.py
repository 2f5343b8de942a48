"""PDF to `Paper`: chars -> lines -> columns -> blocks -> roles, and where the result is doubtful."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import RawPaper, paper_of_blocks
from evidencebench_core.papers.paper import Doubt, Paper
from evidencebench_core.papers.pdf.blocks import blocks_of
from evidencebench_core.papers.pdf.chars import UNREADABLE, Page, open_document, pages_of
from evidencebench_core.papers.pdf.columns import Column, columns_of, gutters_of
from evidencebench_core.papers.pdf.floats import without_floats
from evidencebench_core.papers.pdf.lines import (
    Body,
    Line,
    body_of,
    lines_of,
    without_headers_and_footers,
    without_line_numbers,
    without_margins,
)
from evidencebench_core.papers.pdf.places import sentence_boxes
from evidencebench_core.papers.pdf.roles import Assembly
from evidencebench_core.papers.pdf.text import Words

_MIN_CHARACTERS: Final = 60  # a page below has no text to speak of
_MAX_UNREADABLE: Final = 0.3
_MIN_ABSTRACT: Final = 60  # words
_MAX_ABSTRACT: Final = 450
_MIN_PAGE: Final = 600  # characters of a page, to tell anything from shares of it
# "P 5 0.03", "n ¼ 12", "P , .05": signs of mathematical fonts that came out as other characters.
_OTHER_SIGN: Final = re.compile(
    r"\b[PpNnFtr]\s?(?:[¼D]\s?[\d.]+|[5,]\s0?\.\d+)|\d[\d.]*\s?[¼þ]\s?[\d.]+|\d+\.\d+\s6\s\d+\.\d+"
)


def paper_of_pdf(content: bytes, place: str = "the PDF") -> Paper:
    """The paper in a PDF file with a text layer.

    Columns are read one after the other; running headers, footers, page and line numbers, tables, figures,
    footnotes and references are left out; words broken at line ends are joined. Scripts and actions in the file
    are never looked at.

    Raises
    ------
    PaperError
        If the file cannot be read, has no text, or passes a limit.
    """
    with open_document(content, place) as document:
        pages, damaged = pages_of(document)
        stated_title = document.get_metadata_value("Title")[:2000].strip("\0 ")
    notes = _notes(pages, damaged, place)
    left_out: Counter[str] = Counter()
    columns, lost, body = _columns(pages, left_out)
    words = Words(line.text for column in columns for line in column.lines)
    assembly = Assembly(blocks_of(columns, body), stated_title, body, words)
    left_out += assembly.left_out
    paper = paper_of_blocks(RawPaper(assembly.blocks, assembly.title, left_out, notes, has_parts=True), "pdf")
    boxes = sentence_boxes(paper.sentences, assembly.lines, {page.number: page for page in pages})
    paper = replace(paper, boxes=boxes)
    return replace(paper, doubts=(*_doubts_of_text(paper), *_doubts_of_pages(paper, pages, lost)))


def _columns(pages: Sequence[Page], left_out: Counter[str]) -> tuple[list[Column], list[Line], Body]:
    """The columns of all pages in reading order, and lines of tables and figures that look like running text."""
    lines = [without_line_numbers(lines_of(page)) for page in pages]
    inner = without_headers_and_footers(pages, lines, body_of(lines))
    left_out["headers and footers"] = sum(map(len, lines)) - sum(map(len, inner))
    body = body_of(inner)
    lines = without_margins(pages, inner, body)
    left_out["notes in the margin"] = sum(len(a) > len(b) for a, b in zip(inner, lines, strict=True))
    gutters = [gutters_of(page_lines) for page_lines in lines]
    expected = list(chain.from_iterable(gutters))
    columns: list[Column] = []
    lost: list[Line] = []
    for page, page_lines, page_gutters in zip(pages, lines, gutters, strict=True):
        used = page_gutters or gutters_of(page_lines, expected)
        rest, counts = without_floats(page, page_lines, used, body)
        left_out.update(counts)
        floats = set(page_lines).difference(rest)
        lost += [line for line in floats if body.matches(line) and len(line.words) > 5]
        columns += columns_of(rest, expected)
    return columns, lost, body


def _notes(pages: Sequence[Page], damaged: Sequence[int], place: str) -> list[str]:
    """Notes about pages without text; an error where no page has any."""
    n_all = sum(page.n_characters for page in pages)
    n_unreadable = sum(page.n_unreadable for page in pages)
    is_unnamed = n_all == n_unreadable and any(page.has_strings and not page.n_turned for page in pages)
    if is_unnamed or n_unreadable > max(_MIN_CHARACTERS, _MAX_UNREADABLE * n_all):
        problem = "has text in fonts that do not say which letters they show"
        remedy = "Run OCR on it first (for example ocrmypdf --force-ocr), or paste the text."
        raise PaperError(place, problem, remedy)
    blank = [page for page in pages if page.n_characters < _MIN_CHARACTERS]
    pictures = [page.number for page in blank if page.has_pictures]
    if len(blank) == len(pages) or n_all < _MIN_CHARACTERS:
        problem = "has pictures of pages, no text" if pictures else "has no text"
        raise PaperError(place, problem, "Run OCR first (for example ocrmypdf), or paste the text.")
    notes = {
        "Pages without text, only pictures, are left out": pictures,
        "Pages that are damaged are left out": damaged,
        "Pages with too many drawings were read in part only": [p.number for p in pages if p.is_cut],
    }
    return [
        f"{note}: {', '.join(str(n + 1) for n in numbers)}." for note, numbers in notes.items() if numbers
    ]


def _doubts_of_pages(paper: Paper, pages: Sequence[Page], lost: Sequence[Line]) -> Iterable[Doubt]:
    """Pages of which most is in no sentence."""
    n_lost = Counter({page.number: page.n_turned for page in pages})
    for line in lost:
        n_lost[line.page] += sum(len(word.text) for word in line.words)
    sections: dict[int, str] = {}  # of the first sentence of a page
    for section, boxes in zip(paper.sections, paper.boxes, strict=True):
        for box in boxes:
            sections.setdefault(box.page - 1, section)
    section = ""
    for page in pages:
        section = sections.get(page.number, section)
        n = page.n_characters + page.n_turned
        if n >= _MIN_PAGE and n_lost[page.number] > 0.5 * n:
            is_sideways = page.n_turned > 0.5 * n
            reason = ": it is set sideways." if is_sideways else "; look at the page itself."
            text = f"Most of page {page.number + 1} is in no sentence{reason}"
            yield Doubt(section, page.number + 1, "left out", text)


def _doubts_of_text(paper: Paper) -> Iterable[Doubt]:
    kinds = zip(paper.sentences, paper.sentence_types, strict=True)
    n_words = sum(len(text.split()) for text, kind in kinds if kind == "abstract")
    if 0 < n_words < _MIN_ABSTRACT:
        text = f"The abstract has only {n_words} words; some may be missing."
        yield Doubt("Abstract", None, "abstract", text)
    elif n_words > _MAX_ABSTRACT:
        text = f"The abstract has {n_words} words; it may hold text that is not part of it."
        yield Doubt("Abstract", None, "abstract", text)
    n_unreadable: Counter[str] = Counter()
    examples: dict[str, str] = {}  # by section
    for text, section in zip(paper.sentences, paper.sections, strict=True):
        n_unreadable[section] += UNREADABLE in text
        if sign := _OTHER_SIGN.search(text):
            examples.setdefault(section, sign[0])
    for section, n in (+n_unreadable).items():
        subject = "A sentence has characters" if n == 1 else f"{n} sentences have characters"
        text = f"{subject} that the file's fonts do not name, shown as {UNREADABLE}."
        yield Doubt(section, None, "characters", text)
    for section, example in examples.items():
        text = f"“{example}”: a symbol such as = or < seems to have come out as another character."
        yield Doubt(section, None, "characters", text)
