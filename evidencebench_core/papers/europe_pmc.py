"""Open-access papers from Europe PMC, by PMC id, PMID or DOI: the only network code of this room."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from anyio.from_thread import start_blocking_portal

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.child import MAX_BYTES, MIB

if TYPE_CHECKING:
    import httpx

_ADDRESS: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest"
_TIMEOUT: Final = 20.0  # seconds without a byte
_MAX_SECONDS: Final = 120.0  # for a paper in all, however slowly the answers trickle
# How the numbers of papers are written, alone or in an address; their names, and what to search for.
_FORMS: Final = (
    ("PMC{}", "", r"(?:pmc(?:id)?\s*:?\s*)?pmc\s*(\d{1,9})(?:\.\d+)?"),
    ("PMC{}", "", r"https?://\S{1,100}/(?:articles?/)?(?:PMC/)?PMC(\d{1,9})(?:[/?#]\S*)?"),
    ("DOI {}", 'DOI:"{}"', r"(?:doi\s*:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/[^\s\"]{1,300})"),
    (
        "PMID {}",
        "EXT_ID:{} AND SRC:MED",
        r"(?:pmid\s*:?\s*|pubmed[_:]\s*|https?://pubmed\.ncbi\.nlm\.nih\.gov/)?(\d{1,9})/?",
    ),
)


class Reference(NamedTuple):
    """A paper by its id."""

    name: str  # "PMC123", "PMID 123", "DOI 10.1/x"
    query: str  # which finds its PMC id; "" for a PMC id


class FetchedPaper(NamedTuple):
    """A paper's JATS XML, and where it came from."""

    content: bytes
    name: str  # "PMC123.xml"
    source: str  # the address it was read from


def reference_of(text: str) -> Reference:
    """The id that was typed or pasted, addresses of PMC, PubMed and doi.org included."""
    typed = text.strip().rstrip(".,;")
    for name, query, form in _FORMS:
        if match := re.fullmatch(form, typed, re.IGNORECASE):
            return Reference(name.format(match[1]), query.format(match[1]))
    remedy = "Write it like PMC2785062, 19908335 or 10.1000/xyz123."
    raise PaperError(shown(text), "is not a PMC id, PubMed id or DOI", remedy)


def fetched_paper(reference: str, base_url: str | None = None) -> FetchedPaper:
    """The full text of an open-access paper from `base_url`, ``EVIDENCEBENCH_EUROPE_PMC`` or Europe PMC itself."""
    import httpx

    paper = reference_of(reference)
    base = (base_url or os.environ.get("EVIDENCEBENCH_EUROPE_PMC") or _ADDRESS).rstrip("/")

    async def fetch() -> tuple[str, str, int, bytes]:
        new_client = httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=True, max_redirects=5)
        async with asyncio.timeout(_MAX_SECONDS), new_client as client:
            pmc = await _pmc_id(client, base, paper) if paper.query else paper.name
            url = f"{base}/{pmc}/fullTextXML"
            return pmc, url, *await _fetch(client, url, {}, MAX_BYTES)

    try:
        with start_blocking_portal() as portal:
            pmc, url, status, content = portal.call(fetch)
    except TimeoutError:
        problem = f"took longer than {_MAX_SECONDS:g} seconds"
        raise PaperError(base, problem, "Try again, or give the paper as a file.") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        problem = f"cannot be reached ({shown(str(error) or type(error).__name__, 120)})"
        raise PaperError(base, problem, "Check the network, or give the paper as a file.") from error
    if status == 404:
        raise _closed_access_error(paper)
    return FetchedPaper(content, f"{pmc}.xml", url)


async def _pmc_id(client: httpx.AsyncClient, base: str, paper: Reference) -> str:
    """The PMC id of a paper with another id, by a search."""
    url = f"{base}/search"
    fields = {"query": paper.query, "format": "json", "resultType": "lite", "pageSize": "5"}
    _, content = await _fetch(client, url, fields, 4 * MIB)
    try:
        results = [dict(result) for result in json.loads(content)["resultList"]["result"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        remedy = "Check the address of the service (base URL)."
        raise PaperError(url, "answered with no search result", remedy) from error
    if not results:
        remedy = "Check the number, or give the paper as a file."
        raise PaperError(paper.name, "is not known to Europe PMC", remedy)
    ids = [str(result.get("pmcid", "")) for result in results]
    pmc = next((pmc for pmc in ids if re.fullmatch(r"PMC\d{1,9}", pmc)), None)
    if pmc is None:
        raise _closed_access_error(paper)
    return pmc


async def _fetch(
    client: httpx.AsyncClient, url: str, query: dict[str, str], max_bytes: int
) -> tuple[int, bytes]:
    """Status (200 or 404) and body of an address, within a bound of size."""
    content = bytearray()
    async with client.stream("GET", url, params=query or None) as response:
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > max_bytes:
                remedy = "Give the paper as a file."
                raise PaperError(url, f"sends more than {max_bytes / MIB:,.0f} MiB", remedy)
        if response.status_code not in (200, 404):
            problem = f"answered with status {response.status_code}"
            raise PaperError(url, problem, "Try again later, or give the paper as a file.")
        return response.status_code, bytes(content)


def _closed_access_error(paper: Reference) -> PaperError:
    remedy = "If you have the paper, give it as a file (PDF, DOCX, text) or paste its text."
    return PaperError(paper.name, "has no open full text at Europe PMC", remedy)
