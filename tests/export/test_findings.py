"""The page to take home and the reasons: all marked pages, nothing untrue, no markup from a text."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evidencebench_core.export import findings as module
from evidencebench_core.export import findings_html
from evidencebench_core.export.findings import STANCE_WORDS, numbers_beside, passage_documents
from evidencebench_core.papers import Box, Float, PageImage, Paper
from evidencebench_core.papers.find import Findings, ReadPaper, findings_in
from evidencebench_core.papers.read import paper_of_file
from evidencebench_core.retrievers import make_retriever

TEXT = """Salt and <b>pressure</b>

Abstract
A salt substitute was tested.

Results
Pressure fell by 4.9% with the substitute. It was lower than before. Sleep did not change.
"""
MOMENT = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.fixture(scope="module")
def findings() -> Findings:
    read = ReadPaper(paper_of_file(TEXT.encode(), "salt.txt"), "salt.txt", "salt.txt")
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


def test_the_page_is_whole_and_shows_all_marks(findings: Findings, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tuple(f"{text} (Table 1, Fig. 1)" for text in findings.read.paper.sentences)
    boxes = tuple((Box(3 * n + 1, 10, 20, 200, 40),) for n in range(len(texts)))
    drawn = Float("Table 1", "<i>Salt</i> by arm.", 2, Box(2, 10, 20, 210, 60))
    floats = (drawn, Float("Figure 1", "None.", 2))
    paper = replace(findings.read.paper, sentences=texts, boxes=boxes, floats=floats)
    read = replace(findings.read, paper=paper)
    findings = replace(findings, read=read, stances={findings.picks[0]: "against"})
    asked: list[int] = []
    comments: dict[tuple[Box, ...], str] = {}
    monkeypatch.setattr(module, "highlighted_pdf", lambda pdf, marks, _: comments.update(marks) or pdf)

    def page_images(pdf: bytes, parts: list[tuple[int, Box | None]], *_: object) -> list[PageImage]:
        asked.extend(page for page, _ in parts)
        return [PageImage(page, 9, 400, 600, pdf) for page, _ in parts]

    monkeypatch.setattr(module, "page_images", page_images)
    html = findings_html(findings, MOMENT, pdf=b"%PDF", command="evidencebench find <x>")
    assert asked == [*sorted(3 * pick + 1 for pick in findings.picks), 2]
    assert set(comments) == {boxes[pick] for pick in findings.picks}
    number, statement = comments[boxes[findings.picks[0]]].split("\n")
    assert number.endswith(STANCE_WORDS["against"])
    assert statement.endswith(findings.hypothesis)
    assert html.count('<section class="sheet">') == len(findings.picks) + 2
    for number in findings.numbers.values():
        assert re.search(rf'<b class="rank left" style="top:[\d.]+%">{number}</b>', html)
    assert html.count('<img class="float"') == 1
    assert "<title>Salt and &lt;b&gt;pressure&lt;/b&gt;</title>" in html
    assert not re.search(r'<i>|<b>pressure|<script|(?:src|href)="(?!data:)', html)
    assert "23 November 2026" in html
    assert "<img" not in findings_html(findings, MOMENT)


def test_numbers_stand_at_the_column_of_the_widest_line_and_those_of_one_line_together() -> None:
    """The second sentence begins with a word at the foot of the left column; the third begins on the first's line."""
    lines = (
        (Box(1, 60, 100, 200, 110),),
        (Box(1, 280, 700, 290, 710), Box(1, 310, 80, 540, 90)),
        (Box(1, 205, 102, 290, 112), Box(1, 60, 115, 100, 125)),
        (Box(1, 60, 300, 200, 310),),
        (Box(1, 60, 320, 200, 330),),  # of the passage before
    )
    paper = Paper("p", "", ("One.",) * 5, ("normal_paragraph",) * 5, "pdf", {}, (), boxes=lines)
    beside = numbers_beside(paper, {0: 1, 1: 2, 2: 3, 3: 4, 4: 4}, PageImage(1, 1, 600, 800, b""))
    assert beside == [("left", 12.5, "1 3", 0), ("left", 37.5, "4", 3), ("right", 10.0, "2", 1)]
