"""S6, the pool: the paper of a build, from a file, the reader's own papers or Europe PMC, with its licence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evidencebench_core.construction.funnel import DropReason
from evidencebench_core.construction.state import BuildInput, Pool
from evidencebench_core.construction.store import PaperRecord
from evidencebench_core.data.files import file_content
from evidencebench_core.data.store import Store
from evidencebench_core.errors import EvidenceBenchError, PaperError
from evidencebench_core.papers import DEFAULT_LIMITS, Paper, read_paper
from evidencebench_core.papers.europe_pmc import fetched_paper, reference_of
from evidencebench_core.papers.licence import article_licence, licence_named, strictest
from evidencebench_core.papers.own import OWN, OwnPapers


def paper_of(store: Store, source: str) -> tuple[Paper | tuple[DropReason, str], str] | str:
    """A paper by `BuildInput.paper`, with its licence; or why it cannot be had, a text where that may pass."""
    try:
        if source.startswith(OWN) and source.removeprefix(OWN).isdecimal():
            return OwnPapers(store).paper(int(source.removeprefix(OWN))), ""
        path = Path(source)
        if "\0" not in source and path.is_file():
            name, content = path.name, file_content(path, DEFAULT_LIMITS.max_bytes, "Name a paper's file.")
        else:
            try:
                reference_of(source)
            except PaperError as error:
                problem = f"{error.place} is no file, PMC id, PubMed id or DOI. {error.remedy}"
                return ("unresolvable", problem), ""
            fetched = fetched_paper(source)
            content, name = fetched.content, fetched.name
        return read_paper(content, name), _licence(content, name)
    except EvidenceBenchError as error:
        # An address is that of the service: it cannot be reached, or is busy.
        return str(error) if error.place.startswith("http") else (("no_full_text", str(error)), "")


def _licence(content: bytes, name: str) -> str:
    try:
        return article_licence(content, name)
    except PaperError:  # no JATS
        return ""


def pool_of(
    build: BuildInput, record: PaperRecord | None
) -> tuple[Pool | None, tuple[DropReason, str] | None]:
    """The pool of a build by what was read last, and why it is dropped; neither where nobody has read it yet."""
    if record is None:
        return None, None
    if record.pool is None:
        problem = f"{record.problem} With --reread it is read again."
        return None, (record.reason or "no_full_text", problem)
    said = [one for one in (licence_named(build.licence), record.pool.licence) if one]
    pool = replace(record.pool, licence=strictest(said))
    if build.review_id and build.review_id == pool.paper_id:
        return None, ("unresolvable", "The paper is the review itself.")
    if build.review_id and not pool.licence:
        problem = "The paper names no Creative Commons licence and is not in the public domain."
        return pool, ("licence", problem)
    return pool, None
