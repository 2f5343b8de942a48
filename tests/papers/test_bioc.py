"""BioC of PubMed Central and of PubTator."""

import json
from typing import Any

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.bioc import paper_of_bioc_json

TITLE = {"infons": {"section_type": "TITLE", "type": "front", "article-id_pmc": "34"}, "text": "Tea"}
TEXT = {"infons": {"section_type": "INTRO", "type": "paragraph"}, "text": "Tea is hot."}


def of(*passages: dict[str, Any]) -> bytes:
    return json.dumps({"documents": [{"id": "34", "passages": list(passages)}]}).encode()


def test_shapes_of_json() -> None:
    document = {"id": "PMC34", "passages": [TITLE, TEXT]}
    shapes = [document, [document], {"documents": [document]}, [{"documents": [document]}]]
    papers = [paper_of_bioc_json(json.dumps(shape).encode()) for shape in shapes]
    assert {(paper.paper_id, paper.sentences) for paper in papers} == {("pmc_34", ("Tea", "Tea is hot."))}
    with_mark = json.dumps(document).encode("utf-8-sig")
    assert paper_of_bioc_json(with_mark) == papers[0]


def test_pubtator_has_title_and_abstract_only() -> None:
    title = {"infons": {"type": "title", "section": "Title"}, "text": "Tea"}
    abstract = {"infons": {"type": "abstract", "section": "Abstract"}, "text": "Tea is hot. It cools."}
    paper = paper_of_bioc_json(of(title, abstract))
    assert paper.title == "Tea"
    assert paper.sentence_types == ("section_name", "abstract", "abstract")
    assert paper.paper_id == "pubmed_34"


def test_older_files_without_section_types() -> None:
    kinds = ("title", "abstract", "title_1", "paragraph", "footnote", "formula", "table", "ref")
    paper = paper_of_bioc_json(of(*({"infons": {"type": kind}, "text": f"The {kind}."} for kind in kinds)))
    assert paper.sentences == ("The title.", "The abstract.", "The title_1.", "The paragraph.")
    assert dict(paper.left_out) == {"footnotes": 1, "formulas": 1, "tables": 1, "references": 1}


def test_sentences_instead_of_text() -> None:
    split = {"infons": {}, "text": "", "sentences": [{"text": "Tea is hot."}, {"text": "It cools."}]}
    assert paper_of_bioc_json(of(split)).sentences == ("Tea is hot.", "It cools.")
    xml = (
        "<collection><document><id>PMC34</id><passage><sentence><text>Tea is hot.</text></sentence>"
        "<sentence><text>It cools.</text></sentence></passage></document></collection>"
    )
    assert read_paper(xml.encode(), kind="bioc-xml").sentences == ("Tea is hot.", "It cools.")


def test_a_table_of_several_passages_is_one() -> None:
    parts = (("table_caption", "t1"), ("table", "t1"), ("table", "t2"))
    tables = ({"infons": {"section_type": "TABLE", "type": kind, "id": n}, "text": "x"} for kind, n in parts)
    assert dict(paper_of_bioc_json(of(TEXT, *tables)).left_out) == {"tables": 2}


def test_odd_values_and_halves_of_characters_do_no_harm() -> None:
    content = b'{"passages": [{"infons": {}, "text": "Tea \\ud800 is\\u0000 hot."}]}'
    assert paper_of_bioc_json(content).sentences == ("Tea \ufffd is hot.",)
    odd = of({"infons": None, "text": None}, {"infons": {"type": 3}, "text": 5}, {}, TEXT)
    assert paper_of_bioc_json(odd).sentences == ("5", "Tea is hot.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is no JSON"),
        (b"[]", "is JSON without BioC documents"),
        (b'{"passages": []}', "has no text to look for evidence in"),
        (b"\xff\xfe\x00", "is no JSON"),
    ],
)
def test_what_is_no_bioc(content: bytes, message: str) -> None:
    with pytest.raises(PaperError, match=message):
        paper_of_bioc_json(content)


def test_xml_without_documents_and_with_two() -> None:
    with pytest.raises(PaperError, match="has no <document>"):
        read_paper(b"<collection/>", kind="bioc-xml")
    one = "<document><id>1</id><passage><text>Tea is hot.</text></passage></document>"
    two = f"<!DOCTYPE collection SYSTEM 'BioC.dtd'><collection>{one}{one}</collection>"
    paper = read_paper(two.encode(), kind="bioc-xml")
    assert paper.notes[0] == "The file has 2 documents; the first was read."
    assert paper.paper_id == "pubmed_1"
