"""Fetching from Europe PMC, against a server on this machine."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Limits, europe_pmc, read_paper
from evidencebench_core.papers.europe_pmc import Reference, fetched_paper, reference_of

ARTICLE = b"<article><body><p>Tea is hot.</p></body></article>"
Answer = tuple[int, dict[str, str], bytes]


class Service:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.base = ""
        self.asked: list[str] = []
        self.search: Callable[[str], Answer] = lambda _: (200, {}, results({"pmcid": "PMC34"}))
        self.article: Answer = (200, {}, ARTICLE)


def results(*papers: dict[str, Any]) -> bytes:
    return json.dumps({"resultList": {"result": list(papers)}}).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    standin = Service()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = parse_qs(url.query).get("query", [""])[0]
            standin.asked.append(f"{url.path} {query}".strip())
            if url.path == "/moved/PMC34/fullTextXML":
                status, headers, body = 200, {}, ARTICLE
            elif url.path.endswith("/search"):
                status, headers, body = standin.search(query)
            else:
                status, headers, body = standin.article
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        standin.base = f"http://127.0.0.1:{server.server_address[1]}/rest"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield standin
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("typed", "kind", "value"),
    [
        ("PMC34", "pmc", "PMC34"),
        (" pmc34.2 ", "pmc", "PMC34"),
        ("pmcid: PMC34", "pmc", "PMC34"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC34/", "pmc", "PMC34"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC34/?report=reader", "pmc", "PMC34"),
        ("https://europepmc.org/article/PMC/PMC34", "pmc", "PMC34"),
        ("12345", "pmid", "12345"),
        ("PMID: 12345", "pmid", "12345"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345/", "pmid", "12345"),
        ("10.1000/abc(1).2", "doi", "10.1000/abc(1).2"),
        ("doi:10.1000/abc.", "doi", "10.1000/abc"),
        ("https://doi.org/10.1000/abc", "doi", "10.1000/abc"),
    ],
)
def test_references(typed: str, kind: str, value: str) -> None:
    assert (reference_of(typed).kind, reference_of(typed).value) == (kind, value)


@pytest.mark.parametrize(
    "typed", ["", "tea", '10.1000/a" OR x:*', "PMC", "1" * 20, "https://evil.org/PMC", "PMC34/../x"]
)
def test_what_is_no_reference(typed: str) -> None:
    with pytest.raises(PaperError, match="is no PMC id, PubMed id or DOI"):
        reference_of(typed)


def test_a_paper_comes_by_its_doi(service: Service) -> None:
    paper = fetched_paper("doi:10.1000/abc", service.base)
    assert (paper.content, paper.name) == (ARTICLE, "PMC34.xml")
    assert paper.source == f"{service.base}/PMC34/fullTextXML"
    assert service.asked == ['/rest/search DOI:"10.1000/abc"', "/rest/PMC34/fullTextXML"]
    assert read_paper(paper.content, paper.name).sentences == ("Tea is hot.",)


def test_the_address_is_a_setting(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_EUROPE_PMC", service.base + "/")
    fetched_paper("12345")
    assert service.asked[0] == "/rest/search EXT_ID:12345 AND SRC:MED"


def test_the_first_result_with_a_full_text_is_taken(service: Service) -> None:
    service.search = lambda _: (200, {}, results({"pmid": "1"}, {"pmcid": "PMC../x"}, {"pmcid": "PMC9"}))
    assert fetched_paper("PMC9", service.base).name == "PMC9.xml"
    assert service.asked[0] == "/rest/search PMCID:PMC9"


def test_redirects_within_the_host_are_followed(service: Service) -> None:
    service.article = (302, {"Location": "/moved/PMC34/fullTextXML"}, b"")
    assert fetched_paper("PMC34", service.base).content == ARTICLE


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://127.0.0.1:1/x", "redirects to 'http://127.0.0.1:1/x'"),
        ("file:///etc/passwd", "redirects to|cannot be reached"),
        ("/rest/PMC34/fullTextXML", "redirects again and again"),
    ],
)
def test_other_redirects_are_not(location: str, message: str, service: Service) -> None:
    service.article = (302, {"Location": location}, b"")
    with pytest.raises(PaperError, match=message):
        fetched_paper("PMC34", service.base)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, {}, results()), "PMC34: is not known to Europe PMC"),
        ((200, {}, results({"pmid": "1"})), "PMC34: has no open full text"),
        ((200, {}, b"<html>"), "answered with no search result"),
        ((200, {}, b'{"resultList": 3}'), "answered with no search result"),
        ((503, {}, b""), "answered with status 503"),
    ],
)
def test_searches_that_find_nothing(answer: Answer, message: str, service: Service) -> None:
    service.search = lambda _: answer
    with pytest.raises(PaperError, match=message):
        fetched_paper("PMC34", service.base)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, {}, b""), "PMC34: has no open full text"),
        ((500, {}, b""), "answered with status 500"),
        ((200, {}, b"<!DOCTYPE html><html>"), "sent no article, but a web page"),
        ((200, {}, b"not found"), "sent no article"),
        ((200, {}, b"<article>" + b" " * 3_000_000), "sends more than 2 MiB"),
    ],
)
def test_articles_that_are_none(answer: Answer, message: str, service: Service) -> None:
    service.article = answer
    with pytest.raises(PaperError, match=message):
        fetched_paper("PMC34", service.base, Limits(max_bytes=2**21))


def test_an_answer_that_trickles_is_given_up(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(europe_pmc, "_PATIENCE", -1.0)
    with pytest.raises(PaperError, match="takes longer than -1 seconds"):
        fetched_paper("PMC34", service.base)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(PaperError, match="cannot be reached"):
        fetched_paper("PMC34", "http://127.0.0.1:1/rest")


def test_names_in_messages() -> None:
    assert [str(Reference("pmid", "1")), str(Reference("doi", "10.1/x"))] == ["PMID 1", "DOI 10.1/x"]
