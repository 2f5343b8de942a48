"""Sentences of any paper that bear on a hypothesis: fetch it, read it, ask a retriever."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TypeVar

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import Paper, PaperKind, read_paper
from evidencebench_core.papers.limits import DEFAULT_LIMITS, Limits
from evidencebench_core.retrievers import Query, Retrieval, Retriever, ServedRetriever, query_of
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.runs.step import Step

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

T = TypeVar("T")

DEFAULT_BUDGET: Final = 10
_PATIENCE: Final = 0.05  # seconds after which the caller has its say again


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper, and a line on where it came from."""

    paper: Paper
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """The sentences that a retriever picked for a hypothesis."""

    read: ReadPaper
    retriever: Retriever
    retrieval: Retrieval


def find(  # noqa: PLR0913 - the paper, the question, and how it is asked
    where: str,
    hypothesis: str,
    retriever: Retriever,
    budget: int = DEFAULT_BUDGET,
    *,
    content: bytes | None = None,
    kind: PaperKind | None = None,
    base_url: str | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
) -> Generator[Step, None, FoundEvidence]:
    """Read a paper, fetching it if need be, then retrieve from it.

    Parameters
    ----------
    where : str
        A file, or, where there is none of that name, a PMC id, PubMed id or DOI, fetched from Europe PMC (at
        ``base_url``); with ``content``, the paper itself, its name alone.
    hypothesis : str
    retriever : Retriever
    budget : int
        How many sentences to pick.
    kind : str, optional
        What the paper is, where it cannot be told.
    llm : LLM, optional
        How a retriever that asks a server asks it; ``fresh`` even where the store has an answer.

    Raises
    ------
    PaperError
        If there is no such paper, or it cannot be read.
    RetrieverError
    """
    read = yield from paper_at(where, content=content, kind=kind, base_url=base_url)
    yield Step(f"{retriever.name} reads the paper")
    query = query_of(read.paper.instance(hypothesis), "all", budget)
    return FoundEvidence(read, retriever, asker_of(retriever, llm, fresh)(query))


def asker_of(
    retriever: Retriever, llm: LLM | None = None, fresh: bool = False
) -> Callable[[Query], Retrieval]:
    """The call that asks a retriever: through a language model's server where it needs one, else here."""
    if llm is None or not isinstance(retriever, ServedRetriever):
        return timed(retriever.retrieve)
    from evidencebench_core.llm import answer_of

    llm.fresh = fresh
    return lambda query: answer_of(llm, lambda asking: retriever.answer(asking, query))


def paper_at(
    where: str, *, content: bytes | None = None, kind: PaperKind | None = None, base_url: str | None = None
) -> Generator[Step, None, ReadPaper]:
    """Read a paper from where `find` may find one."""
    path = Path(where)
    if content is not None:
        read = yield from read_content(content, where, kind)
        return replace(read, source=f"read from {where}")
    if not path.exists() and _is_reference(where):
        return (yield from fetch_paper(where, base_url, kind=kind))
    return (yield from read_content(_file_content(path), path.name, kind))


def read_content(
    content: bytes, name: str, kind: PaperKind | None = None, limits: Limits = DEFAULT_LIMITS
) -> Generator[Step, None, ReadPaper]:
    """Read a paper in a process of its own, which is killed when the generator is closed."""
    doing = [f"Reading {name}"]
    paper = yield from _in_thread(
        lambda: doing[-1], lambda check: read_paper(content, name, kind, limits, check, doing.append)
    )
    return ReadPaper(paper, name, name)


def fetch_paper(
    reference: str,
    base_url: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    kind: PaperKind | None = None,
) -> Generator[Step, None, ReadPaper]:
    """Fetch a paper from Europe PMC by a PMC id, PubMed id or DOI, and read it."""
    from evidencebench_core.papers.europe_pmc import fetched_paper

    fetched = yield from _in_thread(
        lambda: "Asking Europe PMC", lambda _: fetched_paper(reference, base_url, limits)
    )
    read = yield from read_content(fetched.content, fetched.name, kind, limits)
    return replace(read, source=fetched.source)


def _in_thread(text: Callable[[], str], make: Callable[[Callable[[], None]], T]) -> Generator[Step, None, T]:
    """A step a few times a second while a thread makes something; closed, it does not wait for the thread.

    The maker is given a check that raises once nobody waits any more.
    """
    future, closed = Future[T](), Event()

    def check() -> None:
        if closed.is_set():
            raise InterruptedError

    def run() -> None:
        try:
            future.set_result(make(check))
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            future.set_exception(error)

    Thread(target=run, name="reading", daemon=True).start()
    try:
        while not future.done():
            yield Step(text())
            wait([future], _PATIENCE)
        return future.result()
    finally:
        closed.set()


def _is_reference(text: str) -> bool:
    from evidencebench_core.papers.europe_pmc import reference_of

    try:
        return bool(reference_of(text))
    except PaperError:
        return False


def _file_content(path: Path) -> bytes:
    if not path.is_file():
        missing = "is no file, and no PMC id, PubMed id or DOI either"
        problem = "is no regular file" if path.exists() else missing
        remedy = "Give a file, - for standard input, or an id like PMC2785062."
        raise PaperError(str(path), problem, remedy)
    try:
        with path.open("rb") as stream:
            content = stream.read(DEFAULT_LIMITS.max_bytes + 1)
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise PaperError(str(path), problem, "Name a file that can be read.") from error
    DEFAULT_LIMITS.check_size(len(content), str(path))
    return content
