"""JATS XML, as PubMed Central and Europe PMC give it, to a `Paper`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from evidencebench_core.data.sections import class_of_heading, part_of_heading
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import Block, BlockKind, clean_text, paper_of_blocks
from evidencebench_core.papers.licence import licence_in
from evidencebench_core.papers.limits import Limits
from evidencebench_core.papers.paper import Paper
from evidencebench_core.papers.xml_tree import Element

ROOTS: Final = frozenset({"article", "pmc-articleset", "articles", "OAI-PMH", "record"})
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
_ID_KINDS: Final = {"pmc": "pmc", "pmcid": "pmc", "pmcaid": "pmc", "pmid": "pubmed", "doi": "doi"}


def paper_of_article(root: Element, place: str, limits: Limits) -> Paper:
    """The paper of an ``<article>``, alone or wrapped (``<pmc-articleset>``, OAI-PMH); of several the first."""
    articles = [element for element in root.walk(*_OTHER_ARTICLES) if element.tag == "article"]
    if not articles:
        remedy = "Give the article's full-text XML (JATS)."
        raise PaperError(place, f"has no <article> in its <{root.tag}>", remedy)
    notes = [f"The file has {len(articles)} articles; the first was read."] if len(articles) > 1 else []
    return _Article(articles[0]).paper(notes, limits)


class _Article:
    """The blocks of one article in order."""

    def __init__(self, article: Element) -> None:
        self.article = article
        self.blocks: list[Block] = []
        self.left_out: Counter[str] = Counter()

    def paper(self, notes: Sequence[str], limits: Limits) -> Paper:
        meta = self.article.first("front", "article-meta") or self.article.first("front") or self.article
        self.abstract(meta)
        body = self.article.first("body")
        if body is not None:
            self.section(body, "paragraph")
        self.count()
        if body is None and self.blocks:
            notes = [*notes, "The file has the abstract only, not the full text."]
        paper = paper_of_blocks(
            self.blocks, article_title(meta), self.left_out, notes, "jats", article_id(meta), limits
        )
        return replace(paper, licence=licence_in(self.licence_texts()))

    def licence_texts(self) -> Iterator[str]:
        """Addresses and words of the article's licence; some journals have it in the copyright statement."""
        for element in self.article.walk("body", "back", *_OTHER_ARTICLES):
            if element.tag in {"license", "license_ref", "copyright-statement"}:
                yield from (text for inner in element.walk() for text in inner.attributes.values())
                yield element.text()

    def count(self) -> None:
        for element in self.article.walk(*_OTHER_ARTICLES):
            for child in element.elements:
                if child.tag in _COUNTED:
                    self.left_out[_COUNTED[child.tag]] += 1
        for element in self.article.walk(*_OTHER_ARTICLES, "front", "table-wrap"):
            self.left_out["footnotes"] += element.tag == "fn"
        back = self.article.first("back")
        for group in [] if back is None else [back, *(e for e in back.elements if e.tag == "app-group")]:
            self.left_out["back matter"] += sum(part.tag in _BACK_PARTS for part in group.elements)

    def abstract(self, meta: Element) -> None:
        """The abstract proper: not the graphical, translated or lay ones."""
        found = [element for element in meta.elements if element.tag == "abstract"]
        proper = [e for e in found if e.attributes.get("abstract-type", "") in {"", "abstract", "structured"}]
        for element in (proper or found)[:1]:
            self.section(element, "abstract")
        self.left_out["other abstracts"] += max(0, len(found) - 1)

    def section(self, element: Element, kind: BlockKind) -> None:
        """The content of a section, a body or an abstract, its heading first.

        Journals put "Competing interests" and the like in the body, too: these are back matter there.
        """
        if element.tag == "sec" and "supplementary" in element.attributes.get("sec-type", ""):
            return
        title = element.first("title")
        words = clean_text(flowing_text(title)) if title and kind == "paragraph" else ""
        if part_of_heading(words) == "back matter":
            self.left_out["back matter"] += 1
        else:
            self.heading(element, kind)
            self.content(element, kind)

    def heading(self, element: Element, kind: BlockKind) -> None:
        title = element.first("title") or element.first("caption", "title")
        if title is None:
            return
        label = element.first("label")
        text = clean_text(f"{'' if label is None else flowing_text(label)} {flowing_text(title)}")
        if kind == "abstract":
            if class_of_heading(text) != "abstract" and text.casefold() != "summary":
                self.blocks.append(Block("abstract", text))
        else:
            self.blocks.append(Block("heading", text))

    def content(self, element: Element, kind: BlockKind) -> None:
        """Paragraphs and sections in an element; text that stands in none is a paragraph of its own."""
        loose: list[Element | str] = []
        for child in element.children:
            if isinstance(child, str) or child.tag not in {"sec", "p", *_CONTAINERS, *_SILENT, *_COUNTED}:
                loose.append(child)
                continue
            self.paragraph(loose, kind)
            loose = []
            if child.tag == "sec":
                self.section(child, kind)
            elif child.tag == "p":
                self.paragraph(child.children, kind)
            elif child.tag in _CONTAINERS:
                self.container(child, kind)
        self.paragraph(loose, kind)

    def container(self, element: Element, kind: BlockKind) -> None:
        if element.tag == "def-item":  # term and definition are one paragraph
            self.paragraph([node for child in element.elements for node in (*_inline(child), " ")], kind)
        else:
            self.heading(element, kind)
            self.content(element, kind)

    def paragraph(self, nodes: Sequence[Element | str], kind: BlockKind) -> None:
        """Running text; lists, boxes and the like within end it, and it goes on behind them."""
        running: list[str] = []
        for node in nodes:
            if isinstance(node, Element) and (node.tag in _CONTAINERS or node.tag == "p"):
                self.flush(running, kind)
                self.container(node, kind)
            elif isinstance(node, str):
                running.append(node)
            elif node.tag in _SILENT or node.tag in _COUNTED:
                running.append(" ")
            elif is_unread(node):
                continue
            else:
                running.append(flowing_text(node))
        self.flush(running, kind)

    def flush(self, running: list[str], kind: BlockKind) -> None:
        text = clean_text(_BEFORE_STOP.sub(r"\1", "".join(running)))
        if any(map(str.isalnum, text)):
            self.blocks.append(Block(kind, text))
        running.clear()


def _inline(element: Element) -> Sequence[Element | str]:
    """The words of a definition, without its paragraphs' borders."""
    nodes: list[Element | str] = []
    for child in element.children:
        nodes += child.children if isinstance(child, Element) and child.tag == "p" else [child]
    return nodes


def article_title(meta: Element) -> str:
    group = meta.first("title-group") or meta
    title, subtitle = group.first("article-title"), group.first("subtitle")
    texts = [clean_text(flowing_text(part)) for part in (title, subtitle) if part is not None]
    return ": ".join(text.rstrip(" :") for text in texts if text) if len(texts) > 1 else "".join(texts)


def article_id(meta: Element) -> str:
    """As the benchmark writes ids: ``pmc_2785062``, ``pubmed_9819462``; else the DOI."""
    ids: dict[str, str] = {}
    for element in meta.elements:
        if element.tag == "article-id":
            kind = _ID_KINDS.get(element.attributes.get("pub-id-type", ""), "")
            ids.setdefault(kind, clean_text(element.text()))
    for kind in ("pmc", "pubmed"):
        number = re.fullmatch(r"(?:PMC)?(\d+)(?:\.\d+)?", ids.get(kind, ""), re.IGNORECASE)
        if number:
            return f"{kind}_{number[1]}"
    return ids.get("doi", "")


def flowing_text(element: Element) -> str:
    """An inline element as it is printed in one line: emphasis and links without marks, citations as printed.

    Superscripts and subscripts follow directly ("m2"), a fraction has its stroke, MathML goes before TeX.
    """
    text = "".join(_pieces(element))
    return _INDENT.sub("", text) if element.tag in {"sup", "sub"} else text


def _pieces(element: Element) -> Iterator[str]:
    if element.tag == "mo":
        sign = element.text().strip()
        yield f" {sign} " if sign in _SPACED_SIGNS else sign
        return
    number = 0
    for node in element.children:
        if isinstance(node, str):
            yield node.strip() if element.tag in _MATH else node
        elif not is_unread(node):
            number += 1
            if number > 1 and element.tag == "alternatives":
                return
            if number > 1 and element.tag == "mfrac":
                yield "/"
            space = " " if node.tag in _SPACED else ""
            yield f"{space}{flowing_text(node)}{space}"


def is_unread(node: Element) -> bool:
    marks_note = node.tag == "xref" and node.attributes.get("ref-type") in _NOTE_MARKS
    return marks_note or node.tag in _UNREAD
