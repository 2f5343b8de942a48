"""Where the sentences of a paper stand: their boxes on the pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.paper import Box, Paper
from evidencebench_core.papers.pdf.assembly import Assembly
from evidencebench_core.papers.pdf.page import Line, Page, Word
from evidencebench_core.papers.pdf.running_text import plain

_ABOVE: Final = 0.75  # how far letters reach from the baseline, in ems
_BELOW: Final = 0.22

_Place = tuple[Line, Word]


def sentence_boxes(paper: Paper, printed: Assembly, pages: Mapping[int, Page]) -> tuple[tuple[Box, ...], ...]:
    """For every sentence of the paper one box for each line that it stands on.

    The sentences of a block are its printed characters in the same order, white space and hyphens of broken
    words aside; so they are found by counting along.
    """
    boxes: list[tuple[Box, ...]] = []
    if paper.title:
        boxes.append(_boxes([(line, word) for line in printed.title_lines for word in line.words], pages))
    for block, lines in zip(printed.blocks, printed.lines, strict=True):
        rest = _without_blanks(clean_text(block.text))
        places = _places(rest, lines)
        while rest and len(boxes) < len(paper.sentences):
            sentence = _without_blanks(paper.sentences[len(boxes)])
            if not rest.startswith(sentence):
                break  # a block that is no part of the paper: a second title, ornaments
            boxes.append(_boxes(places[: len(sentence)], pages))
            rest, places = rest[len(sentence) :], places[len(sentence) :]
    boxes += [()] * (len(paper.sentences) - len(boxes))
    return tuple(boxes)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _places(text: str, lines: Sequence[Line]) -> list[_Place]:
    """For every character of a block's text the word in which it is printed."""
    printed = list(_characters(lines))
    found: list[_Place] = []
    at = 0
    for character in text if printed else "":
        while at + 1 < len(printed) and printed[at][0] != character and printed[at][0] == "-":
            at += 1
        found.append(printed[at][1])
        at = min(at + 1, len(printed) - 1)
    return found


def _characters(lines: Sequence[Line]) -> Iterator[tuple[str, _Place]]:
    """The characters of lines, with their words; without a label or a stop that was taken off a line."""
    for line in lines:
        places = [
            (character, (line, word))
            for word in line.words
            for character in _without_blanks(plain(word.text))
        ]
        text = _without_blanks(plain(line.text))
        start = max(0, "".join(character for character, _ in places).find(text))
        yield from places[start : start + len(text)]


def _boxes(places: Sequence[_Place], pages: Mapping[int, Page]) -> tuple[Box, ...]:
    boxes = []
    for _, group in groupby(places, key=lambda place: id(place[0])):
        together = list(group)
        line, words = together[0][0], [word for _, word in together]
        page = pages[words[0].page]
        top, foot = line.y + _ABOVE * line.size, line.y - _BELOW * line.size
        x0, x1 = min(word.x0 for word in words), max(word.x1 for word in words)
        edges = (round(edge, 1) for edge in (x0, page.height - top, x1, page.height - foot))
        boxes.append(Box(page.number + 1, *edges))
    return tuple(boxes)
