"""What the blocks of a paper are: its title, its abstract, headings, text, footnotes, formulas, references."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from evidencebench_core.data.files import vocabulary
from evidencebench_core.data.quotes import letters
from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.papers.headings import is_aside, is_label, part_of_heading
from evidencebench_core.papers.pdf.blocks import BULLET, TextBlock, ends_sentence
from evidencebench_core.papers.pdf.lines import Body, Line

Role = Literal["heading", "text", "footnote", "formula", "cells"]

_MAX_HEADING: Final = 22  # words
_NUMBERED: Final = re.compile(r"(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|[A-H][.)])\s+[A-Z]")
_FOOTNOTE: Final = re.compile(
    rf"[*†‡§¶#∗⁎]|(?-i:[a-z\d]\s?(?=[A-Z]))|\(?(?:{'|'.join(vocabulary('headings.toml')['footnotes'])})",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"\S@\S")
_MATHEMATICS: Final = re.compile(r"[=∑∫√±×÷∏≈≤≥∂−+\ufffd]")
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
    if block.page == 0 and len(_ADDRESS.findall(block.text)) > 0.2 * block.n_words:
        return "footnote"
    if is_small and (block.page == 0 or block.is_last):
        is_raised = block.lines[0].words[0].size < 0.85 * block.size
        if is_raised or _FOOTNOTE.match(block.text):
            return "footnote"
    n_plain = len(_PLAIN_WORD.findall(block.text))
    has_figures = any(map(str.isdigit, block.text)) and not block.text.endswith((".", ")"))
    if n_plain < 0.1 * block.n_words and (has_figures or block.n_words >= 8) and not BULLET.match(block.text):
        return "cells"  # of a table without a caption, labels of a figure
    return "formula" if _is_formula(block, n_plain) else "text"


def _is_heading(block: TextBlock, body: Body) -> bool:
    text, lines = block.text, block.lines
    n_letters = sum(map(str.isalpha, text))
    is_long = block.n_words > _MAX_HEADING or len(lines) > 3 or len(text) > 160
    if is_long or "@" in text or n_letters < max(3.0, 0.4 * len(text.replace(" ", ""))) or text[0].islower():
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
    is_indented = block.left - min(line.x0 for line in block.column) > 1.5 * block.size
    return is_indented and n_plain <= 3


def run_in_heading(line: Line, body: Body) -> int:
    """How many words of a paragraph's first line are a heading that begins it; 0 without one."""
    for style in ("bold", "italic"):
        n = next((i for i, word in enumerate(line.words) if not getattr(word, style)), 0)
        if not 0 < n <= 12:
            continue
        text = Line(line.words[:n]).text
        is_long = len(text) > 3 and (style == "bold" or n > 1 or len(text) > 5)
        if text.endswith((".", ":", "—", "–", "?")) and text[0].isupper() and is_long:
            return n
    return 0


# -- the front ------------------------------------------------------------------------------------


def title_blocks(blocks: Sequence[TextBlock], stated: str, body: Body) -> list[TextBlock]:
    """The title as the file states it, if it is printed; else the largest letters, else the first bold lines."""
    first_page = [block for block in blocks if block.page == 0]
    if len(stated.split()) > 2:
        for i in range(len(first_page)):
            for n in (1, 2, 3):
                if letters("".join(block.text for block in first_page[i : i + n])) == letters(stated):
                    return first_page[i : i + n]
    candidates = [block for block in first_page if block.n_words >= 3 and len(block.lines) <= 8]
    candidates = [o for o in candidates if class_of_heading(o.text) is None and not is_aside(o.text)]
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


def abstract_range(blocks: Sequence[TextBlock], roles: Sequence[Role], body: Body) -> tuple[int, int, int]:
    """Where the abstract begins and ends, and where the text begins at the earliest."""
    for i, (block, role) in enumerate(zip(blocks, roles, strict=True)):
        if block.page > 2:  # below a title page and a page with the abstract
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
    texts = [i for i in range(heading) if roles[i] == "text" and _has_sentences(blocks[i])]
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


def _has_sentences(block: TextBlock) -> bool:
    """Whether it has, unlike names and addresses."""
    return block.n_words > 60 or (block.n_words >= 8 and ends_sentence(block.text))


def _end_of_abstract(blocks: Sequence[TextBlock], roles: Sequence[Role], start: int, body: Body) -> int:
    """Index of the first block below an abstract; one with labels as headings ends with its conclusion."""
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
        elif role == "text":
            opening = opening or block
            if _looks_else(opening, block, body):
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


def start_of_references(blocks: Sequence[TextBlock], roles: Sequence[Role]) -> int:
    """Index of the block where numbered references without a heading begin; past the end without them."""
    has_heading = any(
        role == "heading" and part_of_heading(block.text) == "references"
        for block, role in zip(blocks, roles, strict=True)
    )
    for start in range(len(blocks) if has_heading else len(blocks) // 3, len(blocks)):
        texts = [line.text for block in blocks[start:] for line in block.lines]
        numbers = [entry[1] for entry in map(_ENTRY.match, texts) if entry]
        n_years = sum(_YEAR.search(text) is not None for text in texts)
        begins = _ENTRY.match(texts[0]) and numbers[:2] == ["1", "2"]
        if begins and len(numbers) >= 5 and n_years >= len(texts) / 5:
            return start
    return len(blocks)
