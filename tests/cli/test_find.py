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


def words(paper: Path | str, *more: str | Path) -> tuple[str | Path, ...]:
    return ("find", paper, "--hypothesis", HYPOTHESIS, "--retriever", "bm25", *more)


def test_by_default_structure_is_asked_and_says_why(command, paper: Path) -> None:
    ask = ("find", paper, "--hypothesis", HYPOTHESIS, "--k", "1")
    document = command(*ask, "--json").document
    assert document["retriever"] == "structure"
    (pick,) = document["picks"]
    assert pick["text"] == "We asked whether tea is good."  # to structure the abstract weighs most
    assert pick["why"] == "In the abstract."
    assert "     Why: In the abstract.\n" in command(*ask).out


def test_a_trained_model_is_asked_by_default(command, paper: Path) -> None:
    write_model(small_model(), default_model_path())
    document = command("find", paper, "--hypothesis", HYPOTHESIS, "--k", "1", "--json").document
    assert document["retriever"] == "evidence-ranker"
    # this model goes by the place in the paper, and the last sentence is the one furthest down
    assert document["picks"][0]["text"] == "Nothing else changed."


def test_picks_are_printed_and_what_was_left_out_is_told(command, paper: Path) -> None:
    printed = command(*words(paper, "--k", "2"))
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
    document = command(*words(paper, "--k", "1", "--set", "k1=1.2", "--json")).document
    assert document["hypothesis"] == HYPOTHESIS
    assert document["settings"]["k1"] == 1.2
    assert document["paper"]["title"] == "Tea and blood pressure: a trial"
    assert document["paper"]["left_out"] == {"tables": 1}
    assert document["paper"]["source"] == "a paper.md"
    (pick,) = document["picks"]
    assert pick["text"] == "Green tea lowers blood pressure by 5 mmHg."
    assert (pick["section"], pick["rank"]) == ("Results", 1)


def test_standard_input(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(JATS)))
    document = command(*words("-", "--json")).document
    assert document["paper"]["kind"] == "jats"
    assert document["paper"]["source"] == "read from standard input"
    assert document["picks"][0]["text"] == "Green tea lowers blood pressure."


def test_the_report(command, paper: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    given = words(paper, "--html", out)
    printed = command(*given)
    assert printed.code == 0
    page = out.read_text(encoding="utf-8")
    assert HYPOTHESIS in page
    assert "Left out, and not searched: tables (1)." in page
    again = shlex.join(["evidencebench", *map(str, given)])
    assert again in unescape(page)
    assert str(out) in printed.err
    command(*words(paper, "--html", out, "--plain"))
    assert "to read first" in out.read_text(encoding="utf-8")


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
def test_a_paper_is_fetched_by_its_id(command, europe_pmc: str, reference: str) -> None:
    document = command(*words(reference, "--base-url", europe_pmc, "--json")).document
    assert document["paper"]["title"] == "Tea again"
    assert document["paper"]["source"] == f"{europe_pmc}/PMC7/fullTextXML"


def test_a_file_that_is_called_like_an_id_is_a_file(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("PMC7").write_text(PAPER, encoding="utf-8")
    document = command(*words("PMC7", "--json", "--base-url", "http://127.0.0.1:9")).document
    assert document["paper"]["source"] == "PMC7"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--retriever", "oracle"), "needs gold"),
        (("--retriever", "bm52"), "bm25"),
        (("--set", "k9=1"), "no setting 'k9'"),
        (("--hypothesis", " "), "is empty"),
        (("--plain",), "Name its file with --html"),
        (("--max-calls", "3"), "is for retrievers that ask a server"),
        (("--kind", "jats"), "XML"),
        (("--html", "/no/such/folder/out.html"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line(command, paper: Path, more: tuple[str, ...], reason: str) -> None:
    printed = command(*words(paper, *more))
    assert (printed.code, printed.out) == (1, "")
    assert reason in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_language_model_is_asked_within_its_caps(
    command, paper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted(reply("It says so.\nDECISION: [5]")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
        asked = words(paper, "--retriever", "llm", "--set", "model=gpt-4o-mini", "--json")
        printed = command(*asked, "--max-calls", "3")
        assert [pick["sentence"] for pick in printed.document["picks"]] == [5]
        assert printed.document["settings"]["model"] == "gpt-4o-mini"
        assert "It took 1 call" in printed.err
        assert "sk-secret" not in printed.out + printed.err
        assert command(*asked).document["picks"] == printed.document["picks"]
        assert len(server.requests) == 1  # the second answer was kept


def test_what_is_no_paper(command, tmp_path: Path) -> None:
    missing = command(*words(tmp_path / "missing.pdf"))
    assert missing.code == 1
    assert "is no file, and no PMC id, PubMed id or DOI either" in missing.err
    assert "is no regular file" in command(*words(tmp_path)).err
    (tmp_path / "empty.txt").write_bytes(b"")
    assert "is empty" in command(*words(tmp_path / "empty.txt")).err


def test_wrong_usage(command, paper: Path) -> None:
    assert command("find", paper).code == 2
    assert command("find", "--hypothesis", "x").code == 2
    assert command(*words(paper, "--k", "0")).code == 2
    assert command(*words(paper, "--set", "k1")).code == 2
