"""DOCX (Word, LibreOffice, Google Docs) to a `Paper`: the zip and its XML, by the bounded parsers."""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import IO, Final

from evidencebench_core.data.sections import is_label, part_of_heading
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import Block, clean_text
from evidencebench_core.papers.limits import DEFAULT_LIMITS, MIB, Limits
from evidencebench_core.papers.outline import paper_of_outline
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.xml_tree import Element, xml_root

DOCUMENT: Final = "word/document.xml"
_STYLES: Final = "word/styles.xml"
_LONGEST_BOLD: Final = 110  # characters of a heading that is only bold
# Deleted text, codes of fields, text boxes, and the old form of what stands beside it in a newer one.
_UNREAD: Final = frozenset({
    "del", "moveFrom", "instrText", "delText", "txbxContent", "Fallback", "pPr", "rPr", "drawing",
    "pict", "object", "oMathPara", "footnoteReference", "endnoteReference", "commentReference",
    "fldSimpleInstr",
})  # fmt: skip
_HEADING: Final = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop)\s*(\d)", re.IGNORECASE)
# Raised by zipfile and its decompressors (RuntimeError: locked by a password).
_DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError,
    NotImplementedError, OverflowError, ValueError, KeyError,
)  # fmt: skip
_MOST_PARTS: Final = 10_000
_AT_A_TIME: Final = 64 * 1024  # bytes
_OFF: Final = frozenset({"0", "false", "none", "off"})


def paper_of_docx(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Paper:
    """The paper of a DOCX file.

    Headings are told by their style or outline level; where a file has none, by being bold and short.
    Tracked deletions, comments, text boxes, headers and footers are not read.
    """
    place = name or "the DOCX file"
    archive = _Archive(content, limits, place)
    if DOCUMENT not in archive.names:
        raise PaperError(place, "is a zip file, but no DOCX", "Give DOCX, PDF, JATS XML, BioC or text.")
    root = xml_root(archive.part(DOCUMENT), limits, place)
    body = root.first("body")
    if body is None:
        raise PaperError(place, "has no body", "Save it again as DOCX.")
    levels = _levels(xml_root(archive.part(_STYLES), limits, place)) if _STYLES in archive.names else {}
    reader = _Body(levels)
    reader.read(body)
    return paper_of_outline(reader.pieces, "docx", limits, reader.title, reader.left_out)


class _Archive:
    """A zip file of strangers, in memory. File names in it never become paths."""

    def __init__(self, content: bytes, limits: Limits, place: str) -> None:
        self.limits, self.place = limits, place
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _DAMAGED as broken:
            problem = f"is no whole zip file ({shown(str(broken))})"
            raise PaperError(place, problem, "Download or save it again.") from broken
        self.names = frozenset(self._zip.namelist())
        if len(self._zip.infolist()) > _MOST_PARTS:
            raise PaperError(place, f"has more than {_MOST_PARTS:,} parts", "That is no paper.")

    def part(self, name: str) -> bytes:
        """One part, inflated. What the zip says of sizes is not believed: inflating stops where a bound is passed."""
        try:
            with self._zip.open(name) as source:
                return self._read_within_limits(source, self._zip.getinfo(name).compress_size, name)
        except _DAMAGED as broken:
            problem = f"has a part that cannot be read ({shown(str(broken))})"
            raise PaperError(self.place, problem, "Save it again, unlocked.") from broken

    def _read_within_limits(self, source: IO[bytes], packed: int, name: str) -> bytes:
        most = min(self.limits.max_inflated, max(MIB, packed * self.limits.max_ratio))
        pieces: list[bytes] = []
        size = 0
        while piece := source.read(_AT_A_TIME):
            size += len(piece)
            if size > most:
                grown = f"grows beyond {most / MIB:,.0f} MiB when it is unpacked"
                remedy = "That is how zip bombs look, so it is not read. Save the paper as PDF or text."
                raise PaperError(self.place, f"has a part ({shown(name)}) that {grown}", remedy)
            pieces.append(piece)
        return b"".join(pieces)


def _levels(styles: Element) -> dict[str, int | str]:
    """Style id to heading level, or to ``"title"``, ``"caption"``; other styles are not there."""
    found: dict[str, int | str] = {}
    for style in (element for element in styles.elements if element.tag == "style"):
        name = _value(style.first("name")).casefold()
        heading = _HEADING.fullmatch(name)
        level = int(heading[1]) if heading else name if name in {"title", "caption"} else _outline(style)
        if level is not None:
            found[_attribute(style, "styleId")] = level
    return found


def _outline(element: Element) -> int | None:
    """The heading level that a style or paragraph names itself."""
    level = _value(element.first("pPr", "outlineLvl"))
    return int(level) + 1 if level.isdecimal() and int(level) < 9 else None


class _Body:
    """The pieces of a document, its tables and pictures left out."""

    def __init__(self, levels: Mapping[str, int | str]) -> None:
        self.levels = levels
        self.pieces: list[Block] = []
        self.left_out: Counter[str] = Counter()
        self.title = ""

    def read(self, container: Element) -> None:
        for element in container.elements:
            if element.tag == "p":
                self.paragraph(element)
            elif element.tag == "tbl":
                self.left_out["tables"] += 1
            elif element.tag in {"sdt", "sdtContent", "ins", "customXml", "smartTag"}:
                self.read(element)

    def paragraph(self, element: Element) -> None:
        for inner in element.walk("Fallback", "del", "txbxContent"):
            self.left_out["figures"] += inner.tag in {"drawing", "pict"}
            self.left_out["formulas"] += inner.tag == "oMathPara"
            self.left_out["footnotes"] += inner.tag in {"footnoteReference", "endnoteReference"}
        text = clean_text("".join(_pieces(element)))
        if not any(map(str.isalnum, text)):
            return
        level = self.level(element)
        if level == "caption":
            return
        if level == "title" and not self.title and not self.pieces:
            self.title = text
        elif level is not None or _is_bold_heading(element, text):
            self.pieces.append(Block("heading", text, level if isinstance(level, int) else 0))
        else:
            self.pieces.append(Block("paragraph", text))

    def level(self, element: Element) -> int | str | None:
        outline = _outline(element)
        return self.levels.get(_value(element.first("pPr", "pStyle"))) if outline is None else outline


def _is_bold_heading(element: Element, text: str) -> bool:
    """A short paragraph without a stop, all of it bold; a known heading needs not be bold."""
    if part_of_heading(text) != "body" or (is_label(text) and text[:1].isupper()):
        return True
    if len(text) > _LONGEST_BOLD or text.endswith((".", ",", ";", ":", "?", "!")):
        return False
    runs = [run for run in element.walk(*_UNREAD) if run.tag == "r" and "".join(_pieces(run)).strip()]
    toggles = [run.first("rPr", "b") for run in runs]
    return bool(runs) and all(toggle is not None and _value(toggle) not in _OFF for toggle in toggles)


def _pieces(element: Element) -> Iterator[str]:
    for child in element.elements:
        if child.tag == "t":
            yield child.text()
        elif child.tag in {"tab", "br", "cr"}:
            yield " "
        elif child.tag == "noBreakHyphen":
            yield "-"
        elif child.tag not in _UNREAD:
            yield from _pieces(child)


def _attribute(element: Element, name: str) -> str:
    """An attribute whatever prefix it has ("w:val")."""
    return next((value for key, value in element.attributes.items() if key.rpartition(":")[2] == name), "")


def _value(element: Element | None) -> str:
    return "" if element is None else _attribute(element, "val")
