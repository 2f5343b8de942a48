"""Open-access papers from Europe PMC, by PMC id, PMID or DOI: the only network code of this room."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.limits import DEFAULT_LIMITS, MIB, Limits
from evidencebench_core.papers.time_limit import time_limit

if TYPE_CHECKING:
    import httpx

ReferenceKind = Literal["pmc", "pmid", "doi"]
_ADDRESS: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest"
_TIMEOUT: Final = 20.0  # seconds without a byte
_PATIENCE: Final = 120.0  # seconds for a paper in all, however slowly it trickles
_LONGEST_SEARCH: Final = 4 * MIB
_CHECK_ADDRESS: Final = "Check the address of the service (base URL)."
_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_HTML: Final = re.compile(rb"\s*(?:<!doctype\s+html|<html)", re.IGNORECASE)
# How the numbers of papers are written, alone or in an address.
_FORMS: Final[tuple[tuple[ReferenceKind, str], ...]] = (
    ("pmc", r"(?:pmc(?:id)?\s*:?\s*)?pmc\s*(\d{1,9})(?:\.\d+)?"),
    ("pmc", r"https?://\S{1,100}/(?:articles?/)?(?:PMC/)?PMC(\d{1,9})(?:[/?#]\S*)?"),
    ("doi", r"(?:doi\s*:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/[^\s\"]{1,300})"),
    ("pmid", r"(?:pmid\s*:?\s*|pubmed[_:]\s*|https?://pubmed\.ncbi\.nlm\.nih\.gov/)?(\d{1,9})/?"),
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of a paper: ``PMC123``, a PubMed id or a DOI."""

    kind: ReferenceKind
    value: str

    def __str__(self) -> str:
        return self.value if self.kind == "pmc" else f"{self.kind.upper()} {self.value}"

    @property
    def query(self) -> str:
        """As Europe PMC's search takes it."""
        if self.kind == "pmc":
            return f"PMCID:{self.value}"
        return f"EXT_ID:{self.value} AND SRC:MED" if self.kind == "pmid" else f'DOI:"{self.value}"'


@dataclass(frozen=True, slots=True)
class FetchedPaper:
    """A paper's JATS XML, and where it came from."""

    content: bytes
    name: str  # "PMC123.xml"
    source: str  # the address it was read from


def reference_of(text: str) -> Reference:
    """The reference that a reader typed or pasted, addresses of PMC, PubMed and doi.org included."""
    typed = text.strip().rstrip(".,;")
    for kind, form in _FORMS:
        if found := re.fullmatch(form, typed, re.IGNORECASE):
            return Reference(kind, f"PMC{found[1]}" if kind == "pmc" else found[1])
    remedy = "Write it like PMC2785062, 19908335 or 10.1000/xyz123."
    raise PaperError(shown(text), "is no PMC id, PubMed id or DOI", remedy)


def fetched_paper(
    reference: str, base_url: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> FetchedPaper:
    """The full text of an open-access paper, by PMC id, PubMed id or DOI in any usual way of writing.

    The service is at `base_url`, else ``EVIDENCEBENCH_EUROPE_PMC``, else it is Europe PMC itself.
    """
    import httpx

    wanted = reference_of(reference)
    base = (base_url or os.environ.get("EVIDENCEBENCH_EUROPE_PMC") or _ADDRESS).rstrip("/")
    try:
        hooks = {"request": [_only_https_beyond(httpx.URL(base))]}
        with (
            httpx.Client(
                timeout=_TIMEOUT, follow_redirects=True, max_redirects=5, event_hooks=hooks
            ) as client,
            time_limit(client, _PATIENCE),
        ):
            pmc = _pmc_id(client, base, wanted)
            url = f"{base}/{pmc}/fullTextXML"
            status, content = _fetch(client, url, {}, limits.max_bytes)
    except httpx.TooManyRedirects as error:
        raise PaperError(base, "redirects again and again", _CHECK_ADDRESS) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        problem = f"cannot be reached ({shown(str(error) or type(error).__name__, 120)})"
        raise PaperError(base, problem, "Check the network, or give the paper as a file.") from error
    if status == 404:
        raise _closed_access_error(wanted)
    if not _XML.match(content) or _HTML.match(content):
        problem = "sent no article, but a web page or something else"
        raise PaperError(url, problem, "Check the address, try again.")
    return FetchedPaper(content, f"{pmc}.xml", url)


def _only_https_beyond(base: httpx.URL) -> Callable[[httpx.Request], None]:
    """A check of every request, redirected ones included: to the service itself, or by https."""

    def check(request: httpx.Request) -> None:
        url = request.url
        if url.scheme != "https" and (url.scheme, url.host, url.port) != (base.scheme, base.host, base.port):
            remedy = "That is not followed: only https is."
            raise PaperError(str(base), f"redirects to {shown(str(url))}", remedy)

    return check


def _pmc_id(client: httpx.Client, base: str, wanted: Reference) -> str:
    """The PMC id of the paper, by a search."""
    url = f"{base}/search"
    query = {"query": wanted.query, "format": "json", "resultType": "lite", "pageSize": "5"}
    status, content = _fetch(client, url, query, _LONGEST_SEARCH)
    if status == 404:
        raise _status_error(url, status)
    try:
        results = json.loads(content)["resultList"]["result"]
        papers: list[dict[str, Any]] = [result for result in results if isinstance(result, dict)]
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise PaperError(url, "answered with no search result", _CHECK_ADDRESS) from broken
    if not papers:
        remedy = "Check the number, or give the paper as a file."
        raise PaperError(str(wanted), "is not known to Europe PMC", remedy)
    for paper in papers:
        pmc = str(paper.get("pmcid") or "")
        if re.fullmatch(r"PMC\d{1,9}", pmc):
            return pmc
    raise _closed_access_error(wanted)


def _fetch(client: httpx.Client, url: str, query: dict[str, str], most: int) -> tuple[int, bytes]:
    """Status (200 or 404) and body of an address, within a bound of size."""
    content = bytearray()
    with client.stream("GET", url, params=query or None) as response:
        for piece in response.iter_bytes():
            content += piece
            if len(content) > most:
                raise PaperError(url, f"sends more than {most / MIB:,.0f} MiB", "Give the paper as a file.")
        if response.status_code not in (200, 404):
            raise _status_error(url, response.status_code)
        return response.status_code, bytes(content)


def _closed_access_error(wanted: Reference) -> PaperError:
    remedy = "If you have the paper, give it as a file (PDF, DOCX, text) or paste its text."
    return PaperError(str(wanted), "has no open full text at Europe PMC", remedy)


def _status_error(url: str, status: int) -> PaperError:
    return PaperError(url, f"answered with status {status}", "Try again later, or give the paper as a file.")
