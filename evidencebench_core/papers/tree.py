"""XML and HTML as a tree of plain names, and the one walk down it to blocks: by lxml, without entities and network."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import Block, BlockKind, clean_text

Element: TypeAlias = Any  # lxml.etree._Element; lxml is loaded only where such a file is read

HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_CDATA: Final = re.compile(rb"<!\[CDATA\[(?:(?!<!\[CDATA\[).)*?\]\]>", re.DOTALL)
_ENTITY: Final = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,30};")
_ANY_ENTITY: Final = re.compile(rb"&(?:#\w{1,8}|[A-Za-z][A-Za-z0-9]{1,30});")
# A stop on the next line of a file that was indented to be looked at.
_BEFORE_STOP: Final = re.compile(r"\s*\n\s*([.,;:)\]])(?=\s|$)")


def xml_root(content: bytes, place: str) -> Element:
    """The tree of an XML file, its names without prefixes."""
    from lxml import etree

    if b"<!ENTITY" in content:
        remedy = "Such files can grow without bound or reach for others, so none is read: save it without."
        raise PaperError(place, "declares an entity of its own", remedy)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    content = _CDATA.sub(lambda data: _ANY_ENTITY.sub(_outside_cdata, data[0]), content)
    try:
        root = etree.fromstring(_ENTITY.sub(_numbered, content), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        problem = f"is not well-formed XML ({shown(str(error), 120)})"
        raise PaperError(place, problem, "Download it again; it may be cut or edited.") from error
    for element in root.iter("*"):
        element.tag = etree.QName(element).localname
    return root


def _numbered(entity: re.Match[bytes]) -> bytes:
    """A character as HTML names it, by its number, since the DTD that declares it is not loaded."""
    return "".join(f"&#{ord(letter)};" for letter in html.unescape(entity[0].decode())).encode()


def _outside_cdata(entity: re.Match[bytes]) -> bytes:
    return b"]]>" + _numbered(entity) + b"<![CDATA["


def text_of(element: Element) -> str:
    """All text within an element."""
    return "".join(element.itertext())


def line_of(element: Element) -> str:
    """The text of an element, tidied."""
    return clean_text(text_of(element))


def texts_at(element: Element, *paths: str) -> list[str]:
    """For each XPath the text of all that it leads to."""
    return ["".join(map(text_of, element.xpath(path))) for path in paths]


def set_text(element: Element, text: str) -> None:
    """Put text in place of what is within an element."""
    element.clear(keep_tail=True)
    element.text = text


class TreeReader:
    """The blocks of a tree, by the names of ``headings`` with their levels, and of ``parts``: what ends a paragraph."""

    def __init__(self, parts: Collection[str], headings: Mapping[str, int]) -> None:
        self.parts = parts
        self.headings = headings
        self.blocks: list[Block] = []
        self.left_out = Counter[str]()

    def add(self, element: Element, kind: BlockKind) -> None:
        """A part: its headings, its text, and the parts in it."""
        running = element.text or ""
        for child in element:
            if child.tag in self.headings:
                self._add_text(running, kind)
                self._add_heading(child, kind)
                running = ""
            elif child.tag in self.parts:
                self._add_text(running, kind)
                self.add(child, kind)
                running = ""
            else:
                running += text_of(child)
            running += child.tail or ""
        self._add_text(running, kind)

    def _add_heading(self, heading: Element, kind: BlockKind) -> None:
        """Above the abstract stands none, and those within it are its labels."""
        text = line_of(heading)
        if kind != "abstract":
            self.blocks.append(Block("heading", text, self.headings[heading.tag]))
        elif class_of_heading(text) != "abstract" and text.casefold() != "summary":
            self.blocks.append(Block("abstract", text))

    def _add_text(self, running: str, kind: BlockKind) -> None:
        text = clean_text(_BEFORE_STOP.sub(r"\1", running))
        if any(map(str.isalnum, text)):
            self.blocks.append(Block(kind, text))
