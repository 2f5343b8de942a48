"""Which sentence of an article cites which of its references, from its JATS file (construction rules 4 and 92)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import clean_text
from evidencebench_core.papers.jats import article_id, article_title, flowing_text, is_unread
from evidencebench_core.papers.licence import article_licence
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.read import place_of
from evidencebench_core.papers.sentences import sentences_of
from evidencebench_core.papers.table_grid import Cell, table_grid
from evidencebench_core.papers.xml_tree import Element, xml_root

# Stand around a citation while its paragraph is put together; none of them is a character of a text.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARKS: Final = re.compile(f"[{_OPEN}{_CLOSE}]")
_DASH: Final = re.compile(r"[\])]?\s*[-\u2010-\u2015\u2212]\s*[\[(]?")
_OTHER_ARTICLES: Final = ("sub-article", "response")
_NOT_PROSE: Final = frozenset({"title", "label", "caption", "fn", "table-wrap-foot"})
_NOTES: Final = "headings, captions and footnotes"
_IDS: Final = {"pmc": "pmcid", "pmcid": "pmcid", "pmid": "pmid", "doi": "doi"}


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the list of references."""

    id: str  # in the file
    pmcid: str = ""  # "PMC" and digits
    pmid: str = ""
    doi: str = ""
    title: str = ""

    @property
    def paper(self) -> str:
        """The id to fetch it by: PMC id, else PMID, else DOI; empty where it has none."""
        return self.pmcid or self.pmid or self.doi

    def is_same_paper(self, other: Reference) -> bool:
        """Whether they share an id."""
        pairs = ((self.pmcid, other.pmcid), (self.pmid, other.pmid), (self.doi, other.doi))
        return any(a and a.casefold() == b.casefold() for a, b in pairs)


@dataclass(frozen=True, slots=True)
class CitingParagraph:
    """A paragraph, or a row of a table as sentences "column heading: cell"."""

    section: tuple[str, ...]  # headings, the outermost first
    section_number: int  # of the innermost section with a title, in the order of the file
    sentences: tuple[str, ...]
    cited: tuple[tuple[str, ...], ...]  # by sentence the ids of the references, each once


@dataclass(frozen=True, slots=True)
class CitingArticle:
    """A review, as far as citations are concerned."""

    id: str
    title: str
    licence: str
    own: Reference  # what it is cited by itself
    references: Mapping[str, Reference]  # in the order of the list
    paragraphs: tuple[CitingParagraph, ...]
    skipped: Mapping[str, int]  # citations that were not read, by where they stand


def citing_article(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> CitingArticle:
    """Read an article's citations; `PaperError` where the file is no JATS article."""
    place = place_of(name)
    limits.check_size(len(content), place)
    root = xml_root(content, limits, place)
    article = next((one for one in root.walk(*_OTHER_ARTICLES) if one.tag == "article"), None)
    if article is None:
        raise PaperError(place, f"has no <article> in its <{root.tag}>", "Give the review's XML (JATS).")
    references = {
        one.attributes.get("id", ""): _reference(one)
        for one in article.walk(*_OTHER_ARTICLES)
        if one.tag == "ref"
    }
    reader = _Reader(references)
    body = article.first("body")
    if body is not None:
        reader.section(body, ())
    front = article.first("front", "article-meta") or article.first("front")
    meta = front or article
    return CitingArticle(
        article_id(meta),
        article_title(meta),
        article_licence(content, name, limits),
        Reference("", "", "", "", "")
        if front is None
        else _reference(front),  # ids elsewhere are of references
        MappingProxyType(references),
        tuple(reader.paragraphs),
        MappingProxyType(dict(reader.skipped)),
    )


class _Reader:
    """Paragraphs of a body in order."""

    def __init__(self, references: Mapping[str, Reference]) -> None:
        self.references = references
        self.order = list(references)
        self.paragraphs: list[CitingParagraph] = []
        self.skipped: Counter[str] = Counter()
        self.n_sections = 0

    def section(self, element: Element, titles: tuple[str, ...], number: int = 0) -> None:
        title = element.first("title") if element.tag == "sec" else None
        if title is not None and (words := clean_text(flowing_text(title))):
            self.n_sections += 1
            titles, number = (*titles, words), self.n_sections
        for child in element.elements:
            if child.tag == "p":
                self.paragraph(child, titles, number)
            elif child.tag == "table-wrap":
                self.table(child, titles, number)
            elif child.tag in _NOT_PROSE:
                self.skip(child, _NOTES)
            else:
                self.section(child, titles, number)

    def paragraph(self, element: Element, titles: tuple[str, ...], number: int) -> None:
        """A paragraph; what stands in it and is none (lists, tables) comes behind it."""
        cited: list[tuple[str, ...]] = []
        text = "".join(self.pieces(element, cited))
        if sentences := self.cited_sentences(text, cited):
            self.paragraphs.append(CitingParagraph(titles, number, *zip(*sentences, strict=True)))
        for child in element.elements:
            if child.tag in {"list", "table-wrap", "disp-quote", "boxed-text", "fig", "fn"}:
                within = Element("within", {})
                within.children.append(child)
                self.section(within, titles, number)

    def pieces(self, element: Element, cited: list[tuple[str, ...]]) -> Iterator[str]:
        """The text of an inline element, its citations between marks; superscript ones in brackets, as they follow
        directly ("by 45<sup>12</sup>")."""
        for node in element.children:
            if isinstance(node, str):
                yield _MARKS.sub("", node)
            elif node.tag == "sup" and any(map(_is_citation, node.walk())):
                raised = "".join(self.pieces(node, cited)).strip()
                is_closed = _MARKS.sub("", raised)[:1] in {"[", "("}
                yield f" {raised}" if is_closed else f" [{raised}]"
            elif _is_citation(node):
                known = [one for one in node.attributes.get("rid", "").split() if one in self.references]
                if not known:
                    self.skipped["references that are not in the list"] += 1
                cited.append(tuple(known))
                text = f"{_OPEN}{_MARKS.sub('', flowing_text(node))}{_CLOSE}"
                is_raised = element.tag != "sup" and [*node.elements] and node.text("sup").strip() == ""
                yield f" [{text}]" if is_raised else text
            elif node.tag in {"list", "table-wrap", "disp-quote", "boxed-text", "fig", "p"} or is_unread(
                node
            ):
                yield " "
            elif any(one.tag == "xref" for one in node.walk()):
                yield from self.pieces(node, cited)
            else:
                yield _MARKS.sub("", flowing_text(node))

    def cited_sentences(
        self, text: str, cited: Sequence[tuple[str, ...]]
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Sentences with what each cites; a dash between two citations means all references between."""
        plain, places = _without_marks(text)
        sentences = sentences_of(plain)
        found: list[dict[str, None]] = [{} for _ in sentences]
        starts, offset = [], 0
        for sentence in sentences:
            starts.append(offset)
            offset += len(sentence) + 1
        before: tuple[int, tuple[str, ...]] | None = None  # where the last citation ends, and what it names
        for (start, stop), ids in zip(places, cited, strict=True):
            named = ids
            if before and ids and before[1] and _DASH.fullmatch(plain[before[0] : start]):
                first, last = self.order.index(before[1][-1]), self.order.index(ids[0])
                named = (*self.order[first + 1 : last], *ids)
            index = max((n for n, begin in enumerate(starts) if begin <= start), default=0)
            if found:
                found[index] |= dict.fromkeys(named)
            before = stop, ids
        outside = list(plain)
        for start, stop in places:
            outside[start:stop] = " " * (stop - start)
        for index in range(len(sentences) - 1, 0, -1):
            words = outside[starts[index] : starts[index] + len(sentences[index])]
            if found[index] and not any(map(str.isalnum, words)):  # "It fell. [2]": of the sentence before it
                sentences[index - 1 : index + 1] = [f"{sentences[index - 1]} {sentences[index]}"]
                found[index - 1 : index + 1] = [found[index - 1] | found[index]]
        return [(sentence, tuple(ids)) for sentence, ids in zip(sentences, found, strict=True)]

    def table(self, element: Element, titles: tuple[str, ...], number: int) -> None:
        for part in element.walk("td", "th"):
            if part.tag == "table":
                self.rows(part, titles, number)
        for part in element.elements:
            if part.tag in _NOT_PROSE:
                self.skip(part, _NOTES)

    def rows(self, table: Element, titles: tuple[str, ...], number: int) -> None:
        """The rows that cite one paper; those beside one cell with the citation are one paragraph."""
        n_heads, grid = table_grid(table)
        columns = {column for row in grid for column in row}
        heads = {column: [row[column] for row in grid[:n_heads] if column in row] for column in columns}
        for head in dict.fromkeys(cell for row in grid[:n_heads] for cell in row.values()):
            self.skip(head.element, _NOTES)
        names = {head: clean_text(flowing_text(head.element)) for of in heads.values() for head in of}
        read: dict[Cell, tuple[str, tuple[str, ...]]] = {}
        group: list[tuple[str, tuple[str, ...]]] = []  # of the last paragraph
        for row in grid[n_heads:]:
            cells = dict.fromkeys(row.values())
            new = [cell for cell in cells if cell not in read]
            for cell in new:
                over = [heads[column] for column, one in row.items() if one is cell]
                shared = [head for head in over[0] if all(head in of for of in over)]
                read[cell] = self.cell(cell, dict.fromkeys(names[head] for head in shared if names[head]))
            kept = [read[cell] for cell in cells if read[cell][0]]
            cited = {one for _, of in kept for one in of}
            goes_on = bool(group) and not any(read[cell][1] for cell in new)
            if len(cited) > 1:
                self.skipped["rows of tables with several citations"] += 1
            if len(cited) != 1:
                group = []
                continue
            if goes_on:
                self.paragraphs.pop()
                group += [read[cell] for cell in new if read[cell][0]]
            else:
                group = kept
            self.paragraphs.append(CitingParagraph(titles, number, *zip(*group, strict=True)))

    def cell(self, cell: Cell, names: Iterable[str]) -> tuple[str, tuple[str, ...]]:
        """The text of a cell behind the headings that stand over all of it, and what it cites."""
        cited: list[tuple[str, ...]] = []
        text = clean_text(_MARKS.sub("", "".join(self.pieces(cell.element, cited))))
        heading = ", ".join(names)
        ids = tuple(dict.fromkeys(one for of in cited for one in of))
        return f"{heading}: {text}" if heading and text else text, ids

    def skip(self, element: Element, where: str) -> None:
        n = sum(map(_is_citation, element.walk()))
        if n:
            self.skipped[where] += n


def _is_citation(element: Element) -> bool:
    return element.tag == "xref" and element.attributes.get("ref-type") == "bibr"


def _without_marks(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with each white space made one blank, and where its citations begin and end."""
    plain: list[str] = []
    places: list[tuple[int, int]] = []
    start, blank = 0, False
    for character in clean_text(text):
        if character == _OPEN:
            start = len(plain) + blank
        elif character == _CLOSE:
            places.append((start, max(start, len(plain))))
        elif character.isspace():
            blank = bool(plain)
        else:
            plain += " " * blank + character
            blank = False
    return "".join(plain), places


def _reference(ref: Element) -> Reference:
    ids: dict[str, str] = {}
    for one in ref.walk():
        if one.tag in {"pub-id", "article-id"}:
            kind = _IDS.get(one.attributes.get("pub-id-type", "").casefold(), "")
            ids.setdefault(kind, clean_text(one.text()))
    title = next((one for one in ref.walk() if one.tag == "article-title"), None)
    number = re.fullmatch(r"(?:PMC)?(\d{1,12})(?:\.\d+)?", ids.get("pmcid", ""), re.IGNORECASE)
    pmid = ids.get("pmid", "")
    doi = re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", "", ids.get("doi", ""), flags=re.IGNORECASE)
    return Reference(
        ref.attributes.get("id", ""),
        f"PMC{number[1]}" if number else "",
        pmid if re.fullmatch(r"\d{1,12}", pmid) else "",
        doi if doi.startswith("10.") else "",
        "" if title is None else clean_text(flowing_text(title)),
    )
