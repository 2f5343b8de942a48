"""TEI, as GROBID writes what it recognised in a PDF, to blocks."""

from __future__ import annotations

import re
from typing import Final

from evidencebench_core.data.files import vocabulary
from evidencebench_core.papers.blocks import RawPaper, float_of
from evidencebench_core.papers.licence import licence_in
from evidencebench_core.papers.tree import HEADINGS, Element, TreeReader, set_text, texts_at, xml_root

_NAMES: Final = vocabulary("articles.toml")["tei"]


def read_tei(content: bytes, place: str) -> RawPaper:
    """The blocks of a ``<TEI>``; the numbers of its headings say how deep they are."""
    root = xml_root(content, place)
    article = next(root.iter("TEI"), root)
    left_out = {name: len(article.xpath(path)) for name, path in _NAMES["counted"].items()}
    licence = licence_in(article.xpath(_NAMES["licences"]))
    floats = []
    for figure in article.iterfind("text//figure"):
        head, label, caption = texts_at(figure, "head", "label", "figDesc")
        word = "Table" if figure.get("type") == "table" else "Figure"
        floats.append(float_of(head or f"{word} {label}", caption or head))
    _make_printed(article)
    reader = TreeReader(_NAMES["parts"], {"head": 0, **HEADINGS})
    for abstract in article.xpath("teiHeader//abstract[1] | text/front//div[@type='abstract'][1]")[:1]:
        reader.add(abstract, "abstract")
    for body in article.iterfind("text/body"):
        reader.add(body, "paragraph")
    title, paper_id = texts_at(article, "(teiHeader//title)[1]", "(teiHeader//idno[@type='DOI'])[1]")
    return RawPaper(reader.blocks, title, left_out, [], paper_id, licence, floats)


def _make_printed(article: Element) -> None:
    """Leave in the tree what is read: headings by level with their numbers, sentences apart, no floats."""
    for element in reversed(list(article.iter("*"))):
        tag, number = element.tag, element.get("n", "")
        if tag in ("figure", "table", "formula", "note", "listBibl", "fw"):
            set_text(element, "" if tag == "note" else " ")
        elif tag in ("s", "lb"):
            element.tail = f" {element.tail or ''}"
        elif tag == "head" and number:
            element.text = f"{number} {element.text or ''}"
            element.tag = f"h{min(len(re.findall('[0-9A-Za-z]+', number)), 6)}"
