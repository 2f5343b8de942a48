"""Chunks in reading order into the blocks of a paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

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
from evidencebench_core.papers.pdf.front import abstract_label, end_of_abstract, title_chunks
from evidencebench_core.papers.pdf.line import Line
from evidencebench_core.papers.pdf.mending import Words, running_text
from evidencebench_core.papers.pdf.references import n_references, start_of_references
from evidencebench_core.papers.pdf.roles import Role, role_of, run_in_heading

_CONNECTING: Final = frozenset(
    [
        "of",
        "the",
        "and",
        "in",
        "to",
        "a",
        "an",
        "for",
        "with",
        "by",
        "or",
        "from",
        "that",
        "which",
        "was",
        "were",
        "is",
        "are",
        "at",
        "on",
        "as",
        "than",
    ]
)


@dataclass(slots=True)
class Assembled:
    """What was made of the chunks."""

    title: str = ""
    blocks: list[Block] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    title_lines: list[Line] = field(default_factory=list)
    lines: list[list[Line]] = field(default_factory=list)
    aside: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A paragraph that may go on in the next column."""

    kind: BlockKind
    lines: list[Line]
    chunk: Chunk


def assembled(chunks: Sequence[Chunk], stated_title: str, body: Body, words: Words) -> Assembled:
    """Title, blocks and what is left out."""
    title = title_chunks(chunks, stated_title, body)
    title_lines = [line for chunk in title for line in chunk.lines]
    result = Assembled(running_text([line.text for line in title_lines], words), title_lines=title_lines)
    after = next((i + 1 for i, chunk in enumerate(chunks) if title and chunk is title[-1]), 0)
    rest = list(chunks[after:])
    roles = [role_of(chunk, body) for chunk in rest]
    start, end, first_text = _front(rest, roles, body)
    _Builder(result, body, words).run(rest, roles, (start, end), first_text)
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


def _has_list(chunk: Chunk) -> bool:
    return sum(line.text[:1] in BULLETS for line in chunk.column.lines) > 1


@dataclass(slots=True)
class _Builder:
    """Goes through the chunks once."""

    result: Assembled
    body: Body
    words: Words
    place: Place = field(default_factory=Place)
    open: _Open | None = None
    references: list[Chunk] = field(default_factory=list)

    def run(
        self, chunks: Sequence[Chunk], roles: Sequence[Role], abstract: tuple[int, int], first_text: int
    ) -> None:
        """Make blocks of all chunks."""
        named = any(
            role == "heading" and part_of_heading(chunk.text) == "references"
            for chunk, role in zip(chunks, roles, strict=True)
        )
        listed = len(chunks) if named else start_of_references(chunks)
        for i, (chunk, role) in enumerate(zip(chunks, roles, strict=True)):
            if abstract[0] <= i < abstract[1]:
                self._abstract(chunk, role)
            elif i < first_text:
                self.result.left_out["footnotes"] += role == "footnote"
                self.result.aside += chunk.lines
            else:
                if i == listed:
                    self._close()
                    self.place.enter("references")
                self._other(chunk, role)
        self._close()
        if self.references:
            self.result.left_out["references"] = n_references(self.references)

    def _abstract(self, chunk: Chunk, role: Role) -> None:
        if role == "footnote":
            self.result.left_out["footnotes"] += 1
            self.result.aside += chunk.lines
        elif role == "heading":
            self._close()
            self._add("abstract", chunk.lines)
        else:
            self._text(chunk, "abstract")

    def _other(self, chunk: Chunk, role: Role) -> None:
        if chunk.column.page == 0 and (is_aside(chunk.text) or self._is_beside_abstract(chunk, role)):
            self.result.aside += chunk.lines
            return
        self._leave_front()
        if role == "heading":
            self._heading(chunk)
        elif self.place.part == "references":
            self.references.append(chunk)
            self.result.aside += chunk.lines
        elif self.place.part == "back matter":
            self.result.aside += chunk.lines
        elif role in ("footnote", "formula"):
            self.result.left_out[f"{role}s"] += 1
            self.result.aside += chunk.lines
        else:
            self._text(chunk, "paragraph")

    def _is_beside_abstract(self, chunk: Chunk, role: Role) -> bool:
        """Whether it is a date, subjects, affiliations between the abstract and the first heading or paragraph."""
        kinds = [block.kind for block in self.result.blocks] + ([self.open.kind] if self.open else [])
        if role != "text" or kinds[-1:] != ["abstract"]:
            return False
        smaller = all(self.body.smaller(line) for line in chunk.lines)
        return smaller or (chunk.n_words < 12 and not _is_running(chunk))

    def _leave_front(self) -> None:
        if self.open is not None and self.open.kind == "abstract":
            self._close()

    def _heading(self, chunk: Chunk) -> None:
        text = chunk.text.strip()
        if class_of_heading(text) == "abstract":
            return
        if not self.place.step(text):
            if self.place.part == "references":
                self.references.append(chunk)
            self.result.aside += chunk.lines
            return
        self._close()
        if self.place.part == "body":
            self._add("heading", chunk.lines)
        self.result.left_out["back matter"] += self.place.part == "back matter"

    def _text(self, chunk: Chunk, kind: BlockKind) -> None:
        for number, group in enumerate(paragraph_groups(chunk)):
            lines = group
            if kind == "abstract" and self.open is None and not self._has_abstract():
                label = abstract_label(" ".join(line.text for line in lines))
                lines[0].text = lines[0].text[label:]
            if lines[0].text[:1] in BULLETS and len(lines[0].words) > 1 and _has_list(chunk):
                lines = [Line(lines[0].words[1:]), *lines[1:]]
            fresh = Chunk(lines, chunk.column, chunk.gap if number == 0 else 1.0)
            n = run_in_heading(fresh, self.body) if kind == "paragraph" else 0
            if n and (self.open is None or ends_sentence(self.open.lines[-1].text)):
                self._close()
                if not self._run_in(Line(lines[0].words[:n])):
                    self.result.aside += lines
                    return
                lines = [Line(lines[0].words[n:]), *lines[1:]]
            if self.open is not None and self.open.kind == kind and (number == 0 and self._goes_on(fresh)):
                self.open.lines += lines
                self.open.chunk = fresh
            else:
                self._close()
                self.open = _Open(kind, list(lines), fresh)

    def _run_in(self, line: Line) -> bool:
        """Add a heading at the head of a paragraph; False where the paragraph is left out with it."""
        if part_of_heading(line.text) == "back matter":
            self.result.left_out["back matter"] += 1
            return False
        line.text = line.text.rstrip(" .:—–")
        self._add("heading", [line])
        return True

    def _has_abstract(self) -> bool:
        return any(block.kind == "abstract" for block in self.result.blocks)

    def _goes_on(self, chunk: Chunk) -> bool:
        """Whether a chunk continues the open paragraph."""
        if self.open is None:
            return False
        text, first = self.open.lines[-1].text.rstrip(), chunk.lines[0].text
        elsewhere = self.open.chunk.column is not chunk.column
        if not ends_sentence(text):
            last_word = text.rsplit(" ", 1)[-1].lower()
            return bool(
                elsewhere
                or first[:1].islower()
                or text.endswith(("-", ",", "–", "("))
                or last_word in _CONNECTING
            )
        if first[:1].islower():
            return elsewhere or ends_abbreviated(text)
        return elsewhere and text.endswith((":", ";"))

    def _add(self, kind: BlockKind, lines: Sequence[Line]) -> None:
        text = running_text([line.text for line in lines], self.words)
        if text:
            self.result.blocks.append(Block(kind, text))
            self.result.lines.append(list(lines))

    def _close(self) -> None:
        if self.open is not None:
            self._add(self.open.kind, self.open.lines)
            self.open = None
