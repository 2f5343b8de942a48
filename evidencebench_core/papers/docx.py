"""DOCX (Word, LibreOffice, Google Docs) to blocks: by python-docx."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.files import vocabulary
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, RawPaper, clean_text
from evidencebench_core.papers.headings import is_label, part_of_heading

if TYPE_CHECKING:
    from docx.text.paragraph import Paragraph

_MAX_BOLD: Final = 110  # characters of a heading that is only bold
_HEADING: Final = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop)\s*(\d)", re.IGNORECASE)
_NAMES: Final = vocabulary("articles.toml")["docx"]
_TOP: Final = ".//*[self::w:p or self::w:tbl][not(ancestor::w:p or ancestor::w:tbl)]"


def read_docx(content: bytes, place: str) -> RawPaper:
    """Headings by style or outline level, or bold and short; tables, text boxes and deletions are not read."""
    import docx
    from docx.text.paragraph import Paragraph

    try:
        document = docx.Document(io.BytesIO(content))
    except Exception as error:  # whatever python-docx and zipfile meet in a broken file
        remedy = "Save it again as DOCX, or give PDF, JATS XML or text."
        raise PaperError(place, "cannot be read as DOCX", remedy) from error
    paper = RawPaper([])
    left_out = Counter[str]()
    for element in document.element.body.xpath(_TOP):
        if _tag(element) == "tbl":
            left_out["tables"] += 1
            continue
        for name, path in _NAMES["counted"].items():
            left_out[name] += len(element.xpath(path))
        _add_paragraph(paper, Paragraph(element, document))
    paper.left_out = left_out
    return paper


def _add_paragraph(paper: RawPaper, paragraph: Paragraph) -> None:
    text = clean_text("".join(_pieces(paragraph._p)))
    if not any(map(str.isalnum, text)):
        return
    style = (paragraph.style.name or "").casefold() if paragraph.style is not None else ""
    heading = _HEADING.fullmatch(style)
    level = int(heading[1]) if heading else _outline_level(paragraph)
    if style == "title" and not paper.title and not paper.blocks:
        paper.title = text
    elif style != "caption":
        is_heading = style == "title" or level is not None or _is_bold_heading(paragraph, text)
        paper.blocks.append(Block("heading" if is_heading else "paragraph", text, level or 0))


def _outline_level(paragraph: Paragraph) -> int | None:
    """The heading level that a paragraph or its style names itself."""
    elements = [paragraph._p, *([] if paragraph.style is None else [paragraph.style.element])]
    values = [value for element in elements for value in element.xpath("./w:pPr/w:outlineLvl/@w:val")]
    return next((int(value) + 1 for value in values if re.fullmatch("[0-8]", value)), None)


def _is_bold_heading(paragraph: Paragraph, text: str) -> bool:
    """A short paragraph without a stop, all of it bold; a known heading needs not be bold."""
    if part_of_heading(text) != "body" or (is_label(text) and text[:1].isupper()):
        return True
    if len(text) > _MAX_BOLD or text.endswith((".", ",", ";", ":", "?", "!")):
        return False
    runs = [run for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(run.bold for run in runs)


def _pieces(element: Any) -> Iterator[str]:
    for child in element:
        tag = _tag(child)
        if tag == "t":
            yield child.text or ""
        elif tag in {"tab", "br", "cr"}:
            yield " "
        elif tag == "noBreakHyphen":
            yield "-"
        elif tag not in _NAMES["unread"]:
            yield from _pieces(child)


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
