"""PDF to `Paper`: chars -> lines -> columns -> blocks -> roles, where its sentences stand, and what is doubtful."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Final

from evidencebench_core.data.sections import class_of_heading, is_aside, part_of_heading
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, BlockKind, RawPaper, paper_of_blocks, with_parts
from evidencebench_core.papers.hyphens import Words, plain, running_text
from evidencebench_core.papers.paper import Box, Doubt, Paper
from evidencebench_core.papers.pdf import roles
from evidencebench_core.papers.pdf.blocks import (
    BULLETS,
    TextBlock,
    blocks_of,
    ends_abbreviated,
    ends_sentence,
    paragraphs_of,
    without_floats,
)
from evidencebench_core.papers.pdf.chars import UNREADABLE, Page, Word, open_document, pages_of
from evidencebench_core.papers.pdf.columns import Column, columns_of, gutters_of
from evidencebench_core.papers.pdf.lines import (
    Body,
    Line,
    body_of,
    lines_of,
    without_headers_and_footers,
    without_line_numbers,
    without_margins,
)

_MIN_CHARACTERS: Final = 60  # a page below has no text to speak of
_MAX_UNREADABLE: Final = 0.3
_MIN_PAGE: Final = 600  # characters of a page, to tell anything from shares of it
# "P 5 0.03", "n ¼ 12", "P , .05": signs of mathematical fonts that came out as other characters.
_OTHER_SIGN: Final = re.compile(
    r"\b[PpNnFtr]\s?(?:[¼D]\s?[\d.]+|[5,]\s0?\.\d+)|\d[\d.]*\s?[¼þ]\s?[\d.]+|\d+\.\d+\s6\s\d+\.\d+"
)
_ABOVE: Final = 0.75  # how far letters reach from the baseline, in ems
_BELOW: Final = 0.22


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
    assembly = _Assembly(blocks_of(columns, body), stated_title, body, words)
    raw = with_parts(RawPaper(assembly.blocks, assembly.title, left_out + assembly.left_out, notes))
    paper = paper_of_blocks(raw, "pdf")
    lines = [*assembly.title_lines, *chain.from_iterable(block.lines for block in raw.blocks)]
    paper = replace(
        paper, boxes=sentence_boxes(paper.sentences, lines, {page.number: page for page in pages})
    )
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


# -- the walk -------------------------------------------------------------------------------------


class _Assembly:
    """The blocks of a paper, each with its lines, and how much was left out on the way."""

    def __init__(self, blocks: Sequence[TextBlock], stated_title: str, body: Body, words: Words) -> None:
        self.body, self.words = body, words
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self._open: list[Line] = []  # of a paragraph that may go on in the next column
        self._kind: BlockKind = "paragraph"
        self._column: Column | None = None
        title = roles.title_blocks(blocks, stated_title, body)
        self.title_lines = [line for block in title for line in block.lines]
        self.title = running_text([line.text for line in self.title_lines], words)
        self._read(blocks[blocks.index(title[-1]) + 1 :] if title else blocks)

    def _read(self, blocks: Sequence[TextBlock]) -> None:
        block_roles = [roles.role_of(block, self.body) for block in blocks]
        start, end, first_text = roles.abstract_range(blocks, block_roles, self.body)
        first_reference = roles.start_of_references(blocks, block_roles)
        references: list[TextBlock] = []
        is_reference = False
        for i, (block, role) in enumerate(zip(blocks, block_roles, strict=True)):
            opens, main = part_of_heading(block.text), class_of_heading(block.text)
            if start <= i < end:
                self._add_block(block, role, "abstract")
                continue
            if i < first_text or (block.page == 0 and is_aside(block.text)):
                continue
            if i == first_reference:
                self._add("heading", [], "References")
                is_reference = True
            elif role == "heading" and (opens != "body" or main not in (None, "other")):
                is_reference = False
            if is_reference:
                references.append(block)
            elif not (role == "heading" and opens == "abstract"):
                self._add_block(block, role, "paragraph")
            is_reference = is_reference or (role == "heading" and opens == "references")
        self._close()
        self.left_out["references"] = roles.n_references(references)

    def _add_block(self, block: TextBlock, role: roles.Role, kind: BlockKind) -> None:
        if role in ("footnote", "formula", "cells"):
            self.left_out[f"{role}s"] += role != "cells"
            return
        if role == "heading":
            self._add("abstract" if kind == "abstract" else "heading", block.lines)
            return
        for number, paragraph in enumerate(paragraphs_of(block)):
            lines = paragraph
            n = roles.run_in_heading(lines[0], self.body) if kind == "paragraph" else 0
            if n and (not self._open or ends_sentence(self._open[-1].text)):
                heading = Line(lines[0].words[:n])
                if part_of_heading(heading.text) == "back matter":
                    self.left_out["back matter"] += 1
                    return
                self._add("heading", [heading], heading.text.rstrip(" .:—–"))
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
        if not ends_sentence(text):
            return is_elsewhere or begins_small or text.endswith(("-", ",", "–", "("))
        return begins_small and (is_elsewhere or ends_abbreviated(text))

    def _close(self) -> None:
        """End the open paragraph."""
        lines, self._open = self._open, []
        if lines:
            self._add(self._kind, lines)

    def _add(self, kind: BlockKind, lines: Sequence[Line], text: str = "") -> None:
        self._close()
        text = text or running_text([line.text for line in lines], self.words)
        if not self.blocks:
            text = roles.ABSTRACT_LABEL.sub("", text, count=1)
        self.blocks.append(Block(kind, text.lstrip(BULLETS), lines=tuple(lines)))


# -- where the sentences stand --------------------------------------------------------------------


def sentence_boxes(
    sentences: Sequence[str], lines: Sequence[Line], pages: Mapping[int, Page]
) -> tuple[tuple[Box, ...], ...]:
    """For every sentence one box for each line that it stands on; none for one that is not in the lines.

    Sentences and lines have the same order and the same letters and digits, so each sentence is found behind
    the one before it.
    """
    printed = [
        (character, (line, word))
        for line in lines
        for word in line.words
        for character in filter(str.isalnum, plain(word.text))
    ]
    text = "".join(character for character, _ in printed)
    places = [place for _, place in printed]
    boxes: list[tuple[Box, ...]] = []
    end = 0
    for sentence in sentences:
        letters = "".join(filter(str.isalnum, sentence))
        start = text.find(letters, end)
        end = max(end, start + len(letters)) if start >= 0 else end
        boxes.append(tuple(_boxes(places[start:end], pages)) if start >= 0 else ())
    return tuple(boxes)


def _boxes(places: Sequence[tuple[Line, Word]], pages: Mapping[int, Page]) -> Iterator[Box]:
    for _, group in groupby(places, key=lambda place: id(place[0])):
        together = list(group)
        line, words = together[0][0], [word for _, word in together]
        page = pages[line.page]
        top, foot = line.y + _ABOVE * line.size, line.y - _BELOW * line.size
        x0, x1 = min(word.x0 for word in words), max(word.x1 for word in words)
        edges = (round(edge, 1) for edge in (x0, page.height - top, x1, page.height - foot))
        yield Box(page.number + 1, *edges)


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
    """Sections with characters that nobody can name."""
    n_unreadable: Counter[str] = Counter()
    for text, section in zip(paper.sentences, paper.sections, strict=True):
        n_unreadable[section] += UNREADABLE in text or _OTHER_SIGN.search(text) is not None
    for section, n in (+n_unreadable).items():
        subject = "A sentence has characters" if n == 1 else f"{n} sentences have characters"
        shown = f"shown as {UNREADABLE} or as other signs, such as 5 for ="
        yield Doubt(section, None, f"{subject} that the file's fonts do not name, {shown}.")


def _doubts_of_pages(paper: Paper, pages: Sequence[Page], lost: Iterable[Line]) -> Iterator[Doubt]:
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
            reason = "it is set sideways" if page.n_turned > 0.5 * n else "look at the page itself"
            yield Doubt(
                section, page.number + 1, f"Most of page {page.number + 1} is in no sentence: {reason}."
            )
