"""JATS XML, as PubMed Central and Europe PMC give it, to blocks: by lxml, without entities and without network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html.entities import html5
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from evidencebench_core.data.sections import class_of_heading, part_of_heading
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import Block, BlockKind, RawPaper, clean_text
from evidencebench_core.papers.licence import licence_in

if TYPE_CHECKING:
    Element: TypeAlias = Any  # lxml.etree._Element

_OTHER_ARTICLES: Final = ("sub-article", "response")
# Stand in text and are no text: counted under a name, or left out in silence.
_COUNTED: Final = {
    "table-wrap": "tables",
    "fig": "figures",
    "chem-struct-wrap": "figures",
    "disp-formula": "formulas",
    "supplementary-material": "supplements",
    "ref": "references",
    "sub-article": "other articles",
    "response": "other articles",
    "trans-abstract": "other abstracts",
}
_SILENT: Final = frozenset({
    "label", "title", "caption", "alt-text", "long-desc", "object-id", "permissions", "attrib", "sec-meta",
    "disp-formula-group", "fig-group", "table-wrap-group", "table", "graphic", "media", "array", "fn",
    "fn-group", "ref-list", "floats-group", "code", "preformat", "related-article", "related-object",
})  # fmt: skip
# Stand in a section or a paragraph and are made of paragraphs themselves.
_CONTAINERS: Final = frozenset({
    "list", "list-item", "def-list", "def-item", "def", "disp-quote", "boxed-text", "statement",
    "verse-group", "speech", "question", "question-wrap", "answer", "explanation", "app", "glossary",
})  # fmt: skip
# TeX beside MathML, notes, pictures, and what a paragraph holds and does not say.
_UNREAD: Final = frozenset({
    "tex-math", "annotation", "annotation-xml", "fn", "inline-graphic", "graphic", "media",
    "inline-supplementary-material", "alt-text", "long-desc", "disp-formula", "table-wrap", "fig",
    "index-term", "processing-meta",
})  # fmt: skip
_BACK: Final = ("back", "app-group")
_BACK_PARTS: Final = frozenset({"ack", "app", "notes", "sec", "glossary", "bio"})
_NOTE_MARKS: Final = frozenset({"fn", "table-fn", "author-notes", "corresp", "aff"})
_SPACED: Final = frozenset({"break", "hr", "p", "title", "mspace", "mtd", "mtr"})
_MATH: Final = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mfrac", "msup", "msub", "msubsup", "msqrt", "mroot",
    "mfenced", "mover", "munder", "munderover", "mstyle", "mtable", "mtr", "mtd", "mpadded",
    "semantics",
})  # fmt: skip
_SPACED_SIGNS: Final = frozenset("=<>≤≥±+×≈∼~")
# A stop on the next line of a file that was indented to be looked at.
_BEFORE_STOP: Final = re.compile(r"\s*\n\s*([.,;:)\]])(?=\s|$)")
_INDENT: Final = re.compile(r"^\s*\n\s*|\s*\n\s*$")
_ENTITY: Final = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30});")
_XML_ENTITIES: Final = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_ID_KINDS: Final = {"pmc": "pmc", "pmcid": "pmc", "pmcaid": "pmc", "pmid": "pubmed", "doi": "doi"}


def read_jats(content: bytes, place: str) -> RawPaper:
    """The blocks of an ``<article>``, alone or wrapped (``<pmc-articleset>``, OAI-PMH); of several the first."""
    root = _root(content, place)
    articles = [element for element in _walk(root, _OTHER_ARTICLES) if _tag(element) == "article"]
    if not articles:
        remedy = "Give the article's XML (JATS) or PDF, or copy its text from the browser and paste it."
        raise PaperError(place, f"is no article, but XML of another kind (<{_tag(root)}>)", remedy)
    paper = _Article(articles[0]).paper()
    if len(articles) > 1:
        paper.notes.append(f"The file has {len(articles)} articles; the first was read.")
    return paper


def _root(content: bytes, place: str) -> Element:
    from lxml import etree

    if b"<!ENTITY" in content:
        remedy = "Such files can grow without bound or reach for others, so none is read: save it without."
        raise PaperError(place, "declares an entity of its own", remedy)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(_ENTITY.sub(_character, content), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        problem = f"is no well-formed XML ({shown(str(error), 120)})"
        raise PaperError(place, problem, "Download it again; it may be cut or edited.") from error


def _character(entity: re.Match[bytes]) -> bytes:
    """A named character as HTML has it, since the DTD that declares it is not loaded."""
    if entity[1] in _XML_ENTITIES:
        return entity[0]
    text = html5.get(f"{entity[1].decode()};")
    return (
        f"&amp;{entity[1].decode()};".encode()
        if text is None
        else "".join(f"&#{ord(c)};" for c in text).encode()
    )


# -- a small view of lxml's tree: names without prefix, texts and elements in order -----------------


def _tag(element: Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _nodes(element: Element) -> Iterator[Element | str]:
    if element.text:
        yield element.text
    for child in element:
        yield child
        if child.tail:
            yield child.tail


def _first(element: Element | None, *path: str) -> Element | None:
    """The first element down a path of tags, each directly in the one before."""
    for tag in path:
        if element is None:
            return None
        element = next((child for child in element if _tag(child) == tag), None)
    return element


def _walk(element: Element, without: Iterable[str] = ()) -> Iterator[Element]:
    """The element and all within, in order, but for elements of these tags and what is in them."""
    waiting = [element]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += [child for child in reversed(current) if _tag(child) not in without]


def _text(element: Element) -> str:
    return "".join(element.itertext())


class _Article:
    """The blocks of one article in order."""

    def __init__(self, article: Element) -> None:
        self.article = article
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()

    def paper(self) -> RawPaper:
        meta = _first(self.article, "front", "article-meta")
        meta = _first(self.article, "front") if meta is None else meta
        meta = self.article if meta is None else meta
        self.abstract(meta)
        body = _first(self.article, "body")
        if body is not None:
            self.section(body, "paragraph")
        self.count()
        is_abstract = body is None and bool(self.blocks)
        notes = ["The file has the abstract only, not the full text."] if is_abstract else []
        licence = licence_in(self.licence_texts())
        return RawPaper(
            self.blocks,
            _article_title(meta),
            self.left_out,
            notes,
            _article_id(meta),
            licence,
            has_parts=True,
        )

    def licence_texts(self) -> Iterator[str]:
        """Addresses and words of the article's licence; some journals have it in the copyright statement."""
        for element in _walk(self.article, ("body", "back", *_OTHER_ARTICLES)):
            if _tag(element) in {"license", "license_ref", "copyright-statement"}:
                yield from (value for inner in element.iter() for value in inner.attrib.values())
                yield _text(element)

    def count(self) -> None:
        for element in _walk(self.article, _OTHER_ARTICLES):
            for child in element:
                if _tag(child) in _COUNTED:
                    self.left_out[_COUNTED[_tag(child)]] += 1
                self.left_out["back matter"] += _tag(element) in _BACK and _tag(child) in _BACK_PARTS
        for element in _walk(self.article, (*_OTHER_ARTICLES, "front", "table-wrap")):
            self.left_out["footnotes"] += _tag(element) == "fn"

    def abstract(self, meta: Element) -> None:
        """The abstract proper: not the graphical, translated or lay ones."""
        abstracts = [child for child in meta if _tag(child) == "abstract"]
        proper = [e for e in abstracts if e.get("abstract-type", "") in {"", "abstract", "structured"}]
        for element in (proper or abstracts)[:1]:
            self.section(element, "abstract")
        self.left_out["other abstracts"] += max(0, len(abstracts) - 1)

    def section(self, element: Element, kind: BlockKind) -> None:
        """The content of a section, a body or an abstract, its heading first.

        Journals put "Competing interests" and the like in the body, too: these are back matter there.
        """
        if _tag(element) == "sec" and "supplementary" in element.get("sec-type", ""):
            return
        title = _first(element, "title")
        words = clean_text(_flowing(title)) if title is not None and kind == "paragraph" else ""
        if part_of_heading(words) == "back matter":
            self.left_out["back matter"] += 1
        else:
            self.heading(element, kind)
            self.content(element, kind)

    def heading(self, element: Element, kind: BlockKind) -> None:
        title = _first(element, "title")
        title = _first(element, "caption", "title") if title is None else title
        if title is None:
            return
        label = _first(element, "label")
        text = clean_text(f"{'' if label is None else _flowing(label)} {_flowing(title)}")
        if kind != "abstract":
            self.blocks.append(Block("heading", text))
        elif class_of_heading(text) != "abstract" and text.casefold() != "summary":
            self.blocks.append(Block("abstract", text))

    def content(self, element: Element, kind: BlockKind) -> None:
        """Paragraphs and sections in an element; text that stands in none is a paragraph of its own."""
        loose: list[Element | str] = []
        for child in _nodes(element):
            tag = "" if isinstance(child, str) else _tag(child)
            if tag not in {"sec", "p", *_CONTAINERS, *_SILENT, *_COUNTED}:
                loose.append(child)
                continue
            self.paragraph(loose, kind)
            loose = []
            if tag == "sec":
                self.section(child, kind)
            elif tag == "p":
                self.paragraph(_nodes(child), kind)
            elif tag in _CONTAINERS:
                self.container(child, kind)
        self.paragraph(loose, kind)

    def container(self, element: Element, kind: BlockKind) -> None:
        if _tag(element) == "def-item":  # term and definition are one paragraph
            self.flush([f"{_flowing(child)} " for child in element], kind)
        else:
            self.heading(element, kind)
            self.content(element, kind)

    def paragraph(self, nodes: Iterable[Element | str], kind: BlockKind) -> None:
        """Running text; lists, boxes and the like within end it, and it goes on behind them."""
        running: list[str] = []
        for node in nodes:
            if isinstance(node, str):
                running.append(node)
            elif _tag(node) in _CONTAINERS or _tag(node) == "p":
                self.flush(running, kind)
                self.container(node, kind)
            elif _tag(node) in _SILENT or _tag(node) in _COUNTED:
                running.append(" ")
            elif not _is_unread(node):
                running.append(_flowing(node))
        self.flush(running, kind)

    def flush(self, running: list[str], kind: BlockKind) -> None:
        text = clean_text(_BEFORE_STOP.sub(r"\1", "".join(running)))
        if any(map(str.isalnum, text)):
            self.blocks.append(Block(kind, text))
        running.clear()


def _article_title(meta: Element) -> str:
    group = _first(meta, "title-group")
    group = meta if group is None else group
    parts = [_first(group, "article-title"), _first(group, "subtitle")]
    texts = [clean_text(_flowing(part)) for part in parts if part is not None]
    return ": ".join(text.rstrip(" :") for text in texts if text) if len(texts) > 1 else "".join(texts)


def _article_id(meta: Element) -> str:
    """As the benchmark writes ids: ``pmc_2785062``, ``pubmed_9819462``; else the DOI."""
    ids: dict[str, str] = {}
    for element in meta:
        if _tag(element) == "article-id":
            ids.setdefault(_ID_KINDS.get(element.get("pub-id-type", ""), ""), clean_text(_text(element)))
    for kind in ("pmc", "pubmed"):
        number = re.fullmatch(r"(?:PMC)?(\d+)(?:\.\d+)?", ids.get(kind, ""), re.IGNORECASE)
        if number:
            return f"{kind}_{number[1]}"
    return ids.get("doi", "")


def _flowing(element: Element) -> str:
    """An inline element as it is printed in one line: emphasis and links without marks, citations as printed.

    Superscripts and subscripts follow directly ("m2"), a fraction has its stroke, MathML goes before TeX.
    """
    text = "".join(_pieces(element))
    return _INDENT.sub("", text) if _tag(element) in {"sup", "sub"} else text


def _pieces(element: Element) -> Iterator[str]:
    tag = _tag(element)
    if tag == "mo":
        sign = _text(element).strip()
        yield f" {sign} " if sign in _SPACED_SIGNS else sign
        return
    number = 0
    for node in _nodes(element):
        if isinstance(node, str):
            yield node.strip() if tag in _MATH else node
        elif not _is_unread(node):
            number += 1
            if number > 1 and tag == "alternatives":
                return
            if number > 1 and tag == "mfrac":
                yield "/"
            space = " " if _tag(node) in _SPACED else ""
            yield f"{space}{_flowing(node)}{space}"


def _is_unread(node: Element) -> bool:
    return _tag(node) in _UNREAD or (_tag(node) == "xref" and node.get("ref-type") in _NOTE_MARKS)
