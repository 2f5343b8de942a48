"""Fetching from Europe PMC, against a server on this machine."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import europe_pmc, read_paper
from evidencebench_core.papers.europe_pmc import fetched_paper, reference_of
from tests.llm.server import Handler, Reply, serving
from tests.papers.rendering import PHRASES

ARTICLE = b"<article><body><p>Tea is hot.</p></body></article>"


def results(*papers: dict[str, Any]) -> bytes:
    return json.dumps({"resultList": {"result": list(papers)}}).encode()


class Service:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.base = ""
        self.asked: list[str] = []
        self.search: Reply = (200, {}, results({"pmcid": "PMC34"}))
        self.article: Reply = (200, {}, ARTICLE)

    def answer(self, request: Handler) -> Reply:
        url = urlsplit(request.path)
        self.asked.append(f"{url.path} {parse_qs(url.query).get('query', [''])[0]}".strip())
        if url.path == "/moved/PMC34/fullTextXML":
            return 200, {}, ARTICLE
        return self.search if url.path.endswith("/search") else self.article


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(europe_pmc, "MAX_BYTES", 2**21)
    service = Service()
    with serving(service.answer) as address:
        service.base = f"{address}/rest"
        yield service


@pytest.mark.parametrize(("typed", "named"), PHRASES["references"])
def test_references(typed: str, named: str) -> None:
    if named:
        assert reference_of(typed).name == named
    else:
        with pytest.raises(PaperError, match="is not a PMC id, PubMed id or DOI"):
            reference_of(typed)


def test_a_paper_comes_by_its_doi(service: Service) -> None:
    paper = fetched_paper("doi:10.1000/abc", service.base)
    assert (paper.content, paper.name) == (ARTICLE, "PMC34.xml")
    assert paper.source == f"{service.base}/PMC34/fullTextXML"
    assert service.asked == ['/rest/search DOI:"10.1000/abc"', "/rest/PMC34/fullTextXML"]
    assert read_paper(paper.content, paper.name).sentences == ("Tea is hot.",)


def test_the_first_result_with_full_text_is_taken(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", service.base + "/")  # the address is a setting
    service.search = 200, {}, results({"pmid": "1"}, {"pmcid": "PMC../x"}, {"pmcid": "PMC9"})
    assert fetched_paper("12345").name == "PMC9.xml"
    assert service.asked == ["/rest/search EXT_ID:12345 AND SRC:MED", "/rest/PMC9/fullTextXML"]


def test_a_pmc_id_is_not_searched_for_and_redirects_within_the_host_are_followed(service: Service) -> None:
    service.article = moved("/moved/PMC34/fullTextXML")
    assert fetched_paper("PMC34", service.base).content == ARTICLE
    assert service.asked == ["/rest/PMC34/fullTextXML", "/moved/PMC34/fullTextXML"]


def moved(place: str) -> Reply:
    return 302, {"Location": place}, b""


@pytest.mark.parametrize(
    ("asked", "answer", "message"),
    [
        ("article", moved("http://127.0.0.1:1/x"), "cannot be reached"),
        ("article", moved("file:///etc/passwd"), "cannot be reached"),
        ("article", moved("/rest/PMC34/fullTextXML"), "cannot be reached"),
        ("article", (404, {}, b""), "PMID 34 has no open full text"),
        ("article", (500, {}, b""), "answered with status 500"),
        ("article", (200, {}, b"<article>" + b" " * 3_000_000), "sends more than 2 MiB"),
        ("search", (200, {}, results()), "PMID 34 is not known to Europe PMC"),
        ("search", (200, {}, results({"pmid": "1"})), "PMID 34 has no open full text"),
        ("search", (200, {}, b"<html>"), "answered with no search result"),
        ("search", (200, {}, b'{"resultList": 3}'), "answered with no search result"),
        ("search", (503, {}, b""), "answered with status 503"),
    ],
)
def test_answers_that_are_no_paper(asked: str, answer: Reply, message: str, service: Service) -> None:
    setattr(service, asked, answer)
    with pytest.raises(PaperError, match=message):
        fetched_paper("34", service.base)


def test_an_answer_that_takes_too_long(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(europe_pmc, "_MAX_SECONDS", 0)
    with pytest.raises(PaperError, match="took longer than 0 seconds"):
        fetched_paper("PMC34", service.base)
