"""Papers in memory, and the files that are taken away of them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from components.app.choices import Choice
from components.paper import opened as opened_papers
from components.paper.downloads import file_stem, picks_as_csv, picks_as_json, report_page
from components.paper.opened import OpenPaper, OpenPapers, of_samples
from evidencebench_core.papers import Box, read_paper
from evidencebench_core.retrievers import Retrieval
from tests.pages.app import SAMPLE

TEXT = "Salt <b>bold</b>\n\nAbstract\n=SUM(A1) is what salt does. Sleep does not change.\n\nMethods\nWe fed the rats."
OPENED = OpenPaper("open-1", read_paper(TEXT.encode(), "a.txt"), "a file's.txt", given="a file's.txt")
HYPOTHESIS = "Salt's effect; rm -rf"
BM25 = Retrieval((1, 2), (2.0, 1.0), (1, 2), 0.5)
ANSWERS = {"bm25 k1=1.2": BM25, "lead": Retrieval((0,), (1.0,), (0,))}
CHOICES = (Choice("bm25", {"k1": 1.2}), Choice("lead"))
AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


# -- in memory ----------------------------------------------------------------------------------------------


def test_the_one_not_looked_at_for_longest_makes_room() -> None:
    papers = OpenPapers()
    for number in range(64):
        papers.put(replace(OPENED, ref=str(number)))
    assert papers.get("0") is not None  # looked at, so that 1 is the oldest now
    papers.put(replace(OPENED, ref="64"))
    assert papers.get("1") is None
    assert papers.get("0") is not None
    papers.drop("0")
    assert papers.get("0") is None
    papers.drop("never there")


def test_the_pages_of_the_oldest_make_room_for_others_and_their_text_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(opened_papers, "_MOST_BYTES", 10)
    papers = OpenPapers()
    for number in range(3):
        papers.put(replace(OPENED, ref=str(number), pdf=b"%PDF-"))
    shown = [opened.has_pages for number in range(3) if (opened := papers.get(str(number)))]
    assert shown == [False, True, True]


def test_samples_have_no_gold_and_their_wordings() -> None:
    trial = of_samples(SAMPLE)["sample_trial"]
    assert trial.instance(trial.hypothesis).evidence.aspects == ()
    assert "negation" in trial.wordings
    assert trial.name == "Sample: cluster-randomised controlled trial"
    assert "synthetic" in trial.paper.notes[0]


# -- taken away ---------------------------------------------------------------------------------------------


def test_the_report_has_the_picks_the_settings_and_the_command() -> None:
    page = report_page(OPENED, HYPOTHESIS, 2, CHOICES[0], BM25, at=AT)
    assert "2 sentences picked, in this order" in page
    assert "Salt &lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold" not in page
    # as a shell takes it: quotes inside quotes
    assert "--retriever bm25 --set k1=1.2" in page
    assert "rm -rf&#x27;" in page or "rm -rf&#39;" in page
    assert "21 November 2026" in page
    assert page == report_page(OPENED, HYPOTHESIS, 2, CHOICES[0], BM25, at=AT)
    judged = {"verdicts": {BM25.selection[0]: "▲ supports <b>it</b>"}, "judge": "tiny"}
    with_verdict = report_page(OPENED, HYPOTHESIS, 2, CHOICES[0], BM25, at=AT, **judged)
    assert with_verdict.count("▲ supports &lt;b&gt;it&lt;/b&gt; (a model's opinion: tiny)") == 1
    assert "opinion" not in page
    plain = report_page(OPENED, HYPOTHESIS, 2, CHOICES[0], BM25, plain=True, at=AT)
    assert "The 2 sentences to read first" in plain
    assert "k1" not in plain


def test_csv_has_a_line_a_pick_and_no_formula() -> None:
    assert "page" not in picks_as_csv(OPENED, HYPOTHESIS, 2, ANSWERS).splitlines()[0].split(",")
    rows = list(csv.DictReader(io.StringIO(picks_as_csv(OPENED, HYPOTHESIS, 2, ANSWERS))))
    assert [(row["run"], row["pick"], row["sentence"]) for row in rows] == [
        ("bm25 k1=1.2", "1", "1"),
        ("bm25 k1=1.2", "2", "2"),
        ("lead", "1", "0"),
    ]
    assert rows[0]["section"] == "Abstract"
    assert rows[0]["text"].startswith("'=SUM")


def test_json_has_the_paper_and_every_answer() -> None:
    boxes = tuple((Box(1, 0.0, 0.0, 9.0, 9.0),) for _ in OPENED.paper.sentences)
    opened = replace(OPENED, paper=replace(OPENED.paper, boxes=boxes))
    document = json.loads(picks_as_json(opened, HYPOTHESIS, 2, CHOICES, ANSWERS))
    assert (document["hypothesis"], document["k"]) == (HYPOTHESIS, 2)
    assert "boxes" not in document["paper"]
    assert document["answers"][0]["picks"][0].pop("page") == 1
    rows = csv.DictReader(io.StringIO(picks_as_csv(opened, HYPOTHESIS, 2, ANSWERS)))
    assert [row["page"] for row in rows] == ["1", "1", "1"]
    report = report_page(opened, HYPOTHESIS, 2, CHOICES[0], BM25, at=AT)
    assert "Abstract · page 1 · sentence 1" in report
    assert "Abstract · page 1<" in report_page(opened, HYPOTHESIS, 2, CHOICES[0], BM25, plain=True, at=AT)
    assert document["paper"]["n_sentences"] == len(OPENED.paper.sentences)
    assert document["paper"]["name"] == "a file's.txt"
    first, second = document["answers"]
    assert (first["retriever"], first["settings"]["k1"], first["seconds"]) == ("bm25", 1.2, 0.5)
    text = OPENED.paper.sentences[1]
    pick = {"sentence": 1, "text": text, "section": "Abstract", "type": "abstract", "rank": 1, "score": 2.0}
    assert first["picks"][0] == pick
    assert [pick["sentence"] for pick in second["picks"]] == [0]


def test_a_file_is_named_by_harmless_letters() -> None:
    assert file_stem(OPENED) == "evidence-salt-b-bold-b"
    other = OpenPaper("x", read_paper(b"Words are here.", "a.txt"), "../../\u202e")
    assert file_stem(other) == "evidence"
