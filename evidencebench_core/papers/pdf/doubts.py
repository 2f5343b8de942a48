"""Where the text recovered from a PDF is doubtful, told from the text and from what of each page is in it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Final

from evidencebench_core.papers.paper import Doubt, Paper
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.columns import Column
from evidencebench_core.papers.pdf.page import UNREADABLE, Line, Page

# "P 5 0.03", "n ¼ 12", "P , .05": symbols of mathematical fonts that came out as other characters.
_OTHER_SYMBOL: Final = re.compile(
    r"\b[PpNnFtr]\s?(?:[¼D]\s?[\d.]+|[5,]\s0?\.\d+)|\d[\d.]*\s?[¼þ]\s?[\d.]+|\d+\.\d+\s6\s\d+\.\d+"
)
_SHORT_ABSTRACT: Final = 60  # words
_LONG_ABSTRACT: Final = 450
_FEWEST_CHARACTERS: Final = 600  # of a page, to tell anything from shares of it
_WIDE_GAP: Final = 2.2  # ems within a line of running text, as between columns
_FEWEST_LINES: Final = 3


def doubts_of(
    paper: Paper,
    pages: Sequence[Page],
    columns: Sequence[Column],
    in_text: Iterable[Line],
    set_aside: Iterable[Line],
    body: Body,
) -> tuple[Doubt, ...]:
    """Doubts that a reader should check against the printed paper."""
    first: dict[int, str] = {}  # the section of the first sentence of a page
    for section, boxes in zip(paper.sections, paper.boxes, strict=True):
        for box in boxes:
            first.setdefault(box.page - 1, section)
    return (
        *_of_abstract(paper),
        *_of_characters(paper),
        *_of_columns(columns, body, first),
        *_of_pages(pages, _characters(chain(in_text, set_aside)), first),
    )


def _of_abstract(paper: Paper) -> Iterable[Doubt]:
    kinds = zip(paper.sentences, paper.sentence_types, strict=True)
    n_words = sum(len(text.split()) for text, kind in kinds if kind == "abstract")
    text = ""
    if 0 < n_words < _SHORT_ABSTRACT:
        text = f"The abstract has only {n_words} words; some may be missing."
    elif n_words > _LONG_ABSTRACT:
        text = f"The abstract has {n_words} words; it may hold text that is not part of it."
    if text:
        yield Doubt("Abstract", None, "abstract", text)


def _of_characters(paper: Paper) -> Iterable[Doubt]:
    unreadable: Counter[str] = Counter()
    other: dict[str, str] = {}  # an example by section
    for text, section in zip(paper.sentences, paper.sections, strict=True):
        unreadable[section] += any(c == UNREADABLE or unicodedata.category(c) in ("Co", "Cc") for c in text)
        if found := _OTHER_SYMBOL.search(text):
            other.setdefault(section, found[0])
    for section, n in (+unreadable).items():
        what = "A sentence has characters" if n == 1 else f"{n} sentences have characters"
        text = f"{what} that the file's fonts do not name, shown as {UNREADABLE}."
        yield Doubt(section, None, "characters", text)
    for section, example in other.items():
        text = f"“{example}”: a symbol such as = or < seems to have come out as another character."
        yield Doubt(section, None, "characters", text)


def _of_columns(columns: Sequence[Column], body: Body, sections: Mapping[int, str]) -> Iterable[Doubt]:
    counts: Counter[int] = Counter()
    for column in columns:
        gapped = sum(_has_wide_gap(line, body) for line in column.lines)
        counts[column.page] += gapped if gapped >= _FEWEST_LINES else 0
    for page, n in counts.items():
        if n and page in sections:
            text = f"{n} lines of page {page + 1} have wide gaps: two columns, or a table, may be mixed into the text."
            yield Doubt(sections[page], page + 1, "columns", text)


def _has_wide_gap(line: Line, body: Body) -> bool:
    return line.size >= 0.8 * body.size and any(
        right.x0 - left.x1 > _WIDE_GAP * line.size
        for left, right in pairwise(line.words[1:-1])  # with two words at least on either side
    )


def _of_pages(pages: Sequence[Page], read: Counter[int], sections: Mapping[int, str]) -> Iterable[Doubt]:
    last = ""
    for page in pages:
        last = sections.get(page.number, last)
        n = page.counts.characters + page.counts.turned
        if n >= _FEWEST_CHARACTERS and read[page.number] < 0.5 * n:
            text = f"Most of page {page.number + 1} is in no sentence"
            text += ": it is set sideways." if page.counts.turned > 0.5 * n else "; look at the page itself."
            yield Doubt(last, page.number + 1, "left out", text)


def _characters(lines: Iterable[Line]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for line in lines:
        for word in line.words:
            counts[word.page] += len(word.text)
    return counts
