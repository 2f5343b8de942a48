"""Chunks in reading order into the blocks of a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from evidencebench_core.data.sections import class_of_heading, is_aside, part_of_heading
from evidencebench_core.papers.blocks import Block, BlockKind
from evidencebench_core.papers.outline import Place
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.chunk import (
    BULLETS,
    Chunk,
    ends_abbreviated,
    ends_sentence,
    paragraph_groups,
)
from evidencebench_core.papers.pdf.columns import Column
from evidencebench_core.papers.pdf.front import abstract_label, end_of_abstract, title_chunks
from evidencebench_core.papers.pdf.page import Line
from evidencebench_core.papers.pdf.references import n_references, start_of_references
from evidencebench_core.papers.pdf.roles import Role, role_of, run_in_heading
from evidencebench_core.papers.pdf.running_text import Words, running_text

_CONNECTING: Final = frozenset({
    "of", "the", "and", "in", "to", "a", "an", "for", "with", "by", "or", "from", "that", "which", "was", "were",
    "is", "are", "at", "on", "as", "than",
})  # fmt: skip


class _Open(NamedTuple):
    """A paragraph that may go on in the next column."""

    kind: BlockKind
    lines: list[Line]
    column: Column


def assembly_of(chunks: Sequence[Chunk], stated_title: str, body: Body, words: Words) -> Assembly:
    """Title, blocks and what is left out of chunks in reading order."""
    title = title_chunks(chunks, stated_title, body)
    result = Assembly(body, words, [line for chunk in title for line in chunk.lines])
    after = next((i + 1 for i, chunk in enumerate(chunks) if title and chunk is title[-1]), 0)
    result.read(chunks[after:])
    return result


def _front(chunks: Sequence[Chunk], roles: Sequence[Role], body: Body) -> tuple[int, int, int]:
    """Where the abstract begins and ends, and where the text begins at the earliest."""
    for i, (chunk, role) in enumerate(zip(chunks, roles, strict=True)):
        if chunk.column.page > 1:
            break
        known = class_of_heading(chunk.text) if role == "heading" else None
        if known == "abstract" or (
            known == "conclusion" and chunk.text.strip().lower().startswith("summary")
        ):
            return i + 1, end_of_abstract(chunks, roles, i + 1, body), i
        if role == "text" and abstract_label(chunk.text):
            return i, end_of_abstract(chunks, roles, i, body), i
        if known is not None and known != "other":
            return _unnamed_abstract(chunks, roles, i, body)
    first = next((i for i, role in enumerate(roles) if role == "text" and chunks[i].n_words >= 30), 0)
    return first, first, first


def _unnamed_abstract(
    chunks: Sequence[Chunk], roles: Sequence[Role], heading: int, body: Body
) -> tuple[int, int, int]:
    """Text above the first heading: an abstract, if it is long enough and the introduction comes below."""
    texts = [
        i for i in range(heading) if roles[i] == "text" and chunks[i].n_words >= 8 and _is_running(chunks[i])
    ]
    if not texts:
        return heading, heading, heading
    n_words = sum(chunks[i].n_words for i in texts)
    first, last = texts[0], texts[-1]
    while last + 1 < heading and roles[last + 1] == "text" and not ends_sentence(chunks[last].text):
        last += 1  # its last words may stand in the next column
    introduced = class_of_heading(chunks[heading].text) == "introduction"
    set_apart = not all(body.looks(line) for line in chunks[first].lines)
    if n_words >= 40 and n_words <= 650 and (introduced or set_apart):
        return first, last + 1, first
    return first, first, first


def _is_running(chunk: Chunk) -> bool:
    """Whether it is text in sentences, unlike names and addresses."""
    return ends_sentence(chunk.text) or chunk.n_words > 60


class Assembly:
    """A walk down the chunks, and what was made of them."""

    def __init__(self, body: Body, words: Words, title_lines: list[Line]) -> None:
        self.body, self.words = body, words
        self.title = running_text([line.text for line in title_lines], words)
        self.title_lines = title_lines
        self.blocks: list[Block] = []
        self.lines: list[list[Line]] = []  # of the blocks
        self.left_out: Counter[str] = Counter()
        self.aside: list[Line] = []
        self._place = Place()
        self._open: _Open | None = None
        self._references: list[Chunk] = []

    def read(self, chunks: Sequence[Chunk]) -> None:
        roles = [role_of(chunk, self.body) for chunk in chunks]
        start, end, first_text = _front(chunks, roles, self.body)
        named = any(
            role == "heading" and part_of_heading(chunk.text) == "references"
            for chunk, role in zip(chunks, roles, strict=True)
        )
        listed = len(chunks) if named else start_of_references(chunks)
        for i, (chunk, role) in enumerate(zip(chunks, roles, strict=True)):
            if start <= i < end:
                self._abstract(chunk, role)
            elif i < first_text:
                self.left_out["footnotes"] += role == "footnote"
                self.aside += chunk.lines
            else:
                if i == listed:
                    self._close()
                    self._place.enter("references")
                self._other(chunk, role)
        self._close()
        if self._references:
            self.left_out["references"] = n_references(self._references)

    def _abstract(self, chunk: Chunk, role: Role) -> None:
        if role == "footnote":
            self.left_out["footnotes"] += 1
            self.aside += chunk.lines
        elif role == "heading":
            self._close()
            self._add("abstract", chunk.lines)
        else:
            self._text(chunk, "abstract")

    def _other(self, chunk: Chunk, role: Role) -> None:
        if chunk.column.page == 0 and (is_aside(chunk.text) or self._is_beside_abstract(chunk, role)):
            self.aside += chunk.lines
            return
        if self._open is not None and self._open.kind == "abstract":
            self._close()
        if role == "heading":
            self._heading(chunk)
        elif self._place.part in ("references", "back matter"):
            self._references += [chunk] if self._place.part == "references" else []
            self.aside += chunk.lines
        elif role in ("footnote", "formula"):
            self.left_out[f"{role}s"] += 1
            self.aside += chunk.lines
        else:
            self._text(chunk, "paragraph")

    def _is_beside_abstract(self, chunk: Chunk, role: Role) -> bool:
        """Whether it is a date, subjects, affiliations between the abstract and the first heading or paragraph."""
        kinds = [block.kind for block in self.blocks] + ([self._open.kind] if self._open else [])
        if role != "text" or kinds[-1:] != ["abstract"]:
            return False
        smaller = all(self.body.smaller(line) for line in chunk.lines)
        return smaller or (chunk.n_words < 12 and not _is_running(chunk))

    def _heading(self, chunk: Chunk) -> None:
        text = chunk.text.strip()
        if class_of_heading(text) == "abstract":
            return
        if not self._place.step(text):
            self._references += [chunk] if self._place.part == "references" else []
            self.aside += chunk.lines
            return
        self._close()
        if self._place.part == "body":
            self._add("heading", chunk.lines)
        self.left_out["back matter"] += self._place.part == "back matter"

    def _text(self, chunk: Chunk, kind: BlockKind) -> None:
        has_list = sum(line.text[:1] in BULLETS for line in chunk.column.lines) > 1
        for number, group in enumerate(paragraph_groups(chunk)):
            lines = group
            if kind == "abstract" and not self._open and not any(b.kind == "abstract" for b in self.blocks):
                label = abstract_label(" ".join(line.text for line in lines))
                lines[0].text = lines[0].text[label:]
            if lines[0].text[:1] in BULLETS and len(lines[0].words) > 1 and has_list:
                lines = [Line(lines[0].words[1:]), *lines[1:]]
            n = run_in_heading(lines[0], self.body) if kind == "paragraph" else 0
            if n and (self._open is None or ends_sentence(self._open.lines[-1].text)):
                self._close()
                label_line = Line(lines[0].words[:n])
                if part_of_heading(label_line.text) == "back matter":
                    self.left_out["back matter"] += 1
                    self.aside += lines
                    return
                label_line.text = label_line.text.rstrip(" .:—–")
                self._add("heading", [label_line])
                lines = [Line(lines[0].words[n:]), *lines[1:]]
            if self._open and self._open.kind == kind and number == 0 and self._goes_on(lines, chunk.column):
                self._open = _Open(kind, self._open.lines + lines, chunk.column)
            else:
                self._close()
                self._open = _Open(kind, lines, chunk.column)

    def _goes_on(self, lines: Sequence[Line], column: Column) -> bool:
        """Whether lines continue the open paragraph."""
        if self._open is None:
            return False
        text, first = self._open.lines[-1].text.rstrip(), lines[0].text
        elsewhere = self._open.column is not column
        if not ends_sentence(text):
            hangs = text.endswith(("-", ",", "–", "(")) or text.rsplit(" ", 1)[-1].lower() in _CONNECTING
            return elsewhere or first[:1].islower() or hangs
        if first[:1].islower():
            return elsewhere or ends_abbreviated(text)
        return elsewhere and text.endswith((":", ";"))

    def _add(self, kind: BlockKind, lines: Sequence[Line]) -> None:
        text = running_text([line.text for line in lines], self.words)
        if text:
            self.blocks.append(Block(kind, text))
            self.lines.append(list(lines))

    def _close(self) -> None:
        if self._open is not None:
            self._add(self._open.kind, self._open.lines)
            self._open = None
