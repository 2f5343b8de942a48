"""Abstracts from PubMed by PMID, fetched only when asked."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.answers.fields import Line
from evidencebench_core.answers.model import AnswerSet
from evidencebench_core.data.fetch import time_limit
from evidencebench_core.errors import DownloadError, shown
from evidencebench_core.papers.limits import DEFAULT_LIMITS
from evidencebench_core.papers.xml_tree import Element, xml_root

if TYPE_CHECKING:
    import httpx

_ADDRESS: Final = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
_BATCH: Final = 100
_PAUSE: Final = 0.4  # seconds between requests: NCBI takes three a second
_TIMEOUT: Final = 30.0  # seconds without a byte
_PATIENCE: Final = 180.0  # seconds for a batch
_MOST_BYTES: Final = 64 << 20
_REMEDY: Final = "Check the network and try again, or give the documents as a file."


def documents_to_fetch(answers: AnswerSet) -> tuple[str, ...]:
    """The PMIDs that answers cite and no line gives."""
    cited = dict.fromkeys(
        document
        for answer in answers.answers.values()
        for sentence in answer.sentences
        for document in sentence.citations
    )
    return tuple(one for one in cited if one.isascii() and one.isdecimal() and one not in answers.documents)


def fetched_documents(ids: Sequence[str], base_url: str | None = None) -> Iterator[Line]:
    """Lines of documents with title and abstract, each under the PMID that stands in the reply; unknown ids are absent.

    All parts of an abstract are read, with their labels and what is set in italics and the like. The service is at
    ``base_url``, else ``EVIDENCEBENCH_PUBMED``, else it is NCBI's.

    Raises
    ------
    DownloadError
        If the service cannot be reached or answers with something else.
    """
    import httpx

    base = (base_url or os.environ.get("EVIDENCEBENCH_PUBMED") or _ADDRESS).rstrip("/")
    url = f"{base}/efetch.fcgi"
    for start in range(0, len(ids), _BATCH):
        if start:
            time.sleep(_PAUSE)
        asked = ids[start : start + _BATCH]
        form = {"db": "pubmed", "retmode": "xml", "id": ",".join(asked)}
        try:
            with httpx.Client(timeout=_TIMEOUT) as client, time_limit(client, _PATIENCE):
                content = _content(client, url, form)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = f"cannot be reached ({shown(str(error) or type(error).__name__, 120)})"
            raise DownloadError(url, problem, _REMEDY) from error
        yield from _documents(content, url, frozenset(asked))


def _content(client: httpx.Client, url: str, form: dict[str, str]) -> bytes:
    with client.stream("GET", url, params=form) as response:
        if response.status_code != 200:
            raise DownloadError(url, f"answers {response.status_code}", _REMEDY)
        content = bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > _MOST_BYTES:
                raise DownloadError(url, f"sends more than {_MOST_BYTES:,} bytes", _REMEDY)
    return bytes(content)


def _documents(content: bytes, url: str, asked: frozenset[str]) -> Iterator[Line]:
    for article in xml_root(content, DEFAULT_LIMITS, url).walk():
        if article.tag not in ("PubmedArticle", "PubmedBookArticle"):
            continue
        record = next(
            (one for one in article.elements if one.tag in ("MedlineCitation", "BookDocument")), None
        )
        number = record and record.first("PMID")
        if record is None or not number or (pmid := number.text().strip()) not in asked:
            continue
        within = record.first("Article") or record
        title, abstract = within.first("ArticleTitle"), within.first("Abstract")
        parts = [_part(one) for one in (abstract.elements if abstract else ()) if one.tag == "AbstractText"]
        yield {
            "kind": "document",
            "document_id": pmid,
            "title": " ".join(title.text().split()) if title else "",
            "text": "\n".join(filter(None, parts)),
            "source": "PubMed",
        }


def _part(element: Element) -> str:
    label, text = element.attributes.get("Label", ""), " ".join(element.text().split())
    return f"{label}: {text}" if label and text else text
