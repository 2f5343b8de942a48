"""Picks in several papers, taken away: nothing in them is markup, and nothing a formula."""

from __future__ import annotations

import csv
import io
import json

import pytest

from evidencebench_core.export import across_documents, across_frame, across_html, csv_text
from evidencebench_core.papers import Paper, read_paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import PaperPicks

EVIL = "=HYPERLINK(1) <script>alert(1)</script> \u202e{{ 7 * 7 }}"
PAPERS = {
    "a": read_paper(f"{EVIL}.\n\nTwo is here. Three is here. Four is here. Five is here.".encode(), "a.txt"),
    "b": read_paper(b"One is here. Two is here.", "b.txt"),
}
TITLES = {"a": EVIL, "b": "B"}
PAGES = {"a": {1: 4}}


def picks(paper: Paper, key: str, *selection: int) -> PaperPicks:
    scores = tuple(float(9 - index) for index in selection)
    return PaperPicks(key, paper.instance(EVIL), Retrieval(selection, scores, selection), scores)


FOUND = (picks(PAPERS["a"], "a", 1, 0, 2, 3, 4), picks(PAPERS["b"], "b"))


def page(**others: object) -> str:
    given = {"retriever": "bm25", "settings": {"k1": 1.5}, "budget": 5, "problems": (EVIL,), "command": EVIL}
    return across_html(FOUND, EVIL, TITLES, PAGES, **(given | others))  # type: ignore[arg-type]


def test_the_page_escapes_everything_and_has_every_pick() -> None:
    html = page(created_at="2026-11-21T12:00:00+00:00")
    assert "<script" not in html
    assert "49" not in html
    assert "\u202e" not in html
    assert html.count("&lt;script&gt;alert(1)") >= 5  # title, hypothesis, paper, sentence, problem, command
    assert html.count('<li class="pick">') == 5
    assert "2 more picks" in html
    assert "page 4 · sentence 1" in html
    assert "words counted over the sentences of all these papers together" in html
    assert "K = 5 in each paper" in html
    assert "21 November 2026" in html
    assert html == page(created_at="2026-11-21T12:00:00+00:00")


def test_the_table_has_a_row_a_pick_and_no_formula() -> None:
    frame = across_frame(FOUND, TITLES, PAGES)
    rows = list(csv.DictReader(io.StringIO(csv_text(frame))))
    assert [(row["paper_place"], row["pick"], row["sentence"], row["page"]) for row in rows[:2]] == [
        ("1", "1", "1", "4"),
        ("1", "2", "0", ""),
    ]
    assert [float(row["compared"]) for row in rows] == [8, 9, 7, 6, 5]
    assert rows[0]["paper"].startswith("'=HYPERLINK")
    assert rows[1]["text"].startswith("'=HYPERLINK")
    empty = across_frame((), {}, {})
    assert csv_text(empty).startswith("paper_place,paper,")
    assert csv_text(empty.rename(columns={"paper": "=SUM(A1)"})).startswith("paper_place,'=SUM(A1),")


def test_the_document_is_json() -> None:
    first, second = json.loads(json.dumps(across_documents(FOUND, PAPERS)))
    assert (first["paper"], first["best"], first["n_sentences"]) == ("a", 9, len(PAPERS["a"].sentences))
    assert [pick["compared"] for pick in first["picks"]] == [8, 9, 7, 6, 5]
    assert (second["best"], second["picks"]) == (None, [])


@pytest.mark.parametrize("budget", [1, 100])
def test_a_page_without_papers_is_one(budget: int) -> None:
    html = across_html((), "H", {}, {}, retriever="dense", settings={}, budget=budget)
    assert "Evidence in 0 papers" in html
