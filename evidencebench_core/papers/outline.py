"""Headings and paragraphs, as plain text, Markdown and DOCX have them, get the parts of a paper.

These formats do not say what a heading is for, so it is told by its words: where the abstract begins and
ends, which headings within it are labels, which parts are references or other back matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from evidencebench_core.data.sections import CAPTION, PaperPart, class_of_heading, is_label, part_of_heading
from evidencebench_core.papers.blocks import Block, RawPaper, clean_text

_FRONT_PARTS: Final = 25  # an abstract that begins later is no abstract
_FRONT_LENGTH: Final = 4000  # characters of authors and addresses
_LONGEST_TITLE: Final = 400

_RUN_IN: Final = re.compile(r"(?:abstract|summary)\s*[:.—–-]\s*(?=\S)|ABSTRACT\s+(?=[A-Z])", re.IGNORECASE)
_KEYWORDS: Final = re.compile(r"key ?words?\s*[:—–]", re.IGNORECASE)
_STOP: Final = re.compile(r"\s*[.:|–—]\s*\S")  # between a caption's number and its words


@dataclass(slots=True)
class Place:
    """Where a walk down a paper is. Every reader that knows headings by their words alone takes its steps here."""

    part: PaperPart = "body"
    level: int = 0  # of the heading that opened it; 0 where nobody knows
    reported: bool = False  # results or what follows them have begun

    def enter(self, part: PaperPart, level: int = 0) -> None:
        self.part, self.level = part, level

    def step(self, heading: str, level: int = 0) -> bool:
        """Pass a heading below the abstract; whether it opens something.

        Lines of the references look like headings, and back matter has headings of its own ("Ethics approval"
        below "Declarations"): these open nothing. Above the results any heading ends back matter, below them
        only a main one does, unless levels say otherwise.
        """
        opens, main = part_of_heading(heading), class_of_heading(heading)
        if opens in ("body", "abstract") and self.part in ("references", "back matter"):
            unnamed = not level and main in (None, "other")
            if level > self.level > 0 or (unnamed and (self.part == "references" or self.reported)):
                return False
        self.enter("body" if opens == "abstract" else opens, level)
        self.reported = self.reported or main in ("results", "discussion", "conclusion")
        return True


def with_parts(raw: RawPaper) -> RawPaper:
    """The paper of headings and paragraphs in order; without a title, the first is it if it looks like one."""
    pieces = [replace(block, text=text) for block in raw.blocks if (text := clean_text(block.text))]
    reader = _Reader()
    title = raw.title
    if not title and pieces and _is_title(pieces):
        title, pieces = pieces[0].text, pieces[1:]
    n_front = _front_matter(pieces)
    reader.left_out["front matter"] += n_front
    for piece in pieces[n_front:]:
        if piece.kind == "heading":
            reader.heading(piece.text, piece.level)
        else:
            reader.text(piece.text)
    return replace(
        raw,
        blocks=reader.blocks,
        title=title,
        left_out=reader.left_out + Counter(raw.left_out),
        has_parts=True,
    )


def _is_title(pieces: Sequence[Block]) -> bool:
    first = pieces[0].text
    if part_of_heading(first) != "body" or class_of_heading(first) or _RUN_IN.match(first):
        return False
    if pieces[0].kind == "heading":
        return len(first) <= _LONGEST_TITLE
    follows = next((piece.text for piece in pieces[1:_FRONT_PARTS] if piece.kind == "heading"), "")
    return len(first) <= _LONGEST_TITLE // 2 and part_of_heading(follows) == "abstract"


def _front_matter(pieces: Sequence[Block]) -> int:
    """How many pieces stand above the abstract: authors and their addresses."""
    length = 0
    for index, piece in enumerate(pieces[:_FRONT_PARTS]):
        is_heading = piece.kind == "heading"
        if part_of_heading(piece.text) == "abstract" if is_heading else _RUN_IN.match(piece.text):
            return index
        length += len(piece.text)
        if (
            is_heading and class_of_heading(piece.text) not in {None, "conclusion"}
        ) or length > _FRONT_LENGTH:
            return 0
    return 0


class _Reader:
    """A walk down the pieces of a paper."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self.place = Place()
        self.labels: set[str] = set()
        self.n_texts = 0  # in the abstract

    def heading(self, text: str, level: int) -> None:
        name = text.strip(" .:").casefold()
        if part_of_heading(text) == "abstract" or (name == "summary" and not self.blocks):
            self.place.enter("abstract", level)
            self.labels, self.n_texts = set(), 0
        elif self.place.part == "abstract" and (level > self.place.level > 0 or self.is_label(text, name)):
            self.labels.add(name)
            self.blocks.append(Block("abstract", text))
        elif self.place.step(text, level):
            if self.place.part == "body":
                self.blocks.append(Block("heading", text))
            self.left_out["back matter"] += self.place.part == "back matter"

    def is_label(self, text: str, name: str) -> bool:
        """Whether a heading within the abstract is a label of it; the body begins at the first that is none."""
        opens_body = name.endswith("introduction") and (bool(self.labels) or self.n_texts > 0)
        begun = bool(self.labels) or not self.n_texts or text.endswith(":")
        return is_label(text) and begun and name not in self.labels and not opens_body

    def text(self, text: str) -> None:
        where = self.place.part
        if where == "references":
            self.left_out["references"] += 1
        elif where == "back matter":
            return
        elif (caption := CAPTION.match(text)) and _STOP.match(caption["rest"]):
            self.left_out["tables" if caption["tables"] else "figures"] += 1
        elif _KEYWORDS.match(text):
            self.left_out["back matter"] += 1
        elif where == "abstract":
            self.n_texts += 1
            self.blocks.append(Block("abstract", text))
        elif not self.blocks and (run_in := _RUN_IN.match(text)):
            self.blocks.append(Block("abstract", text[run_in.end() :]))
        else:
            self.blocks.append(Block("paragraph", text))
