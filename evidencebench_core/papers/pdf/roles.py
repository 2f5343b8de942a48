"""The role of each chunk of a paper: heading, running text, footnote, formula."""

from __future__ import annotations

import re
from typing import Final, Literal

from evidencebench_core.data.sections import class_of_heading, part_of_heading
from evidencebench_core.papers.pdf.body import Body
from evidencebench_core.papers.pdf.chunk import Chunk, ends_sentence
from evidencebench_core.papers.pdf.page import Line

Role = Literal["heading", "text", "footnote", "formula"]

_LONGEST_HEADING: Final = 22  # words
_NUMBERED: Final = re.compile(r"(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|[A-H][.)])\s+[A-Z]")
_FOOTNOTE: Final = re.compile(
    r"(?:[*†‡§¶#∗⁎]|(?-i:[a-z\d]\s?(?=[A-Z])))|\(?(?:corresponding author|correspondence|e-?mail|abbreviations?\b|"
    r"how to cite|cite this|"
    r"address (?:for|all|correspondence)|present address|received\b|accepted\b|published\b|copyright|©|\(c\)|"
    r"conflicts? of interest|funding:|citation:|academic editor|editor:|competing interests:|supported by|"
    r"this (?:work|study) was (?:supported|funded)|to whom correspondence|edited by|these authors|"
    r"the authors? ha(?:s|ve)|open access\b|this is an open|article history|preprint submitted|doi\b)",
    re.IGNORECASE,
)
_MATHEMATICS: Final = re.compile(r"[=∑∫√±×÷∏≈≤≥∂−+]")
_FORMULA_NUMBER: Final = re.compile(r"\(\s?[A-Z]?\d{1,3}[a-z]?\s?\)$")
_PLAIN_WORD: Final = re.compile(r"\b[a-z]{4,}\b")
_RUN_IN_END: Final = re.compile(r"[.:—–?]$")


def role_of(chunk: Chunk, body: Body) -> Role:
    """The role of a chunk, by its look and its words."""
    text = chunk.text.strip()
    if _is_heading(chunk, text, body):
        return "heading"
    if _is_footnote(chunk, text, body):
        return "footnote"
    if _is_formula(chunk, text):
        return "formula"
    return "text"


def _is_heading(chunk: Chunk, text: str, body: Body) -> bool:
    n_letters = sum(character.isalpha() for character in text)
    if not 1 <= chunk.n_words <= _LONGEST_HEADING or len(chunk.lines) > 3 or len(text) > 160:
        return False
    if n_letters < max(3.0, 0.4 * len(text.replace(" ", ""))) or text[0].islower():
        return False
    bold = chunk.bold > 0.9 and not body.bold
    larger = chunk.size > 1.06 * body.size
    if class_of_heading(text) is not None or part_of_heading(text) == "references":
        alone = chunk.gap > 1.15 or not body.looks(chunk.lines[0]) or text.isupper()
        return alone and (chunk.n_words <= 8 or bold or larger)
    smaller = chunk.largest < 0.93 * body.size
    if _reads_on(text):
        # A run-in heading that fills its line is a heading, too.
        return bold and text.endswith(".") and chunk.n_words <= 12 and not smaller
    return ((bold or larger) and not smaller) or _is_plain_heading(chunk, text, body)


def _reads_on(text: str) -> bool:
    """Whether it ends as sentences and clauses do, and headings do not."""
    if text.endswith((",", ";")):
        return True
    return ends_sentence(text) and not text.endswith((":", "?")) and not _NUMBERED.match(text)


def _is_plain_heading(chunk: Chunk, text: str, body: Body) -> bool:
    """Whether capitals, a number or another font make a heading of text that is neither bold nor large."""
    other_font = chunk.lines[0].style[0] != body.font
    apart = chunk.gap > 1.15
    if text.isupper() or _NUMBERED.match(text):
        return (apart or other_font) and chunk.largest > 0.85 * body.size
    slanted = chunk.italic > 0.9
    if not slanted and not (other_font and apart):
        return False
    return chunk.largest >= 0.93 * body.size and chunk.n_words <= 14 and len(chunk.lines) <= 2


def _is_footnote(chunk: Chunk, text: str, body: Body) -> bool:
    small = chunk.size < 0.95 * body.size
    if not small or (chunk.column.page > 0 and not chunk.is_last):
        return False
    raised = chunk.lines[0].words[0].size < 0.85 * chunk.size
    return bool(raised or _FOOTNOTE.match(text))


def _is_formula(chunk: Chunk, text: str) -> bool:
    if len(chunk.lines) > 3 or not _MATHEMATICS.search(text):
        return False
    indented = chunk.left - chunk.column.x0 > 1.5 * chunk.size
    n_plain = len(_PLAIN_WORD.findall(text))
    numbered = _FORMULA_NUMBER.search(text) is not None
    return (indented or numbered) and n_plain <= (6 if numbered else 3) and not text.endswith((".)", "%)"))


def run_in_heading(line: Line, body: Body) -> int:
    """How many words of a paragraph's first line are a heading that begins it; 0 without one."""
    words = line.words
    if body.bold or not words:
        return 0
    for what in ("bold", "italic"):
        n = next((i for i, word in enumerate(words) if not getattr(word, what)), len(words))
        if not 0 < n < len(words) or n > 12:
            continue
        text = Line(list(words[:n])).text
        long_enough = len(text) > 3 and (what == "bold" or n > 1 or len(text) > 5)
        if _RUN_IN_END.search(text) and text[0].isupper() and long_enough:
            return n
    return 0
