"""A file of a reader to a `Paper`: which kind it is, is told by what is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, get_args

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.paper import Paper, PaperKind

ENDINGS: Final = ("pdf", "docx", "xml", "nxml", "txt", "text", "md", "markdown")
_GIVE: Final = "Give JATS XML, PDF, DOCX, Markdown or plain text, or paste the text."
_PICTURES: Final = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*")
_FOREIGN: Final[
    tuple[tuple[bytes | tuple[bytes, ...], str, str], ...]
] = (  # how a file begins, what it is, remedy
    (b"\xd0\xcf\x11\xe0", "an old Word or Office file (.doc)", "Save it as DOCX."),
    (b"{\\rtf", "RTF", "Save it as DOCX or plain text."),
    (b"\x1f\x8b", "compressed by gzip", "Unpack it first."),
    (b"\xfd7zXZ", "compressed by xz", "Unpack it first."),
    (b"(\xb5/\xfd", "compressed by zstd", "Unpack it first."),
    (b"BZh", "compressed by bzip2", "Unpack it first."),
    (b"Rar!", "a RAR archive", "Unpack it first."),
    (b"7z\xbc\xaf", "a 7z archive", "Unpack it first."),
    (_PICTURES, "a picture", "Give the paper's text, not a picture of it."),
    (b"%!PS", "PostScript", "Save it as PDF."),
    ((b"\x7fELF", b"MZ\x90"), "a program", _GIVE),
    (b"SQLite format 3", "a database", _GIVE),
)
_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>)?\s*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)\b", re.I | re.S
)
_ENCODED_XML: Final = (b"\xfe\xff\x00<", b"\xff\xfe<\x00", b"\x00<\x00", b"<\x00")


def read_paper(
    content: bytes, name: str = "", kind: PaperKind | None = None, limits: Limits = DEFAULT_LIMITS
) -> Paper:
    """The paper that a file holds.

    Parameters
    ----------
    content : bytes
    name : str
        What the file is called: for messages, and its ending decides between text and Markdown. Never a path.
    kind : PaperKind, optional
        To say which kind it is; without it the content tells.
    limits : Limits
        Time and memory are kept to by `read_paper_apart` only, which reads PDFs in any case.

    Raises
    ------
    PaperError
        In one line what is wrong and what to do: too large, no paper, damaged, hostile, no text.
    """
    if kind == "pdf" or (kind is None and b"%PDF-" in content[:1024]):
        from evidencebench_core.papers.sandbox import read_paper_apart

        return read_paper_apart(content, name, kind, limits)
    return read_here(content, name, kind, limits)


def read_here(content: bytes, name: str, kind: PaperKind | None, limits: Limits) -> Paper:
    """The same within this process, PDFs too: for the child process only, which a PDF may crash."""
    place = place_of(name)
    limits.check_size(len(content), place)
    if kind is not None and kind not in get_args(PaperKind):
        remedy = f"Kinds are: {', '.join(get_args(PaperKind))}."
        raise PaperError(place, f"cannot be read as {shown(kind)}", remedy)
    if not content.strip():
        raise PaperError(place, "is empty", _GIVE)
    try:
        known = kind or kind_of(content, name)
        if known == "jats":
            return _paper_of_xml(content, kind, place, limits)
        return _importer(known)(content, place, limits)
    except (PaperError, MemoryError):
        raise
    except Exception as error:
        what = shown(f"{type(error).__name__}: {error}", 120)
        problem = f"could not be read: something in it was not foreseen ({what})"
        remedy = "Give the paper as JATS XML or plain text, or paste its text."
        raise PaperError(place, problem, remedy) from error


def kind_of(content: bytes, name: str = "") -> PaperKind:
    """Which kind a file is, by its first bytes; its name's ending decides between text and Markdown only.

    Raises
    ------
    PaperError
        For files of which we know that we cannot read them.
    """
    place, head = place_of(name), content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    for beginning, what, remedy in _FOREIGN:
        if content.startswith(beginning) or head.startswith(beginning):
            raise PaperError(place, f"is {what}", remedy)
    if b"%PDF-" in content[:1024]:
        return "pdf"
    if content.startswith(b"PK\x03\x04"):
        return "docx"
    if _is_xml(content):
        return "jats"
    return _text_kind(content, name)


def _is_xml(content: bytes) -> bool:
    head = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    return content.startswith(_ENCODED_XML) or re.match(rb"<[?!A-Za-z]", head) is not None


def _text_kind(content: bytes, name: str) -> PaperKind:
    from evidencebench_core.papers.markdown import looks_like_markdown
    from evidencebench_core.papers.plain_text import decoded_text

    ending = name.rpartition(".")[2].lower()
    if ending in {"md", "markdown", "mdown", "qmd", "rmd"}:
        return "markdown"
    return "markdown" if looks_like_markdown(decoded_text(content, place_of(name))[0]) else "text"


def _paper_of_xml(content: bytes, kind: PaperKind | None, place: str, limits: Limits) -> Paper:
    """XML is what its root element says, unless the user says what it is."""
    from evidencebench_core.papers import jats
    from evidencebench_core.papers.xml_tree import xml_root

    if _HTML.match(content[:8192]):
        remedy = "Give the article's XML or PDF, or copy its text from the browser and paste it."
        raise PaperError(place, "is a web page", remedy)
    root = xml_root(content, limits, place)
    if kind == "jats" or root.tag in jats.ROOTS or any(one.tag == "article" for one in root.walk()):
        return jats.paper_of_article(root, place, limits)
    remedy = "Give JATS (<article>)."
    raise PaperError(place, f"is XML of another kind (<{root.tag}>)", remedy)


def _importer(kind: PaperKind) -> Callable[[bytes, str, Limits], Paper]:
    from evidencebench_core.papers import docx, markdown, plain_text

    if kind == "pdf":
        from evidencebench_core.papers import pdf  # pdfium is loaded only for a PDF

        return pdf.paper_of_pdf
    importers: dict[str, Callable[[bytes, str, Limits], Paper]] = {
        "docx": docx.paper_of_docx,
        "text": plain_text.paper_of_text,
        "markdown": markdown.paper_of_markdown,
    }
    return importers[kind]


def place_of(name: str) -> str:
    """How messages call the file: its last part, cut, without anything unseen."""
    from evidencebench_core.papers.blocks import clean_text

    last = clean_text(re.split(r"[/\\]", name)[-1])
    return shown(last) if last else "the file"
