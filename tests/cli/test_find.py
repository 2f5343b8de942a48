"""``find``: any paper, a hypothesis, and the sentences that bear on it."""

from __future__ import annotations

import io
import json
import shlex
import sys
import threading
from collections.abc import Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.llm.server import reply, scripted
from tests.retrievers.ranker.made_up import small_model

HYPOTHESIS = "Green tea lowers blood pressure."
BM25 = ("--hypothesis", HYPOTHESIS, "--retriever", "bm25")
PAPER = """\
# Tea and blood pressure: a trial

## Abstract
We asked whether tea is good. Nobody knew.

## Results
Green tea lowers blood pressure by 5 mmHg. Nothing else changed.

| a | b |
|---|---|
| 1 | 2 |
"""
JATS = (
    b"<article><front><article-meta><article-id pub-id-type='pmc'>7</article-id><title-group>"
    b"<article-title>Tea again</article-title></title-group></article-meta></front><body><sec>"
    b"<title>Results</title><p>Green tea lowers blood pressure. Sleep did not change.</p></sec></body></article>"
)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "a paper.md"
    path.write_text(PAPER, encoding="utf-8")
    return path


def test_structure_is_asked_by_default_and_a_trained_model_where_there_is_one(command, paper: Path) -> None:
    words = ("find", paper, "--hypothesis", HYPOTHESIS, "--k", "1")
    document = command.json(*words)
    assert document["retriever"] == "structure"
    (pick,) = document["picks"]
    assert pick["text"] == "We asked whether tea is good."  # to structure the abstract weighs most
    assert pick["why"] == "In the abstract."
    assert "     Why: In the abstract.\n" in command(*words).out
    write_model(small_model(), default_model_path())
    document = command.json(*words)
    assert document["retriever"] == "evidence-ranker"
    # this model goes by the place in the paper, and the last sentence is the one furthest down
    assert document["picks"][0]["text"] == "Nothing else changed."


def test_picks_are_printed_and_what_was_left_out_is_told(command, paper: Path) -> None:
    printed = command("find", paper, *BM25, "--k", "2")
    assert printed.code == 0
    lines = printed.out.splitlines()
    assert lines[:2] == ["Tea and blood pressure: a trial", f"Hypothesis: {HYPOTHESIS}"]
    assert lines[3].startswith("  1  sentence ")
    assert lines[3].endswith(", Results")
    assert lines[4].strip() == "Green tea lowers blood pressure by 5 mmHg."
    assert lines[6].startswith("  2  sentence ")
    assert len(lines) == 8
    assert "searched by bm25; left out: tables (1)" in printed.err
    assert "no medical advice" in printed.err


def test_json_is_one_document(command, paper: Path) -> None:
    document = command.json("find", paper, *BM25, "--k", "1", "--set", "k1=1.2")
    assert (document["hypothesis"], document["settings"]["k1"]) == (HYPOTHESIS, 1.2)
    assert document["paper"]["title"] == "Tea and blood pressure: a trial"
    assert document["paper"]["left_out"] == {"tables": 1}
    assert document["paper"]["source"] == "a paper.md"
    (pick,) = document["picks"]
    assert pick["text"] == "Green tea lowers blood pressure by 5 mmHg."
    assert (pick["section"], pick["rank"]) == ("Results", 1)


def test_standard_input(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(JATS)))
    document = command.json("find", "-", *BM25)
    assert document["paper"]["kind"] == "jats"
    assert document["paper"]["source"] == "read from standard input"
    assert document["picks"][0]["text"] == "Green tea lowers blood pressure."


def test_the_report(command, paper: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    words = ("find", paper, *BM25, "--html", out)
    assert str(out) in command(*words).err
    page = out.read_text(encoding="utf-8")
    assert HYPOTHESIS in page
    assert "Left out, and not searched: tables (1)." in page
    assert shlex.join(["evidencebench", *map(str, words)]) in unescape(page)
    command(*words, "--plain")
    assert "to read first" in out.read_text(encoding="utf-8")
    assert "cannot be written" in command("find", paper, *BM25, "--html", "/no/such/folder/out.html").err


def test_several_papers_and_a_folder_come_best_first(command, paper: Path, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "cats.txt").write_text("Cats sleep all day. Dogs bark.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    out = tmp_path / "out.html"
    document = command.json("find", folder, paper, *BM25, "--k", "1", "--html", out)
    assert document["compared_by"] == "bm25"
    assert [one["paper"] for one in document["papers"]] == [str(paper), str(folder / "cats.txt")]
    best = document["papers"][0]
    assert best["best"] == best["picks"][0]["compared"] > document["papers"][1]["best"] == 0
    assert [problem.split(":")[0] for problem in document["problems"]] == ["'broken.pdf'"]
    assert "Evidence in 2 papers" in out.read_text(encoding="utf-8")
    printed = command("find", folder, paper, *BM25, "--k", "1")
    assert printed.code == 0
    assert "1. Tea and blood pressure: a trial (a paper.md; best" in printed.out
    assert "2. cats.txt (cats.txt; best 0)" in printed.out
    assert "Not read: 'broken.pdf': cannot be read as PDF" in printed.err
    for wrong in (("-", paper), (paper, folder, "--plain", "--html", out)):
        assert command("find", *wrong, *BM25).code == 1
    assert "2 papers: could not be read" in command("find", folder / "broken.pdf", "nothing.txt", *BM25).err


class EuropePmc(BaseHTTPRequestHandler):
    """Knows one paper."""

    def do_GET(self) -> None:
        known = {"resultList": {"result": [{"pmcid": "PMC7", "title": "Tea again"}]}}
        body = JATS if self.path == "/PMC7/fullTextXML" else json.dumps(known).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def europe_pmc() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), EuropePmc) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("reference", ["PMC7", "doi:10.1000/abc.7"])
def test_a_paper_is_fetched_by_its_id_unless_a_file_is_called_so(
    command, europe_pmc: str, reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("find", reference, *BM25, "--base-url", europe_pmc)
    fetched = command.json(*words)["paper"]
    assert (fetched["title"], fetched["source"]) == ("Tea again", f"{europe_pmc}/PMC7/fullTextXML")
    Path("PMC7").write_text(PAPER, encoding="utf-8")
    assert (command.json(*words)["paper"]["source"] == "PMC7") == (reference == "PMC7")


def test_a_language_model_is_asked_within_its_caps(
    command, paper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted(reply("5: It says so.\nDECISION: [5]")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
        words = ("find", paper, *BM25[:2], "--retriever", "llm", "--set", "model=gpt-4o-mini")
        printed = command(*words, "--max-calls", "3", "--json")
        (pick,) = printed.document["picks"]
        assert (pick["sentence"], pick["why"]) == (5, "It says so.")
        assert printed.document["settings"]["model"] == "gpt-4o-mini"
        assert "It took 1 call" in printed.err
        assert "sk-secret" not in printed.out + printed.err
        assert command.json(*words)["picks"] == printed.document["picks"]
        assert len(server.requests) == 1  # the second answer was kept
