"""Open-access papers from Europe PMC, by PMC id, PMID or DOI: the only network code of this room."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from evidencebench_core.errors import PaperError, shown
from evidencebench_core.papers.limits import DEFAULT_LIMITS, MIB, Limits

if TYPE_CHECKING:
    import httpx

__all__ = ["FetchedPaper", "Reference", "fetched_paper", "reference_of"]

_ADDRESS: Final = "https://www.ebi.ac.uk/europepmc/webservices/rest"
_TIMEOUT: Final = 20.0  # seconds without a byte
_PATIENCE: Final = 120.0  # seconds for one answer in all, however slowly it trickles
_REDIRECTS: Final = 5
_LONGEST_SEARCH: Final = 4 * MIB
_PMC: Final = re.compile(r"(?:pmc(?:id)?\s*:?\s*)?pmc\s*(\d{1,9})(?:\.\d+)?", re.IGNORECASE)
_PMID: Final = re.compile(r"(?:pmid\s*:?\s*|pubmed[_:]\s*)?(\d{1,9})", re.IGNORECASE)
_DOI: Final = re.compile(
    r"(?:doi\s*:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/[^\s\"]{1,300})", re.IGNORECASE
)
_URL_PMC: Final = re.compile(
    r"https?://\S{1,100}/(?:articles?/)?(?:PMC/)?(PMC\d{1,9})(?:[/?#]\S*)?", re.IGNORECASE
)
_URL_PMID: Final = re.compile(r"https?://pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})/?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """What names a paper: ``PMC123``, a PubMed id or a DOI."""

    kind: Literal["pmc", "pmid", "doi"]
    value: str

    def __str__(self) -> str:
        return (
            self.value if self.kind == "pmc" else f"{'PMID' if self.kind == 'pmid' else 'DOI'} {self.value}"
        )

    @property
    def query(self) -> str:
        """As Europe PMC's search takes it."""
        if self.kind == "pmc":
            return f"PMCID:{self.value}"
        return f"EXT_ID:{self.value} AND SRC:MED" if self.kind == "pmid" else f'DOI:"{self.value}"'


@dataclass(frozen=True, slots=True)
class FetchedPaper:
    """A paper's JATS XML, and where it came from.

    Attributes
    ----------
    content : bytes
        For `read_paper_apart`.
    name : str
        ``"PMC123.xml"``.
    title : str
        As the search says it; may be empty.
    source : str
        The address it was read from.
    """

    content: bytes
    name: str
    title: str
    source: str


def reference_of(text: str) -> Reference:
    """The reference that a reader typed or pasted, addresses of PMC, PubMed and doi.org included.

    Raises
    ------
    PaperError
        If it is none.
    """
    typed = text.strip().rstrip(".,;")
    if found := _PMC.fullmatch(typed) or _URL_PMC.fullmatch(typed):
        return Reference("pmc", f"PMC{found[1].upper().removeprefix('PMC')}")
    if found := _DOI.fullmatch(typed):
        return Reference("doi", found[1])
    if found := _PMID.fullmatch(typed) or _URL_PMID.fullmatch(typed):
        return Reference("pmid", found[1])
    raise PaperError(
        shown(text), "is no PMC id, PubMed id or DOI", "Write it like PMC2785062, 19908335 or 10.1000/xyz123."
    )


def fetched_paper(
    reference: str, base_url: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> FetchedPaper:
    """The full text of an open-access paper.

    Parameters
    ----------
    reference : str
        PMC id, PubMed id or DOI, in any usual way of writing.
    base_url : str, optional
        Of the REST service; else ``EVIDENCEBENCH_EUROPE_PMC``, else Europe PMC itself.
    limits : Limits
        ``max_bytes`` is kept while reading.

    Raises
    ------
    PaperError
        If there is no such paper, it has no open full text, the server cannot be reached or sends something else.
    """
    import httpx

    wanted = reference_of(reference)
    base = (base_url or os.environ.get("EVIDENCEBENCH_EUROPE_PMC") or _ADDRESS).rstrip("/")
    try:
        with httpx.Client(timeout=_TIMEOUT, follow_redirects=False) as client:
            pmc, title = _found(client, base, wanted)
            url = f"{base}/{pmc}/fullTextXML"
            status, content = _received(client, url, {}, limits.max_bytes)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise PaperError(
            base,
            f"cannot be reached ({shown(str(error) or type(error).__name__, 120)})",
            "Check the network, or give the paper as a file.",
        ) from error
    if status == 404:
        raise _closed(wanted)
    if status != 200:
        raise _refused(url, status)
    if not content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") or re.match(
        rb"(?is)\s*(?:<!doctype\s+html|<html)", content[:500]
    ):
        raise PaperError(
            url, "sent no article, but a web page or something else", "Check the address, try again."
        )
    return FetchedPaper(content, f"{pmc}.xml", title, url)


def _found(client: httpx.Client, base: str, wanted: Reference) -> tuple[str, str]:
    """PMC id and title of the paper."""
    url = f"{base}/search"
    query = {"query": wanted.query, "format": "json", "resultType": "lite", "pageSize": "5"}
    status, content = _received(client, url, query, _LONGEST_SEARCH)
    if status != 200:
        raise _refused(url, status)
    try:
        answer: Any = json.loads(content)
        results = answer["resultList"]["result"]
        papers = [result for result in results if isinstance(result, dict)]
    except (ValueError, KeyError, TypeError, RecursionError) as broken:
        raise PaperError(
            url,
            "answered something else than a search result",
            "Check the address of the service (base URL).",
        ) from broken
    if not papers:
        raise PaperError(
            str(wanted), "is not known to Europe PMC", "Check the number, or give the paper as a file."
        )
    for paper in papers:
        pmc = str(paper.get("pmcid") or "")
        if re.fullmatch(r"PMC\d{1,9}", pmc):
            return pmc, str(paper.get("title") or "")
    raise _closed(wanted)


def _received(client: httpx.Client, url: str, query: dict[str, str], most: int) -> tuple[int, bytes]:
    """Status and body of an address, redirects followed within the same host or to https."""
    request = client.build_request("GET", url, params=query or None)
    for _ in range(_REDIRECTS):
        with _streamed(client, request) as response:
            if response.next_request is None:
                return response.status_code, _body(response, most)
            target: httpx.Request = response.next_request
        same_host = (target.url.host, target.url.port) == (request.url.host, request.url.port)
        if target.url.scheme != "https" and not (same_host and target.url.scheme == request.url.scheme):
            raise PaperError(
                str(request.url),
                f"sends us on to {shown(str(target.url))}",
                "That is not followed: only https is.",
            )
        request = target
    raise PaperError(url, "sends us on and on", "Check the address of the service (base URL).")


def _streamed(client: httpx.Client, request: httpx.Request) -> _Closing:
    return _Closing(client.send(request, stream=True))


class _Closing:
    """A response that is closed at the end of a ``with``."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response

    def __enter__(self) -> httpx.Response:
        return self.response

    def __exit__(self, *_: object) -> None:
        self.response.close()


def _body(response: httpx.Response, most: int) -> bytes:
    pieces: list[bytes] = []
    size, started = 0, time.monotonic()
    for piece in response.iter_bytes(64 * 1024):
        size += len(piece)
        if size > most:
            raise PaperError(
                str(response.url), f"sends more than {most / MIB:,.0f} MiB", "Give the paper as a file."
            )
        if time.monotonic() - started > _PATIENCE:
            raise PaperError(
                str(response.url), f"takes longer than {_PATIENCE:.0f} seconds", "Try again later."
            )
        pieces.append(piece)
    return b"".join(pieces)


def _closed(wanted: Reference) -> PaperError:
    return PaperError(
        str(wanted),
        "has no open full text at Europe PMC",
        "If you have the paper, give it as a file (PDF, DOCX, text) or paste its text.",
    )


def _refused(url: str, status: int) -> PaperError:
    return PaperError(url, f"answered with status {status}", "Try again later, or give the paper as a file.")
