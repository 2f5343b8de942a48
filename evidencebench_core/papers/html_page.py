"""A journal's saved page (HTML) to blocks: the article, without what the site puts around it and into it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evidencebench_core.data.files import vocabulary
from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.blocks import BlockKind, RawPaper, float_of
from evidencebench_core.papers.headings import CAPTION, is_label, part_of_heading
from evidencebench_core.papers.licence import licence_in
from evidencebench_core.papers.paper import Float
from evidencebench_core.papers.plain_text import decoded_text
from evidencebench_core.papers.tree import HEADINGS, Element, TreeReader, line_of, set_text, text_of, texts_at

_TAG: Final = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)
_SHORTEST: Final = 100  # characters of text; a page to sign in, or one that a script fills, has fewer


def read_html(content: bytes, place: str) -> RawPaper:
    """The article of a page as PubMed Central, HighWire, Springer, Wiley, PLOS, Elsevier and their like build it."""
    from lxml import etree, html

    text, notes = decoded_text(content, place)
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    page: Element = etree.HTML(text.replace("\0", "").encode(errors="replace"), parser)
    page = html.Element("html") if page is None else page
    named = {meta.get("name", "").lower(): meta.get("content", "") for meta in page.iter("meta")}
    licence = licence_in(page.xpath("//@href[contains(., 'creativecommons.org')]"))
    names = vocabulary("pages.toml")
    for element in [*page.iter(*names["unread"]), *page.xpath(names["hidden"])]:
        element.drop_tree()
    holders = [each for each in page.xpath(names["holders"]) if 2 * len(text_of(each)) > len(text_of(page))]
    article = holders[-1] if holders else page
    title = _TAG.sub("", named.get("citation_title", "")) or texts_at(article, "(.//h1)[1]")[0]
    reader = _PageReader(article)
    reader.add(article, "paragraph")
    blocks = [block for block in reader.blocks if any(map(str.isalpha, block.text))]
    if sum(len(block.text) for block in blocks if block.kind != "heading") < _SHORTEST:
        remedy = "Open the full text, save the page once it shows, or give the PDF."
        raise PaperError(place, "is a page without the text of an article", remedy)
    paper_id = named.get("citation_doi", "")
    return RawPaper(blocks, title, reader.left_out, list(notes), paper_id, licence, reader.floats)


class _PageReader(TreeReader):
    """A reader of an article's tree, from which it first takes what is not of the text."""

    def __init__(self, article: Element) -> None:
        names = vocabulary("pages.toml")
        super().__init__(frozenset(names["parts"]), HEADINGS)
        self.article = article
        self.length = len(text_of(article))
        self.floats: list[Float] = []
        for holder in article.xpath(".//*[.//p or .//div or .//ul or .//h2]"):
            if holder.tag not in (*self.parts, *HEADINGS):
                holder.tag = "div"
        headings = [
            each for each in article.iter(*HEADINGS) if part_of_heading(line_of(each)) == "references"
        ]
        for heading in headings[-1:]:  # the article ends there
            self.left_out["references"] += len(heading.xpath(names["listed"])) or 1
            for element in heading.xpath("ancestor-or-self::*/following-sibling::*"):
                element.getparent().remove(element)
        for element in self._named(names["site"], "class", "role"):  # ids are made of words of headings
            element.drop_tree()
        for what, words in names["counted"].items():
            for element in self._named(words, "class", "role", "id"):
                self.left_out[self._float_kind(element) if what == "figures" else what] += 1
                set_text(element, " ")
        for element in article.xpath(names["links"]):
            element.drop_tree()
        self.length = len(text_of(article))

    def _named(self, words: Sequence[str], *attributes: str) -> Iterator[Element]:
        """Parts with one of the words in a name, but for those within one that is gone, and holders of the text."""
        pattern = re.compile(rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z])", re.IGNORECASE)
        for element in list(self.article.iter(*self.parts, "span")):
            names = " ".join([element.tag, *(element.get(name, "") for name in attributes)])
            if pattern.search(names) and self.article in element.iterancestors():
                main = {class_of_heading(line_of(each)) for each in element.iter(*HEADINGS)}
                is_most = 2 * len(text_of(element)) > self.length and element.tag != "table"
                if main <= {None, "other"} and not is_most:
                    yield element

    def _float_kind(self, element: Element) -> str:
        """Whether it is of the tables or the figures; its caption is kept."""
        rows = element.xpath(".//tr")
        for inner in (*rows, *element.xpath(".//ul | .//ol | .//a[not(contains(@href, '#'))]")):
            if not CAPTION.match(line_of(inner)):
                inner.drop_tree()
        reader = TreeReader({*self.parts, *HEADINGS}, {})
        reader.add(element, "paragraph")
        self.floats.append(float_of("", " ".join(block.text for block in reader.blocks)))
        return "tables" if rows or self.floats[-1].label.startswith("Table") else "figures"

    def add(self, element: Element, kind: BlockKind) -> None:
        """An abstract is what is headed so; what is only called so may be highlights, or a summary for patients."""
        headings = list(element.iter(*HEADINGS))
        heading = line_of(headings[0]) if headings else ""
        is_main = not any(HEADINGS[each.tag] <= HEADINGS[headings[0].tag] for each in headings[1:])
        is_headed = part_of_heading(heading) == "abstract" and is_main
        is_called = "abstract" in re.split("[^a-z]", f"{element.get('class')} {element.get('id')}".lower())
        is_part = kind == "paragraph" and 2 * len(text_of(element)) < self.length
        if is_part and (is_headed or is_called):
            if heading and not is_headed and not is_label(heading):
                self.left_out["other abstracts"] += 1
                return
            kind = "abstract"
        super().add(element, kind)
