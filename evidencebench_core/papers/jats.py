"""JATS XML, as PubMed Central and Europe PMC give it, to blocks: by lxml, without entities and without network."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import Any, Final, TypeAlias

from evidencebench_core.data.sections import class_of_heading, part_of_heading
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import Block, BlockKind, RawPaper, clean_text
from evidencebench_core.papers.licence import licence_in

Element: TypeAlias = Any  # lxml.etree._Element; lxml is loaded only where a JATS file is read

# What is left out and counted, as XPath from the article.
_COUNTED: Final = {
    "tables": ".//table-wrap",
    "figures": ".//fig | .//chem-struct-wrap",
    "formulas": ".//disp-formula",
    "supplements": ".//supplementary-material",
    "references": ".//ref",
    "other abstracts": ".//trans-abstract | front//abstract[position() > 1]",
    "back matter": ".//*[self::back or self::app-group]/*[self::ack or self::app or self::notes or self::sec"
    " or self::glossary or self::bio]",
    "footnotes": ".//fn[not(ancestor::front or ancestor::table-wrap)]",
}
_LICENCES: Final = "front//license | front//license_ref | front//copyright-statement"
# Stand between words and are not read.
_LEFT_OUT: Final = frozenset({
    "table-wrap", "fig", "chem-struct-wrap", "disp-formula", "supplementary-material", "trans-abstract", "alt-text",
    "long-desc", "object-id", "permissions", "attrib", "sec-meta", "disp-formula-group", "fig-group",
    "table-wrap-group", "table", "graphic", "media", "array", "fn", "fn-group", "ref-list", "floats-group", "code",
    "preformat", "related-article", "related-object",
})  # fmt: skip
# Stand within words: TeX beside MathML, pictures, what an index says.
_UNREAD: Final = frozenset({
    "tex-math", "annotation", "annotation-xml", "inline-graphic", "inline-supplementary-material", "index-term",
    "processing-meta",
})  # fmt: skip
_NOTE_MARKS: Final = frozenset({"fn", "table-fn", "author-notes", "corresp", "aff"})
# Stand in a section or a paragraph and are made of paragraphs themselves.
_CONTAINERS: Final = frozenset({
    "list", "list-item", "def-list", "def-item", "def", "disp-quote", "boxed-text", "statement",
    "verse-group", "speech", "question", "question-wrap", "answer", "explanation", "app", "glossary",
})  # fmt: skip
_PARTS: Final = _CONTAINERS | {"sec", "p"}
_HEADING: Final = frozenset({"label", "title", "caption"})
_SPACED: Final = frozenset({"break", "hr", "p", "title", "mspace", "mtd", "mtr"})
_SPACED_SIGNS: Final = frozenset("=<>≤≥±+×≈∼~")
# A stop on the next line of a file that was indented to be looked at.
_BEFORE_STOP: Final = re.compile(r"\s*\n\s*([.,;:)\]])(?=\s|$)")
_INDENT: Final = re.compile(r"^\s*\n\s*|\s*\n\s*$")
_ENTITY: Final = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,30};")
_TITLES: Final = "(self::* | title-group)[last()]/*[self::article-title or self::subtitle]"
_ID_KINDS: Final = {"pmc": "pmc", "pmcid": "pmc", "pmcaid": "pmc", "pmid": "pubmed", "doi": "doi"}


def read_jats(content: bytes, place: str) -> RawPaper:
    """The blocks of an ``<article>``, alone or wrapped (``<pmc-articleset>``, OAI-PMH); of several the first."""
    root = _root(content, place)
    articles = list(root.iter("article"))
    if not articles:
        remedy = "Give the article's XML (JATS) or PDF, or copy its text from the browser and paste it."
        raise PaperError(place, f"is no article, but XML of another kind (<{root.tag}>)", remedy)
    article = articles[0]
    others = article.xpath("sub-article | response")
    for other in others:
        article.remove(other)
    reader = _Reader({name: len(article.xpath(path)) for name, path in _COUNTED.items()})
    reader.left_out["other articles"] = len(others)
    licences = article.xpath(_LICENCES)
    licence = licence_in(text for each in licences for text in (*each.xpath(".//@*"), _text(each)))
    _make_printed(article)
    meta = article.xpath("self::* | front | front/article-meta")[-1]
    abstracts = meta.findall("abstract")
    proper = [each for each in abstracts if each.get("abstract-type", "") in {"", "abstract", "structured"}]
    for abstract in (proper or abstracts)[:1]:  # not a graphical or a lay one
        reader.add_part(abstract, "abstract")
    body = article.find("body")
    notes = ["The file has the abstract only, not the full text."] if body is None and reader.blocks else []
    if body is not None:
        reader.add_part(body, "paragraph")
    if len(articles) > 1:
        notes.append(f"The file has {len(articles)} articles; the first was read.")
    title, paper_id = _article_title(meta), _article_id(meta)
    return RawPaper(reader.blocks, title, reader.left_out, notes, paper_id, licence, has_parts=True)


def _root(content: bytes, place: str) -> Element:
    """The tree of a file, its names without prefixes."""
    from lxml import etree

    if b"<!ENTITY" in content:
        remedy = "Such files can grow without bound or reach for others, so none is read: save it without."
        raise PaperError(place, "declares an entity of its own", remedy)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(_ENTITY.sub(_numbered, content), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        problem = f"is no well-formed XML ({shown(str(error), 120)})"
        raise PaperError(place, problem, "Download it again; it may be cut or edited.") from error
    for element in root.iter("*"):
        element.tag = etree.QName(element).localname
    return root


def _numbered(entity: re.Match[bytes]) -> bytes:
    """A named character as HTML has it, by its number, since the DTD that declares it is not loaded."""
    return html.unescape(entity[0].decode()).encode("ascii", "xmlcharrefreplace")


def _text(element: Element) -> str:
    return "".join(element.itertext())


def _set_text(element: Element, text: str) -> None:
    element.clear(keep_tail=True)
    element.text = text


def _make_printed(article: Element) -> None:
    """Leave in the tree what is read, so that the text of an inline element is as it is printed in one line.

    Superscripts and subscripts follow directly ("m2"), a fraction has its stroke, MathML goes before TeX.
    """
    for math in article.iter("math"):
        _print_math(math)
    for element in reversed(list(article.iter("*"))):  # what is within before what it is in
        tag = element.tag
        if tag in _UNREAD or (tag == "xref" and element.get("ref-type") in _NOTE_MARKS):
            _set_text(element, "")
        elif tag in _LEFT_OUT:
            _set_text(element, " ")
        elif tag in ("sup", "sub"):
            _set_text(element, _INDENT.sub("", _text(element)))
        elif tag == "alternatives":
            element[:] = [child for child in element if child.tag not in _UNREAD][:1]
        elif tag in _SPACED:
            element.text = f" {element.text or ''}"
            element.tail = f" {element.tail or ''}"


def _print_math(math: Element) -> None:
    for element in math.iter("*"):
        element.text = (element.text or "").strip()
        if element.tag == "mo" and element.text in _SPACED_SIGNS:
            element.text = f" {element.text} "
        for child in element:
            child.tail = (child.tail or "").strip()
        if element.tag == "mfrac" and len(element):
            element[0].tail = "/"


class _Reader:
    """The blocks of an article in order, and what is left out."""

    def __init__(self, left_out: dict[str, int]) -> None:
        self.blocks: list[Block] = []
        self.left_out = Counter(left_out)

    def add_part(self, element: Element, kind: BlockKind) -> None:
        """A section, a body or an abstract, a list, a box, a paragraph: its heading and what stands in it.

        Journals put "Competing interests" and the like in the body, too: these are back matter there.
        """
        if element.tag == "def-item":  # term and definition are one paragraph
            self._add_text(" ".join(map(_text, element)), kind)
            return
        if "supplementary" in element.get("sec-type", ""):
            return
        title = element.find("title")
        if (
            kind == "paragraph"
            and title is not None
            and part_of_heading(clean_text(_text(title))) == "back matter"
        ):
            self.left_out["back matter"] += 1
            return
        self._add_heading(element, kind)
        running = element.text or ""
        for child in element:
            if child.tag in _PARTS:
                self._add_text(running, kind)
                running = ""
                self.add_part(child, kind)
            else:
                running += " " if child.tag in _HEADING else _text(child)
            running += child.tail or ""
        self._add_text(running, kind)

    def _add_heading(self, element: Element, kind: BlockKind) -> None:
        titles = element.xpath("title | caption/title")
        if not titles:
            return
        text = clean_text(" ".join(map(_text, [*element.findall("label")[:1], titles[0]])))
        if kind != "abstract":
            self.blocks.append(Block("heading", text))
        elif class_of_heading(text) != "abstract" and text.casefold() != "summary":
            self.blocks.append(Block("abstract", text))

    def _add_text(self, running: str, kind: BlockKind) -> None:
        text = clean_text(_BEFORE_STOP.sub(r"\1", running))
        if any(map(str.isalnum, text)):
            self.blocks.append(Block(kind, text))


def _article_title(meta: Element) -> str:
    texts = [clean_text(_text(part)) for part in meta.xpath(_TITLES)]
    return ": ".join(text.rstrip(" :") for text in texts if text) if len(texts) > 1 else "".join(texts)


def _article_id(meta: Element) -> str:
    """As the benchmark writes ids: ``pmc_2785062``, ``pubmed_9819462``; else the DOI."""
    ids: dict[str, str] = {}
    for element in meta.findall("article-id"):
        ids.setdefault(_ID_KINDS.get(element.get("pub-id-type", ""), ""), clean_text(_text(element)))
    for kind in ("pmc", "pubmed"):
        number = re.fullmatch(r"(?:PMC)?(\d+)(?:\.\d+)?", ids.get(kind, ""), re.IGNORECASE)
        if number:
            return f"{kind}_{number[1]}"
    return ids.get("doi", "")
