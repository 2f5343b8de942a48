"""Blocks of lines in reading order into the blocks of a paper: title, abstract, headings, paragraphs, references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from evidencebench_core.data.sections import class_of_heading, is_aside, is_label, part_of_heading
from evidencebench_core.papers.blocks import Block, BlockKind
from evidencebench_core.papers.hyphens import Words, running_text
from evidencebench_core.papers.pdf.blocks import (
    BULLETS,
    Role,
    TextBlock,
    ends_abbreviated,
    ends_sentence,
    paragraphs_of,
    role_of,
    run_in_heading,
)
from evidencebench_core.papers.pdf.columns import Column
from evidencebench_core.papers.pdf.lines import Body, Line

_ABSTRACT_LABEL: Final = re.compile(
    r"^(?:abstract|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary)\s*(?:[.:—–-]+\s*|\s+(?=[A-Z]))(?-i:(?![a-z]))",
    re.IGNORECASE,
)
_MAX_ABSTRACT: Final = 650  # words, labels and all
_CONNECTING: Final = frozenset({
    "of", "the", "and", "in", "to", "a", "an", "for", "with", "by", "or", "from", "that", "which", "was", "were",
    "is", "are", "at", "on", "as", "than",
})  # fmt: skip
_ENTRY: Final = re.compile(r"[\[(]?(\d{1,3})[\]).]?\s*(?=[^\W\d_])")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")


# -- the front ------------------------------------------------------------------------------------


def title_blocks(blocks: Sequence[TextBlock], stated: str, body: Body) -> list[TextBlock]:
    """The blocks on the first page that are the title.

    What the document information says, if it stands on the page; else the largest letters that are more
    than a journal's name; else the first bold lines.
    """
    first_page = [block for block in blocks if block.page == 0]
    if len(stated.split()) > 2:
        for i in range(len(first_page)):
            for n in (1, 2, 3):
                if _letters("".join(block.text for block in first_page[i : i + n])) == _letters(stated):
                    return first_page[i : i + n]
    candidates = [
        block
        for block in first_page
        if block.n_words >= 3
        and len(block.lines) <= 8
        and class_of_heading(block.text) is None
        and not is_aside(block.text)
    ]
    largest = max(candidates, key=lambda block: block.size, default=None)  # the first of them
    if largest is None or largest.size <= 1.12 * body.size:
        return [block for block in candidates if block.bold > 0.9 and not body.is_bold][:1]
    title = [largest]
    for block in first_page[first_page.index(largest) + 1 :]:
        white = title[-1].lines[-1].y - block.lines[0].y
        if abs(block.size - largest.size) >= 0.3 or not 0 < white < 2.2 * largest.size:
            break
        title.append(block)
    return title


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _abstract_range(blocks: Sequence[TextBlock], roles: Sequence[Role], body: Body) -> tuple[int, int, int]:
    """Where the abstract begins and ends, and where the text begins at the earliest."""
    for i, (block, role) in enumerate(zip(blocks, roles, strict=True)):
        if block.page > 1:
            break
        main = class_of_heading(block.text) if role == "heading" else None
        if main == "abstract" or (main is not None and block.text.lower().startswith("summary")):
            return i + 1, _end_of_abstract(blocks, roles, i + 1, body), i + 1
        if role == "text" and _ABSTRACT_LABEL.match(block.text):
            return i, _end_of_abstract(blocks, roles, i, body), i
        if main is not None and main != "other":
            return _unnamed_abstract(blocks, roles, i, body)
    first = next((i for i, role in enumerate(roles) if role == "text" and blocks[i].n_words >= 30), 0)
    return first, first, first


def _unnamed_abstract(
    blocks: Sequence[TextBlock], roles: Sequence[Role], heading: int, body: Body
) -> tuple[int, int, int]:
    """Text above the first heading: an abstract, if it is long enough and the introduction comes below."""
    texts = [
        i
        for i in range(heading)
        # Text in sentences, unlike names and addresses.
        if roles[i] == "text"
        and blocks[i].n_words >= 8
        and (ends_sentence(blocks[i].text) or blocks[i].n_words > 60)
    ]
    if not texts:
        return heading, heading, heading
    first = texts[0]
    end = next((i for i in texts if _looks_else(blocks[first], blocks[i], body)), heading)
    last = max(i for i in texts if i < end)
    n_words = sum(blocks[i].n_words for i in texts if i < end)
    while last + 1 < end and roles[last + 1] == "text" and not ends_sentence(blocks[last].text):
        last += 1  # its last words may stand in the next column
    is_introduced = class_of_heading(blocks[heading].text) == "introduction"
    is_set_apart = not all(map(body.matches, blocks[first].lines))
    is_abstract = 40 <= n_words <= _MAX_ABSTRACT and (is_introduced or is_set_apart)
    return first, last + 1 if is_abstract else first, first


def _end_of_abstract(blocks: Sequence[TextBlock], roles: Sequence[Role], start: int, body: Body) -> int:
    """Index of the first block below the abstract, which begins at ``start``.

    Labels of a structured abstract are headings of chapters too ("Methods"): if a heading stands directly below
    "Abstract", it goes on through its conclusion, otherwise the next heading ends it.
    """
    is_structured = roles[start : start + 1] == ["heading"]
    n_words, labels = 0, set[str]()
    opening: TextBlock | None = None
    for index in range(start, len(blocks)):
        block, role = blocks[index], roles[index]
        name = block.text.strip(" .:").casefold()
        n_words += block.n_words
        if (opening is not None and is_aside(block.text)) or n_words > _MAX_ABSTRACT:
            return index
        if role == "heading":
            is_new = name not in labels and not (labels and name.endswith("introduction"))
            concluded = any(class_of_heading(label) == "conclusion" for label in labels)
            if not (is_structured and is_label(block.text) and is_new) or concluded:
                return index
            labels.add(name)
        elif role == "text" and opening is None:
            opening = block
        elif role == "text" and opening is not None and _looks_else(opening, block, body):
            return index
    return len(blocks)


def _looks_else(opening: TextBlock, block: TextBlock, body: Body) -> bool:
    """Whether a block below the abstract's first one is set differently; labels in it may be bold."""
    return (
        abs(opening.size - block.size) > 0.04 * opening.size
        or (opening.bold > 0.9 and block.bold < 0.1)
        or body.matches(opening.lines[-1]) != body.matches(block.lines[-1])
        or (opening.column is block.column and abs(opening.left - block.left) > 1.2 * block.size)
    )


# -- the references -------------------------------------------------------------------------------


def _start_of_references(blocks: Sequence[TextBlock], roles: Sequence[Role]) -> int:
    """Index of the block where a list of references without a heading begins; past the end without one.

    Such a list is at least five entries in the last two thirds that begin with their numbers and have years.
    """
    for block, role in zip(blocks, roles, strict=True):
        if role == "heading" and part_of_heading(block.text) == "references":
            return len(blocks)
    for start in range(len(blocks) // 3, len(blocks)):
        first = _ENTRY.match(blocks[start].text)
        if first is not None and first[1] == "1" and _n_numbered(blocks[start:]) >= 5:
            texts = [line.text for block in blocks[start:] for line in block.lines]
            if sum(_YEAR.search(text) is not None for text in texts) >= len(texts) / 5:
                return start
    return len(blocks)


def _n_references(blocks: Sequence[TextBlock]) -> int:
    """The number of entries: by their numbers, else by hanging indents."""
    lefts = {block.column: min(line.x0 for line in block.column.lines) for block in blocks}
    n_outdented = sum(
        line.x0 - lefts[block.column] < 0.4 * line.size for block in blocks for line in block.lines
    )
    n_numbered = _n_numbered(blocks)
    return n_numbered if n_numbered >= 3 else n_outdented


def _n_numbered(blocks: Sequence[TextBlock]) -> int:
    """How far lines that begin with numbers count, one or two missing at most."""
    last = 0
    for block in blocks:
        for line in block.lines:
            entry = _ENTRY.match(line.text)
            if entry and 0 < int(entry[1]) - last <= (3 if last else 1):
                last = int(entry[1])
    return last


# -- the walk -------------------------------------------------------------------------------------


class Assembly:
    """The blocks of a paper, each with its lines, and how much was left out on the way."""

    def __init__(self, blocks: Sequence[TextBlock], stated_title: str, body: Body, words: Words) -> None:
        self.body, self.words = body, words
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self._open: list[Line] = []  # of a paragraph that may go on in the next column
        self._kind: BlockKind = "paragraph"
        self._column: Column | None = None
        title = title_blocks(blocks, stated_title, body)
        self.title_lines = [line for block in title for line in block.lines]
        self.title = running_text([line.text for line in self.title_lines], words)
        self._read(blocks[blocks.index(title[-1]) + 1 :] if title else blocks)

    def _read(self, blocks: Sequence[TextBlock]) -> None:
        roles = [role_of(block, self.body) for block in blocks]
        start, end, first_text = _abstract_range(blocks, roles, self.body)
        first_reference = _start_of_references(blocks, roles)
        references: list[TextBlock] = []
        is_reference = False
        for i, (block, role) in enumerate(zip(blocks, roles, strict=True)):
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
        self.left_out["references"] = _n_references(references)

    def _add_block(self, block: TextBlock, role: Role, kind: BlockKind) -> None:
        if role in ("footnote", "formula", "cells"):
            self.left_out[f"{role}s"] += role != "cells"
            return
        if role == "heading":
            self._add("abstract" if kind == "abstract" else "heading", block.lines)
            return
        for number, paragraph in enumerate(paragraphs_of(block)):
            lines = paragraph
            n = run_in_heading(lines[0], self.body) if kind == "paragraph" else 0
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
            hangs = text.endswith(("-", ",", "–", "(")) or text.rsplit(" ", 1)[-1].lower() in _CONNECTING
            return is_elsewhere or begins_small or hangs
        if begins_small:
            return is_elsewhere or ends_abbreviated(text)
        return is_elsewhere and text.endswith((":", ";"))

    def _close(self) -> None:
        """End the open paragraph."""
        lines, self._open = self._open, []
        if lines:
            self._add(self._kind, lines)

    def _add(self, kind: BlockKind, lines: Sequence[Line], text: str = "") -> None:
        self._close()
        text = text or running_text([line.text for line in lines], self.words)
        if not self.blocks:
            text = _ABSTRACT_LABEL.sub("", text, count=1)
        self.blocks.append(Block(kind, text.lstrip(BULLETS), lines=tuple(lines)))
