"""A user's file to a `Paper`; its kind is recognised by its content.

`read_paper` hands every file to a child process, whose time and memory are bounded (`papers.child`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import RawPaper, clean_text, paper_of_blocks
from evidencebench_core.papers.docx import read_docx
from evidencebench_core.papers.html_page import read_html
from evidencebench_core.papers.jats import read_jats
from evidencebench_core.papers.markdown import looks_like_markdown, read_markdown
from evidencebench_core.papers.paper import Paper, PaperKind
from evidencebench_core.papers.plain_text import decoded_text, read_text
from evidencebench_core.papers.tei import read_tei

ENDINGS: Final = ("pdf", "docx", "xml", "nxml", "html", "htm", "txt", "text", "md", "markdown")
_FORMATS: Final[Mapping[PaperKind, Callable[[bytes, str], RawPaper]]] = {
    "jats": read_jats,
    "html": read_html,
    "tei": read_tei,
    "docx": read_docx,
    "markdown": read_markdown,
    "text": read_text,
}
_GIVE: Final = "Give JATS XML, TEI, a saved page, PDF, DOCX, Markdown or plain text, or paste the text."
_XML: Final = (b"\xfe\xff\x00<", b"\xff\xfe<\x00", b"\x00<\x00", b"<\x00")  # UTF-16
_HTML: Final = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_TEI: Final = re.compile(rb"<(?:\w+:)?TEI[\s>]")
_PAGES: Final = frozenset({"html", "htm", "xhtml"})
_MARKDOWN: Final = frozenset({"md", "markdown", "qmd", "rmd"})


def paper_of_file(content: bytes, name: str = "") -> Paper:
    """The paper in a file, read in this process, which should be the child; `PaperError` if it is not a paper."""
    place = file_place(name)
    if not content.strip():
        raise PaperError(place, "is empty", _GIVE)
    kind = kind_of(content, name)
    if kind == "pdf":
        from evidencebench_core.papers.pdf import paper_of_pdf  # pdfium is loaded only for a PDF

        return paper_of_pdf(content, place)
    return paper_of_blocks(_FORMATS[kind](content, place), kind)


def kind_of(content: bytes, name: str = "") -> PaperKind:
    """The kind of a file by its first bytes; its ending decides for Markdown and parts of pages."""
    head = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    ending = name.rpartition(".")[2].lower()
    if b"%PDF-" in content[:1024]:
        return "pdf"
    if content.startswith(b"PK\x03\x04"):
        return "docx"
    if content.startswith(_XML) or re.match(rb"<[?!A-Za-z]", head):
        return "html" if _HTML.search(head) or ending in _PAGES else "tei" if _TEI.search(head) else "jats"
    if ending in _MARKDOWN:
        return "markdown"
    return "markdown" if looks_like_markdown(decoded_text(content, file_place(name))[0]) else "text"


def file_place(name: str) -> str:
    """The file's name in messages: the last part, shortened, without invisible characters."""
    last = clean_text(re.split(r"[/\\]", name)[-1])
    return shown(last) if last else "the file"
