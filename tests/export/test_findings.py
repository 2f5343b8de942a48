"""The page to take home and the reasons: three sheets, nothing untrue, no markup from a text."""

import json
import re
from dataclasses import replace

import pytest

from evidencebench_core.export import findings_document, findings_html
from evidencebench_core.export.findings import first_page, passage_documents
from evidencebench_core.papers import Box, PageImage
from evidencebench_core.papers.find import Findings, ReadPaper, findings_in
from evidencebench_core.papers.read import paper_of_file
from evidencebench_core.retrievers import make_retriever

TEXT = """Salt and <b>pressure</b>

Abstract
A salt substitute was tested.

Results
Pressure fell by 4.9% with the substitute. It was lower than before. Sleep did not change.
"""


@pytest.fixture(scope="module")
def findings() -> Findings:
    paper = paper_of_file(TEXT.encode(), "salt.txt")
    boxes = tuple((Box(1, 10, 10 + 20 * n, 200, 25 + 20 * n),) for n in range(len(paper.sentences)))
    read = ReadPaper(replace(paper, boxes=boxes), "salt.txt", "salt.txt")
    return findings_in(read, "A salt <i>substitute</i> lowers pressure.", make_retriever("bm25"), 3)


def test_a_passage_has_its_sentences_in_pieces_with_the_words_of_the_statement(findings: Findings) -> None:
    paper = findings.read.paper
    passages = passage_documents(replace(findings, stances={findings.picks[0]: "supports"}))
    sentences = [sentence for passage in passages for sentence in passage["sentences"]]
    for sentence in sentences:
        assert "".join(text for text, _ in sentence["pieces"]) == paper.sentences[sentence["index"]]
    shared = {text.lower() for sentence in sentences for text, is_shared in sentence["pieces"] if is_shared}
    assert shared == {"salt", "substitute", "pressure"}
    assert [passage["number"] for passage in passages] == list(range(1, len(passages) + 1))
    assert [sentence["index"] for sentence in sentences if sentence["stance"]] == [findings.picks[0]]


def test_three_sheets_whole_in_themselves(findings: Findings) -> None:
    image = PageImage(1, 2, 400, 600, b"RIFF")
    html = findings_html(findings, image=image, command="evidencebench find <x>", created_at="2026-11-23")
    assert html.count('<section class="sheet">') == 3
    assert html.count('class="box"') == len(findings.picks)
    assert "<i>" not in html
    assert "<b>pressure" not in html
    assert not re.search(r'(?:src|href)="(?!data:)', html)
    assert "<script" not in html
    assert "23 November 2026" in html
    assert first_page(findings) == 1
    without = findings_html(findings)
    assert without.count('<section class="sheet">') == 3
    assert "<img" not in without


def test_the_document_is_json(findings: Findings) -> None:
    document = json.loads(json.dumps(findings_document(findings, 3)))
    assert [pick["sentence"] for pick in document["picks"]] == list(findings.picks)
    assert document["paper"]["title"] == "Salt and <b>pressure</b>"
    assert document["close"] is True
    assert document["best"] is None  # bm25 has no embeddings
