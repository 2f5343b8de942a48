"""PDF to `Paper`: chars -> lines -> columns -> blocks -> roles, where its sentences stand, and what is doubtful."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, BlockKind, RawPaper, float_of, paper_of_blocks
from evidencebench_core.papers.headings import is_aside, part_of_heading
from evidencebench_core.papers.hyphens import Words, joined_lines
from evidencebench_core.papers.paper import Box, Doubt, Float, Paper
from evidencebench_core.papers.pdf import blocks as layout
from evidencebench_core.papers.pdf import roles
from evidencebench_core.papers.pdf.chars import UNREADABLE, Page, open_document, pages_of
from evidencebench_core.papers.pdf.columns import Column, columns_of, gutters_of
from evidencebench_core.papers.pdf.lines import Body, Line, text_lines
from evidencebench_core.words import quantity

_MIN_CHARACTERS: Final = 60  # a page below has no text to speak of
_MAX_UNREADABLE: Final = 0.3
_MIN_PAGE: Final = 600  # characters of a page, to tell anything from shares of it
# "P 5 0.03", "n ¼ 12", "P , .05": signs of mathematical fonts that came out as other characters.
_OTHER_SIGN: Final = re.compile(
    r"\b[PpNnFtr]\s?(?:[¼D]\s?[\d.]+|[5,]\s0?\.\d+)|\d[\d.]*\s?[¼þ]\s?[\d.]+|\d+\.\d+\s6\s\d+\.\d+"
)
_UNNAMED: Final = f"Characters that no font names are shown as {UNREADABLE} or other signs, such as 5 for ="
_ABOVE: Final = 0.75  # how far letters reach from the baseline, in ems
_BELOW: Final = 0.22


def paper_of_pdf(content: bytes, place: str = "the PDF") -> Paper:
    """The paper in a PDF file with a text layer; `PaperError` if it cannot be read, has no text, or passes a limit."""
    with open_document(content, place) as document:
        pages, damaged = pages_of(document)
        stated_title = document.get_metadata_value("Title")[:2000].strip("\0 ")
    notes = _notes(pages, damaged, place)
    left_out: Counter[str] = Counter()
    columns, floats, body = _columns(pages, left_out)
    left_out.update(printed.kind for printed in floats if not printed.is_continued)
    words = Words(line.text for column in columns for line in column)
    assembly = _Assembly(layout.blocks_of(columns, body), stated_title, body, words)
    title = assembly.title
    raw = RawPaper(assembly.blocks, title.text, left_out + assembly.left_out, notes)
    raw.title_places = title.places
    raw.floats = [assembly.float_with_caption(printed) for printed in floats if not printed.is_continued]
    lost = [line for each in floats for line in each.lines if body.matches(line) and len(line.words) > 5]
    paper = paper_of_blocks(raw, "pdf")
    return replace(paper, doubts=(*_doubts_of_text(paper), *_doubts_of_pages(paper, pages, lost)))


def _columns(
    pages: Sequence[Page], left_out: Counter[str]
) -> tuple[list[Column], list[layout.PrintedFloat], Body]:
    """The columns of all pages in reading order, tables and figures, and how running text looks."""
    lines, body = text_lines(pages, left_out)
    gutters = [gutters_of(page_lines) for page_lines in lines]
    expected = list(chain.from_iterable(gutters))
    columns: list[Column] = []
    floats: list[layout.PrintedFloat] = []
    for page, page_lines, page_gutters in zip(pages, lines, gutters, strict=True):
        used = page_gutters or gutters_of(page_lines, expected)
        rest, of_page = layout.without_floats(page, page_lines, used, body)
        floats += of_page
        columns += columns_of(rest, expected)
    return columns, floats, body


# -- the walk -------------------------------------------------------------------------------------


class _Assembly:
    """The blocks of a paper, each with its lines, and how much was left out on the way."""

    def __init__(
        self, blocks: Sequence[layout.TextBlock], stated_title: str, body: Body, words: Words
    ) -> None:
        self.body, self.words = body, words
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self._open: list[Line] = []  # of a paragraph that may go on in the next column
        self._kind: BlockKind = "paragraph"
        self._column: Column | None = None
        self._in_references = False
        title = roles.title_blocks(blocks, stated_title, body)
        self.title = self._block("heading", [line for block in title for line in block.lines])
        self._read(blocks[blocks.index(title[-1]) + 1 :] if title else blocks)

    def _read(self, blocks: Sequence[layout.TextBlock]) -> None:
        block_roles = [roles.role_of(block, self.body) for block in blocks]
        start, end, first_text = roles.abstract_range(blocks, block_roles, self.body)
        first_reference = roles.start_of_references(blocks, block_roles)
        for i, (block, role) in enumerate(zip(blocks, block_roles, strict=True)):
            if i == first_reference:
                self._close()
                self.blocks.append(Block("heading", "References"))
            if start <= i < end:
                self._add_block(block, role, "abstract")
            elif role == "heading" and part_of_heading(block.text) == "abstract":
                continue
            elif i >= first_text and not (block.page == 0 and is_aside(block.text)):
                self._add_block(block, role, "paragraph")
        self._close()

    def _add_block(self, block: layout.TextBlock, role: roles.Role, kind: BlockKind) -> None:
        if role in ("footnote", "formula", "cells"):
            self.left_out[f"{role}s"] += role != "cells"
            return
        if role == "heading":
            self._add("abstract" if kind == "abstract" else "heading", block.lines)
            return
        for number, paragraph in enumerate(layout.paragraphs_of(block)):
            lines = paragraph
            n = roles.run_in_heading(lines[0], self.body) if kind == "paragraph" else 0
            if n and (not self._open or layout.ends_sentence(self._open[-1].text)):
                heading = Line(lines[0].words[:n])
                self._add("heading", [heading], " .:—–")
                lines = [Line(lines[0].words[n:]), *lines[1:]]
            if number > 0 or kind != self._kind or not self._goes_on(lines[0], block.column):
                self._close()
            self._kind, self._column = kind, block.column
            self._open += lines

    def _goes_on(self, line: Line, column: Column) -> bool:
        """Whether a line continues the open paragraph."""
        if not self._open:
            return False
        text, begins_small = self._open[-1].text.rstrip(), line.text[:1].islower()
        is_elsewhere = self._column is not column
        if layout.ends_sentence(text):
            return begins_small and is_elsewhere
        return is_elsewhere or begins_small or text.endswith(("-", ",", "–", "("))

    def _close(self) -> None:
        """End the open paragraph."""
        lines, self._open = self._open, []
        if lines:
            self._add(self._kind, lines)

    def _add(self, kind: BlockKind, lines: Sequence[Line], stops: str = "") -> None:
        self._close()
        block = self._block(kind, lines)
        block = replace(block, text=block.text.rstrip(stops))
        for label in (*([] if self.blocks else [roles.ABSTRACT_LABEL]), layout.BULLET):
            match = label.match(block.text)
            block = block.after(match.end()) if match else block
        if kind == "heading":
            self._in_references = part_of_heading(block.text) == "references"
        elif self._in_references and not any(map(str.isdigit, block.text)):
            return  # an entry has a year
        self.blocks.append(block)

    def _block(self, kind: BlockKind, lines: Sequence[Line]) -> Block:
        """Lines as a block, with the place of every word."""
        text, starts = joined_lines([line.text for line in lines], self.words)
        places: list[tuple[int, Box]] = []
        for line, start in zip(lines, starts, strict=True):
            y = line.words[0].page.height - line.y
            y0, y1 = round(y - _ABOVE * line.size, 1), round(y + _BELOW * line.size, 1)
            end = 0
            for word in line.words:
                offset = line.text.index(word.text, end)
                end = offset + len(word.text)
                box = Box(line.page + 1, round(word.x0, 1), y0, round(word.x1, 1), y1)
                places.append((start + offset, box))
        return Block(kind, text, places=tuple(places))

    def float_with_caption(self, printed: layout.PrintedFloat) -> Float:
        """A table or figure with its caption."""
        page = printed.page
        edges = (printed.x0, page.height - printed.top, printed.x1, page.height - printed.foot)
        box = Box(page.number + 1, *(round(edge, 1) for edge in edges))
        caption = self._block("paragraph", printed.caption).text
        return replace(float_of("", caption), page=box.page, box=box)


# -- what a reader should know --------------------------------------------------------------------


def _notes(pages: Sequence[Page], damaged: Sequence[int], place: str) -> list[str]:
    """Notes about pages without text; an error where no page has any, or most cannot be read."""
    n_all = sum(page.n_characters for page in pages)
    n_unreadable = sum(page.n_unreadable for page in pages)
    if n_unreadable > max(_MIN_CHARACTERS, _MAX_UNREADABLE * n_all):
        problem = "has text in fonts that do not say which letters they show"
        remedy = "Run OCR on it first (for example ocrmypdf --force-ocr), or paste the text."
        raise PaperError(place, problem, remedy)
    blank = [page.number for page in pages if page.n_characters < _MIN_CHARACTERS]
    if len(blank) == len(pages) or n_all < _MIN_CHARACTERS:
        problem = "has no text that can be read: it may be pictures of pages"
        raise PaperError(place, problem, "Run OCR first (for example ocrmypdf), or paste the text.")
    notes = {"Pages without text are left out": blank, "Pages that are damaged are left out": damaged}
    return [
        f"{note}: {', '.join(str(n + 1) for n in numbers)}." for note, numbers in notes.items() if numbers
    ]


def _doubts_of_text(paper: Paper) -> Iterator[Doubt]:
    """Sentences with characters that may not read as they are printed."""
    counts: Counter[str] = Counter()
    for section, text in zip(paper.sections, paper.sentences, strict=True):
        counts[section] += UNREADABLE in text or _OTHER_SIGN.search(text) is not None
    for section, n in counts.items():
        if n:
            yield Doubt(section, None, f"{_UNNAMED} ({quantity(n, 'sentence')}).")


def _doubts_of_pages(paper: Paper, pages: Sequence[Page], lost: Iterable[Line]) -> Iterator[Doubt]:
    """Pages of which most is in no sentence."""
    n_lost = Counter({page.number: page.n_turned for page in pages})
    for line in lost:
        n_lost[line.page] += sum(len(word.text) for word in line.words)
    sections = {page - 1: paper.sections[index] for index, page in reversed(paper.pages.items())}
    section = ""
    for page in pages:
        section = sections.get(page.number, section)
        n = page.n_characters + page.n_turned
        if n >= _MIN_PAGE and n_lost[page.number] > 0.5 * n:
            reason = "it is set sideways" if page.n_turned > 0.5 * n else "look at the page itself"
            text = f"Most of page {page.number + 1} is in no sentence: {reason}."
            yield Doubt(section, page.number + 1, text)
