"""JATS XML, as PubMed Central and Europe PMC give it, to blocks."""

from __future__ import annotations

import re
from typing import Final

from evidencebench_core.data.files import vocabulary
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import BlockKind, RawPaper, clean_text, float_of
from evidencebench_core.papers.headings import part_of_heading
from evidencebench_core.papers.licence import licence_in
from evidencebench_core.papers.paper import Float
from evidencebench_core.papers.tree import Element, TreeReader, line_of, set_text, text_of, texts_at, xml_root

_NAMES: Final = vocabulary("articles.toml")["jats"]
_SPACED_SIGNS: Final = frozenset("=<>≤≥±+×≈∼~")
_INDENT: Final = re.compile(r"^\s*\n\s*|\s*\n\s*$")
_TITLES: Final = "(self::* | title-group)[last()]/*[self::article-title or self::subtitle]"
_ID_KINDS: Final = {"pmc": "pmc", "pmcid": "pmc", "pmcaid": "pmc", "pmid": "pubmed", "doi": "doi"}


def read_jats(content: bytes, place: str) -> RawPaper:
    """The blocks of an ``<article>``, alone or wrapped (``<pmc-articleset>``, OAI-PMH); of several the first."""
    root = xml_root(content, place)
    articles = list(root.iter("article"))
    if not articles:
        remedy = "Give the article's XML (JATS), its saved page or its PDF."
        raise PaperError(place, f"is XML, but not an article (<{root.tag}>)", remedy)
    article = articles[0]
    others = article.xpath("sub-article | response")
    for other in others:
        article.remove(other)
    reader = _JatsReader(_NAMES["parts"], {"title": 0})
    reader.left_out.update({name: len(article.xpath(path)) for name, path in _NAMES["counted"].items()})
    reader.left_out["other articles"] = len(others)
    licences = article.xpath(_NAMES["licences"])
    licence = licence_in(text for each in licences for text in (*each.xpath(".//@*"), text_of(each)))
    floats = _make_printed(article)
    _join_labels(article)
    meta = article.xpath("self::* | front | front/article-meta")[-1]
    abstracts = meta.findall("abstract")
    proper = [each for each in abstracts if each.get("abstract-type", "") in {"", "abstract", "structured"}]
    for abstract in (proper or abstracts)[:1]:  # not a graphical or a lay one
        reader.add(abstract, "abstract")
    for body in article.iterfind("body"):
        reader.add(body, "paragraph")
    notes = [f"The file has {len(articles)} articles; the first was read."] if len(articles) > 1 else []
    titles = [line_of(part) for part in meta.xpath(_TITLES)]
    title = ": ".join(text.rstrip(" :") for text in titles if text) if len(titles) > 1 else "".join(titles)
    paper_id = _article_id(meta)
    return RawPaper(reader.blocks, title, reader.left_out, notes, paper_id, licence, floats, has_parts=True)


def _make_printed(article: Element) -> list[Float]:
    """Leave in the tree what is read, as it is printed in one line; the tables and figures are taken out."""
    floats = []
    unprinted = {*_NAMES["unread"], *_NAMES["left_out"]}
    for math in article.iter("math"):
        _print_math(math)
    for element in reversed(list(article.iter("*"))):  # what is within before what it is in
        tag = element.tag
        if tag in _NAMES["unread"] or (tag == "xref" and element.get("ref-type") in _NAMES["note_marks"]):
            set_text(element, "")
        elif tag in _NAMES["left_out"]:
            if tag in ("table-wrap", "fig"):
                floats.append(float_of(*texts_at(element, "label", "caption")))
            set_text(element, " ")
        elif tag in ("sup", "sub"):
            set_text(element, _INDENT.sub("", text_of(element)))
        elif tag == "alternatives":
            element[:] = [child for child in element if child.tag not in unprinted][:1]
        elif tag in _NAMES["spaced"]:
            element.text = f" {element.text or ''}"
            element.tail = f" {element.tail or ''}"
    return floats[::-1]


def _print_math(math: Element) -> None:
    for element in math.iter("*"):
        element.text = (element.text or "").strip()
        if element.tag == "mo" and element.text in _SPACED_SIGNS:
            element.text = f" {element.text} "
        for child in element:
            child.tail = (child.tail or "").strip()
        if element.tag == "mfrac" and len(element):
            element[0].tail = "/"


def _join_labels(article: Element) -> None:
    """A number or "Box 1" stands before the title, or is the title; marks of a list's items are not read."""
    for label in list(article.iter("label")):
        titles = label.xpath("following-sibling::title | following-sibling::caption/title")
        if titles:
            titles[0].text = f"{text_of(label)} {titles[0].text or ''}"
        elif label.getparent().tag in ("boxed-text", "statement"):
            label.tag = "title"
            continue
        set_text(label, " ")


class _JatsReader(TreeReader):
    """Journals put "Competing interests" and supplements in the body, too: these are left out there."""

    def add(self, element: Element, kind: BlockKind) -> None:
        if element.tag == "def-item":  # term and definition are one paragraph
            set_text(element, " ".join(map(text_of, element)))
        heading = clean_text(*texts_at(element, "title[1]"))
        if "supplementary" in element.get("sec-type", ""):
            self.left_out["supplements"] += element.find(".//supplementary-material") is None
        elif kind == "paragraph" and part_of_heading(heading) == "back matter":
            self.left_out["back matter"] += 1
        else:
            super().add(element, kind)


def _article_id(meta: Element) -> str:
    """As the benchmark writes ids: ``pmc_2785062``, ``pubmed_9819462``; else the DOI."""
    ids: dict[str, str] = {}
    for element in meta.findall("article-id"):
        ids.setdefault(_ID_KINDS.get(element.get("pub-id-type", ""), ""), line_of(element))
    for kind in ("pmc", "pubmed"):
        number = re.fullmatch(r"(?:PMC)?(\d+)(?:\.\d+)?", ids.get(kind, ""), re.IGNORECASE)
        if number:
            return f"{kind}_{number[1]}"
    return ids.get("doi", "")
