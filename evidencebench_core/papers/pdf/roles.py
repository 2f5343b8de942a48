"""What the blocks of a paper are: its title, its abstract, headings, text, footnotes, formulas, references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from evidencebench_core.data.sections import class_of_heading, is_aside, is_label, part_of_heading
from evidencebench_core.papers.pdf.blocks import BULLETS, TextBlock, ends_sentence
from evidencebench_core.papers.pdf.lines import Body, Line

Role = Literal["heading", "text", "footnote", "formula", "cells"]

_MAX_HEADING: Final = 22  # words
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
ABSTRACT_LABEL: Final = re.compile(
    r"^(?:abstract|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|summary)\s*(?:[.:—–-]+\s*|\s+(?=[A-Z]))(?-i:(?![a-z]))",
    re.IGNORECASE,
)
_MAX_ABSTRACT: Final = 650  # words, labels and all
_ENTRY: Final = re.compile(r"[\[(]?(\d{1,3})[\]).]?\s*(?=[^\W\d_])")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")


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


def abstract_range(blocks: Sequence[TextBlock], roles: Sequence[Role], body: Body) -> tuple[int, int, int]:
    """Where the abstract begins and ends, and where the text begins at the earliest."""
    for i, (block, role) in enumerate(zip(blocks, roles, strict=True)):
        if block.page > 1:
            break
        main = class_of_heading(block.text) if role == "heading" else None
        if main == "abstract" or (main is not None and block.text.lower().startswith("summary")):
            return i + 1, _end_of_abstract(blocks, roles, i + 1, body), i + 1
        if role == "text" and ABSTRACT_LABEL.match(block.text):
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


def start_of_references(blocks: Sequence[TextBlock], roles: Sequence[Role]) -> int:
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


def n_references(blocks: Sequence[TextBlock]) -> int:
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
