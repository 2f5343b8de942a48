"""Where the sentences of a paper stand: their boxes on the pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from evidencebench_core.papers.paper import Box
from evidencebench_core.papers.pdf.chars import Page, Word
from evidencebench_core.papers.pdf.lines import Line
from evidencebench_core.papers.pdf.text import plain

_ABOVE: Final = 0.75  # how far letters reach from the baseline, in ems
_BELOW: Final = 0.22

_Place = tuple[Line, Word]


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
        boxes.append(_boxes(places[start:end], pages) if start >= 0 else ())
    return tuple(boxes)


def _boxes(places: Sequence[_Place], pages: Mapping[int, Page]) -> tuple[Box, ...]:
    boxes = []
    for _, group in groupby(places, key=lambda place: id(place[0])):
        together = list(group)
        line, words = together[0][0], [word for _, word in together]
        page = pages[line.page]
        top, foot = line.y + _ABOVE * line.size, line.y - _BELOW * line.size
        x0, x1 = min(word.x0 for word in words), max(word.x1 for word in words)
        edges = (round(edge, 1) for edge in (x0, page.height - top, x1, page.height - foot))
        boxes.append(Box(page.number + 1, *edges))
    return tuple(boxes)
