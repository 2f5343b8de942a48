"""Where the text recovered from a PDF is doubtful, told from the text and from what of each page is in it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from evidencebench_core.papers.paper import Doubt, Paper
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.columns import Column
from evidencebench_core.papers.pdf.line import Line
from evidencebench_core.papers.pdf.page import UNREADABLE, Page

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
    """What a reader should check against the printed paper."""
    first = _first_sections(paper)
    return (
        *_of_abstract(paper),
        *_of_characters(paper),
        *_of_columns(columns, body, first),
        *_of_pages(pages, in_text, set_aside, first),
    )


def _first_sections(paper: Paper) -> dict[int, str]:
    """For every page, from 0, the section of its first sentence."""
    sections: dict[int, str] = {}
    for section, boxes in zip(paper.sections, paper.boxes, strict=True):
        for box in boxes:
            sections.setdefault(box.page - 1, section)
    return sections


def _of_abstract(paper: Paper) -> Iterable[Doubt]:
    texts = [
        text for text, kind in zip(paper.sentences, paper.sentence_types, strict=True) if kind == "abstract"
    ]
    n_words = sum(len(text.split()) for text in texts)
    if 0 < n_words < _SHORT_ABSTRACT:
        yield Doubt(
            "Abstract", None, "abstract", f"The abstract has only {n_words} words; some may be missing."
        )
    elif n_words > _LONG_ABSTRACT:
        text = f"The abstract has {n_words} words; it may hold text that is not part of it."
        yield Doubt("Abstract", None, "abstract", text)


def _of_characters(paper: Paper) -> Iterable[Doubt]:
    unreadable: Counter[str] = Counter()
    other: defaultdict[str, list[str]] = defaultdict(list)
    sections = ("Abstract" if kind == "abstract" else section for section, kind in _kinds(paper))
    for text, section in zip(paper.sentences, sections, strict=True):
        unreadable[section] += UNREADABLE in text or any(
            unicodedata.category(c) in ("Co", "Cc") for c in text
        )
        found = _OTHER_SYMBOL.search(text)
        if found:
            other[section].append(found[0])
    for section, n in unreadable.items():
        if n:
            what = "A sentence has characters" if n == 1 else f"{n} sentences have characters"
            yield Doubt(
                section,
                None,
                "characters",
                f"{what} that the file's fonts do not name, shown as {UNREADABLE}.",
            )
    for section, examples in other.items():
        text = f"“{examples[0]}”: a symbol such as = or < seems to have come out as another character."
        yield Doubt(section, None, "characters", text)


def _kinds(paper: Paper) -> Iterable[tuple[str, str]]:
    return zip(paper.sections, paper.sentence_types, strict=True)


def _of_columns(columns: Sequence[Column], body: Body, sections: dict[int, str]) -> Iterable[Doubt]:
    counts: Counter[int] = Counter()
    for column in columns:
        gapped = sum(_has_wide_gap(line, body) for line in column.lines)
        counts[column.page] += gapped if gapped >= _FEWEST_LINES else 0
    for page, n in counts.items():
        if n and page in sections:
            text = f"{n} lines of page {page + 1} have wide gaps: two columns, or a table, may be mixed into the text."
            yield Doubt(sections[page], page + 1, "columns", text)


def _has_wide_gap(line: Line, body: Body) -> bool:
    if line.size < 0.8 * body.size:
        return False
    for n, (left, right) in enumerate(pairwise(line.words), start=1):
        if min(n, len(line.words) - n) >= 2 and right.x0 - left.x1 > _WIDE_GAP * line.size:
            return True
    return False


def _of_pages(
    pages: Sequence[Page], in_text: Iterable[Line], set_aside: Iterable[Line], sections: dict[int, str]
) -> Iterable[Doubt]:
    read, aside = _characters(in_text), _characters(set_aside)
    last = ""
    for page in pages:
        last = sections.get(page.number, last)
        n = page.counts.characters + page.counts.turned
        if n < _FEWEST_CHARACTERS or read[page.number] + aside[page.number] >= 0.5 * n:
            continue
        text = f"Most of page {page.number + 1} is in no sentence"
        text += ": it is set sideways." if page.counts.turned > 0.5 * n else "; look at the page itself."
        yield Doubt(last, page.number + 1, "left out", text)


def _characters(lines: Iterable[Line]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for line in lines:
        for word in line.words:
            counts[word.page] += len(word.text)
    return counts
