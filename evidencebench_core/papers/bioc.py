"""BioC XML and JSON, as the APIs of PubMed Central and PubTator give them, to a `Paper`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from evidencebench_core.data.sections import class_of_heading
from evidencebench_core.data.strict_json import unique_keys
from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.blocks import Block, clean_text, paper_of_blocks
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.papers.paper import Paper, PaperKind
from evidencebench_core.papers.xml_tree import Element

ROOT: Final = "collection"
# section_type -> what is counted; the passages of these are not in the pool.
_LEFT_OUT: Final = {
    "FIG": "figures", "TABLE": "tables", "REF": "references", "SUPPL": "supplements", "ABBR": "back matter",
    "ACK_FUND": "back matter", "AUTH_CONT": "back matter", "COMP_INT": "back matter", "APPENDIX": "back matter",
    "KEYWORD": "back matter", "REVIEW_INFO": "back matter",
}  # fmt: skip
_LEFT_OUT_TYPES: Final = {
    "fig": "figures", "table": "tables", "ref": "references", "footnote": "footnotes", "formula": "formulas",
}  # fmt: skip


class _Passage(NamedTuple):
    infons: Mapping[str, str]
    text: str


def paper_of_bioc_json(content: bytes, name: str = "", limits: Limits = DEFAULT_LIMITS) -> Paper:
    """The paper of a BioC JSON file: a collection, a list of collections, or one document."""
    place = name or "the BioC file"
    try:
        raw: Any = json.loads(content, object_pairs_hook=unique_keys)
    except RecursionError as deep:
        raise PaperError(place, "has values too deep in each other", "That is no paper.") from deep
    except ValueError as broken:
        raise PaperError(place, f"is no JSON ({shown(str(broken), 90)})", "Download it again.") from broken
    documents = list(_json_documents(raw))
    if not documents:
        remedy = "Give BioC JSON, or the paper's JATS, PDF or text."
        raise PaperError(place, "is JSON without BioC documents", remedy)
    document = documents[0]
    passages = [_json_passage(passage) for passage in document["passages"] if isinstance(passage, dict)]
    return _paper(str(document.get("id", "")), passages, len(documents), "bioc-json", limits)


def paper_of_collection(root: Element, place: str, limits: Limits) -> Paper:
    """The paper of a BioC ``<collection>``, of several the first."""
    documents = [element for element in root.walk() if element.tag == "document"]
    if not documents:
        raise PaperError(place, f"has no <document> in its <{root.tag}>", "Give BioC XML of a paper.")
    number = documents[0].first("id")
    passages = [_xml_passage(element) for element in documents[0].elements if element.tag == "passage"]
    return _paper("" if number is None else number.text(), passages, len(documents), "bioc-xml", limits)


def _json_documents(raw: Any) -> Iterable[dict[str, Any]]:
    for item in raw if isinstance(raw, list) else [raw]:
        if isinstance(item, dict):
            inner = item.get("documents")
            candidates = inner if isinstance(inner, list) else [item]
            yield from (
                one for one in candidates if isinstance(one, dict) and isinstance(one.get("passages"), list)
            )


def _json_passage(raw: Mapping[str, Any]) -> _Passage:
    infons = raw.get("infons")
    text = raw.get("text")
    if not text and isinstance(raw.get("sentences"), list):
        text = " ".join(str(one.get("text", "")) for one in raw["sentences"] if isinstance(one, dict))
    named = infons.items() if isinstance(infons, dict) else ()
    return _Passage({str(key): str(value) for key, value in named}, str(text or ""))


def _xml_passage(element: Element) -> _Passage:
    infons = {e.attributes.get("key", ""): e.text() for e in element.elements if e.tag == "infon"}
    own = element.first("text")
    if own is not None:
        return _Passage(infons, own.text())
    texts = (sentence.first("text") for sentence in element.elements if sentence.tag == "sentence")
    return _Passage(infons, " ".join(text.text() for text in texts if text is not None))


def _paper(
    number: str, passages: Sequence[_Passage], n_documents: int, kind: PaperKind, limits: Limits
) -> Paper:
    title, blocks, left_out = "", list[Block](), Counter[str]()
    seen: set[tuple[str, str]] = set()
    for passage in passages:
        section = passage.infons.get("section_type", passage.infons.get("section", "")).upper()
        sort = passage.infons.get("type", "").lower()
        counted = _LEFT_OUT.get(section) or _LEFT_OUT_TYPES.get(sort.partition("_")[0])
        if counted:
            _count(left_out, counted, passage, sort, seen)
        elif section == "TITLE" or sort == "front" or (sort == "title" and not section and not title):
            title = title or clean_text(passage.text)
        elif section == "ABSTRACT" or sort.startswith("abstract"):
            is_label = "title" in sort
            if not (is_label and class_of_heading(clean_text(passage.text)) == "abstract"):
                blocks.append(Block("abstract", passage.text))
        else:
            blocks.append(Block("heading" if sort.startswith("title") else "paragraph", passage.text))
    notes = [f"The file has {n_documents} documents; the first was read."] if n_documents > 1 else []
    return paper_of_blocks(blocks, title, left_out, notes, kind, _paper_id(number, passages), limits)


def _count(
    left_out: Counter[str], name: str, passage: _Passage, sort: str, seen: set[tuple[str, str]]
) -> None:
    """One a table or figure, however many passages it has; a heading is none."""
    if "title" in sort and name in {"references", "back matter", "footnotes", "supplements"}:
        return
    key = (name, passage.infons.get("id") or passage.infons.get("file") or "")
    if key[1] and name in {"tables", "figures"}:
        left_out[name] += key not in seen
        seen.add(key)
    else:
        left_out[name] += 1


def _paper_id(number: str, passages: Sequence[_Passage]) -> str:
    """``pmc_123`` where the document or its title passage says so, else ``pubmed_123``, else the id itself."""
    number = clean_text(number)
    stated = passages[0].infons.get("article-id_pmc", "") if passages else ""
    if pmc := re.fullmatch(r"PMC(\d+)", number, re.I) or re.fullmatch(r"(?:PMC)?(\d+)", stated, re.I):
        return f"pmc_{pmc[1]}"
    return f"pubmed_{number}" if number.isdecimal() else number
