"""Abstracts by PMID, from a server on this machine (spec rule 48, fault C22)."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest

from evidencebench_core.answers import pubmed
from evidencebench_core.answers.pubmed import documents_to_fetch, fetched_documents
from evidencebench_core.answers.read import SAMPLE, answer_set, read_answers
from evidencebench_core.errors import EvidenceBenchError
from tests.serving import Answer, serving

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{0}</PMID><Article><ArticleTitle>Tea {0}</ArticleTitle>
{1}</Article></MedlineCitation><PubmedData><ReferenceList><Reference><ArticleIdList><ArticleId>999</ArticleId>
</ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>"""
ABSTRACT = """<Abstract><AbstractText Label="AIM">To see <i>Camellia</i> &lt;5 mg.</AbstractText>
<AbstractText>It helped.</AbstractText><CopyrightInformation>c</CopyrightInformation></Abstract>"""
BOOK = """<PubmedBookArticle><BookDocument><PMID>13</PMID><ArticleTitle>Book</ArticleTitle>
<Abstract><AbstractText>Words.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"""


class Service:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.base = ""
        self.asked: list[list[str]] = []
        self.answer_is: Answer | None = None

    def answer(self, request: BaseHTTPRequestHandler) -> Answer:
        ids = parse_qs(urlsplit(request.path).query)["id"][0].split(",")
        self.asked.append(ids)
        known = [ARTICLE.format(one, ABSTRACT if one != "12" else "") for one in reversed(ids) if one != "14"]
        document = "".join((*known, ARTICLE.format("77", ABSTRACT), BOOK if "13" in ids else ""))
        return self.answer_is or (200, {}, f"<PubmedArticleSet>{document}</PubmedArticleSet>".encode())


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    service = Service()
    monkeypatch.setattr(pubmed, "_PAUSE", 0.0)
    monkeypatch.setattr(pubmed, "_BATCH", 2)
    with serving(service.answer) as address:
        service.base = address
        monkeypatch.setenv("EVIDENCEBENCH_PUBMED", address)
        yield service


def test_each_abstract_is_under_the_pmid_of_the_reply(service: Service) -> None:
    found = {one["document_id"]: one for one in fetched_documents(["11", "12", "14", "15"])}
    assert service.asked == [["11", "12"], ["14", "15"]]  # every batch asks for its own
    assert set(found) == {"11", "12", "15"}  # 14 is unknown, 77 was not asked for
    assert found["11"]["title"] == "Tea 11"
    assert found["11"]["text"] == "AIM: To see Camellia <5 mg.\nIt helped."
    assert found["12"]["text"] == ""
    (book,) = [one for one in fetched_documents(["13"]) if one["title"] == "Book"]
    assert book["text"] == "Words."


@pytest.mark.parametrize(
    "answer", [(500, {}, b""), (302, {"Location": "/x"}, b""), (200, {}, b"<html>no"), (200, {}, b"")]
)
def test_other_answers_are_errors(service: Service, answer: Answer) -> None:
    service.answer_is = answer
    with pytest.raises(EvidenceBenchError, match="efetch"):
        list(fetched_documents(["11"]))


def test_what_is_cited_and_not_given() -> None:
    assert documents_to_fetch(answer_set(read_answers([SAMPLE]))) == ("999999",)
