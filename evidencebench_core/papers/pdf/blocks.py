"""Lines that belong together by their look, and the role of each group: heading, text, footnote, formula."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Literal

from evidencebench_core.data.sections import class_of_heading, is_aside, part_of_heading
from evidencebench_core.papers.pdf.columns import Column
from evidencebench_core.papers.pdf.lines import Body, Line

Role = Literal["heading", "text", "footnote", "formula", "cells"]

BULLETS: Final = "•▪■●◦‣ \ufffd"  # of lists
_MAX_HEADING: Final = 22  # words
_SENTENCE_END: Final = re.compile(r"[.?!:;][\"'”’)\]]*(?:\[?\d[\d,–\-\]\[ ]*)?[*†‡§]*$")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|figs?|vs|cf|approx|dr|drs|no|nos|ca|resp|st|eqs?|refs?)|\b[A-Z])\.$", re.I
)
_NUMBERED: Final = re.compile(r"(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|[A-H][.)])\s+[A-Z]")
_FOOTNOTE: Final = re.compile(
    r"(?:[*†‡§¶#∗⁎]|(?-i:[a-z\d]\s?(?=[A-Z])))|\(?(?:corresponding author|correspondence|e-?mail|abbreviations?\b|"
    r"how to cite|cite this|address (?:for|all|correspondence)|present address|received\b|accepted\b|published\b|"
    r"copyright|©|\(c\)|conflicts? of interest|funding:|citation:|academic editor|editor:|competing interests:|"
    r"supported by|this (?:work|study) was (?:supported|funded)|to whom correspondence|edited by|these authors|"
    r"the authors? ha(?:s|ve)|open access\b|this is an open|article history|preprint submitted|doi\b)",
    re.IGNORECASE,
)
_MATHEMATICS: Final = re.compile(r"[=∑∫√±×÷∏≈≤≥∂−+\ufffd]")
_FORMULA_NUMBER: Final = re.compile(r"\(\s?[A-Z]?\d{1,3}[a-z]?\s?\)$")
_PLAIN_WORD: Final = re.compile(r"\b[a-z]{4,}\b")


class TextBlock:
    """Consecutive lines of one column with the same look."""

    def __init__(self, lines: list[Line], column: Column, gap: float, *, is_last: bool) -> None:
        self.lines, self.column, self.is_last = lines, column, is_last
        self.gap = gap  # above it, in lines of the running text
        self.text = " ".join(line.text for line in lines).strip()
        self.size = max(line.size for line in lines)
        words = [word for line in lines for word in line.words]
        self.n_words = len(words)
        self.largest = max(word.size for word in words)  # of small capitals the size of the capitals
        n_characters = sum(len(word.text) for word in words)
        self.bold = sum(len(word.text) for word in words if word.bold) / n_characters
        self.italic = sum(len(word.text) for word in words if word.italic) / n_characters
        starts = Counter(round(line.x0) for line in lines[1:] or lines)
        self.left = float(min(starts, key=lambda x: (-starts[x], x)))  # the first line may be indented

    @property
    def page(self) -> int:
        return self.column.page


def ends_sentence(text: str) -> bool:
    """Whether a text ends as sentences do, closing brackets and citations aside."""
    return _SENTENCE_END.search(text) is not None


def ends_abbreviated(text: str) -> bool:
    """Whether a text ends with "et al." or the like, which ends no sentence."""
    return _ABBREVIATION.search(text) is not None


def blocks_of(columns: Iterable[Column], body: Body) -> list[TextBlock]:
    """The lines of columns, grouped where white, size or weight change."""
    blocks: list[TextBlock] = []
    for column in columns:
        groups: list[tuple[list[Line], float]] = []
        step = 0.0
        for above, line in pairwise([None, *column.lines]):
            assert line is not None  # noqa: S101 - only the first of the pairs is none
            gap = above.y - line.y if above else 1e3
            usual = step or body.leading * max(line.size, above.size if above else 0.0) / body.size
            if above is None or gap > 1.28 * usual or _are_apart(above, line, body):
                groups.append(([line], gap / body.leading))
                step = 0.0
            else:
                groups[-1][0].append(line)
                step = gap if gap > 0.8 * line.size else step
        for lines, gap in groups:
            blocks.append(TextBlock(lines, column, gap, is_last=lines is groups[-1][0]))
    return blocks


def _are_apart(above: Line, line: Line, body: Body) -> bool:
    """Whether two lines cannot be of one paragraph or heading."""
    is_short = len(above.words) <= 14
    if abs(above.size - line.size) > 0.06 * max(above.size, line.size):
        return True
    if line.page < 2 and is_aside(line.text):
        return True
    if _names_section(line, body) or _names_section(above, body):
        return True
    if (above.bold > 0.9) != (line.bold > 0.9):
        # Where one of them is mixed, bold words begin or end within a paragraph.
        ends = above.bold < 0.1 or ends_sentence(above.text) or is_short
        return min(above.bold, line.bold) < 0.1 and ends
    is_slanted = (above.italic > 0.9) != (line.italic > 0.9) and min(above.italic, line.italic) < 0.1
    return is_slanted and is_short


def _names_section(line: Line, body: Body) -> bool:
    """Whether a line is "References", "Methods" or the like, set unlike the running text."""
    text = line.text.strip()
    if len(line.words) > 4 or text.endswith(".") or (body.matches(line) and not text.isupper()):
        return False
    return class_of_heading(text) is not None or part_of_heading(text) == "references"


def paragraphs_of(block: TextBlock) -> Sequence[list[Line]]:
    """The paragraphs of a block of running text.

    A new one begins at an indented line, or below a line that ends early, if the text before ends a sentence.
    """
    left, right = block.left, block.column.x1
    paragraphs: list[list[Line]] = [[block.lines[0]]]
    for above, line in pairwise(block.lines):
        indent = line.x0 - left
        is_indented = 0.7 * line.size < indent < 6 * line.size and abs(above.x0 - line.x0) > 0.5 * line.size
        is_early = right - above.x1 > 0.15 * (right - left)
        is_whole = ends_sentence(above.text) and not ends_abbreviated(above.text)
        if (is_whole and (is_indented or is_early)) or line.text[0] in BULLETS:
            paragraphs.append([line])
        else:
            paragraphs[-1].append(line)
    return paragraphs


def role_of(block: TextBlock, body: Body) -> Role:
    """The role of a block, by its look and its words."""
    if _is_heading(block, body):
        return "heading"
    is_small = block.size < 0.95 * body.size
    if is_small and (block.page == 0 or block.is_last):
        is_raised = block.lines[0].words[0].size < 0.85 * block.size
        if is_raised or _FOOTNOTE.match(block.text):
            return "footnote"
    n_plain = len(_PLAIN_WORD.findall(block.text))
    has_figures = any(map(str.isdigit, block.text)) and not block.text.endswith((".", ")"))
    is_list = block.text[0] in BULLETS or "=" in block.text
    if n_plain < 0.1 * block.n_words and (has_figures or block.n_words >= 8) and not is_list:
        return "cells"  # of a table without a caption, labels of a figure
    return "formula" if _is_formula(block, n_plain) else "text"


def _is_heading(block: TextBlock, body: Body) -> bool:
    text, lines = block.text, block.lines
    n_letters = sum(map(str.isalpha, text))
    is_long = block.n_words > _MAX_HEADING or len(lines) > 3 or len(text) > 160
    if is_long or n_letters < max(3.0, 0.4 * len(text.replace(" ", ""))) or text[0].islower():
        return False
    is_apart = block.gap > 1.15
    is_bold = block.bold > 0.9 and not body.is_bold
    is_strong = is_bold or block.size > 1.06 * body.size
    is_small = block.largest < 0.93 * body.size
    if class_of_heading(text) is not None or part_of_heading(text) == "references":
        unlike_body = is_apart or not body.matches(lines[0]) or text.isupper()
        return unlike_body and (block.n_words <= 8 or is_strong)
    is_numbered = _NUMBERED.match(text) is not None
    ends = ends_sentence(text) and not text.endswith((":", "?")) and not is_numbered
    if ends or text.endswith((",", ";")):
        # A run-in heading that fills its line is a heading, too.
        return is_bold and text.endswith(".") and block.n_words <= 12 and not is_small
    other_font = lines[0].font != body.font
    if not is_strong and (text.isupper() or is_numbered):
        return (is_apart or other_font) and block.largest > 0.85 * body.size
    is_slanted = block.italic > 0.9 or (other_font and is_apart)
    is_short = block.n_words <= 14 and len(lines) <= 2
    return not is_small and (is_strong or (is_slanted and is_short))


def _is_formula(block: TextBlock, n_plain: int) -> bool:
    if len(block.lines) > 3 or not _MATHEMATICS.search(block.text):
        return False
    is_numbered = _FORMULA_NUMBER.search(block.text) is not None
    is_indented = block.left - block.column.x0 > 1.5 * block.size
    has_few_words = n_plain <= (6 if is_numbered else 3)
    return (is_indented or is_numbered) and has_few_words and not block.text.endswith((".)", "%)"))


def run_in_heading(line: Line, body: Body) -> int:
    """How many words of a paragraph's first line are a heading that begins it; 0 without one."""
    if body.is_bold:
        return 0
    for look in ("bold", "italic"):
        n = next((i for i, word in enumerate(line.words) if not getattr(word, look)), 0)
        if not 0 < n <= 12:
            continue
        text = Line(line.words[:n]).text
        is_long = len(text) > 3 and (look == "bold" or n > 1 or len(text) > 5)
        if text.endswith((".", ":", "—", "–", "?")) and text[0].isupper() and is_long:
            return n
    return 0
