"""Sentences of any paper that bear on a hypothesis: fetch it, read it, ask a retriever, look beyond the abstract."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, TypeVar

from evidencebench_core.errors import PaperError
from evidencebench_core.papers import ENDINGS, Paper, PaperKind, read_paper
from evidencebench_core.papers.limits import DEFAULT_LIMITS
from evidencebench_core.retrievers import (
    Query,
    Retrieval,
    Retriever,
    ServedRetriever,
    make_retriever,
    query_of,
)
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.runs.step import Step

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

T = TypeVar("T")

DEFAULT_BUDGET: Final = 10
MAX_FROM_ABSTRACT: Final = 2
"""Picks from the abstract: whoever brings a paper has read it."""
CLOSE: Final = 0.5
"""Cosine of the closest pick to the hypothesis, below which a paper may say nothing on it: on train 99% of the papers
lie above it for their own hypothesis, and 7% for that of another paper."""
MAX_PAPERS: Final = 100
_COSINES: Final = frozenset({"dense", "embeddings"})
_PATIENCE: Final = 0.05  # seconds after which the caller has its say again


def default_retriever() -> str:
    """The evidence-ranker where one is trained, else hybrid, which finds most beyond the abstract (ER@10 on train:
    hybrid 41.3, dense 41.0, bm25 39.3, structure 34.2, with at most two picks from the abstract)."""
    from evidencebench_core.retrievers.ranker.model_file import default_retriever as trained_or_structure

    name = trained_or_structure()
    return "hybrid" if name == "structure" else name


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper, and a line on where it came from."""

    paper: Paper
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Picked sentences that stand together, and what stands between them."""

    sentences: tuple[int, ...]  # in the order of the paper
    picks: tuple[int, ...]  # of these the picked ones
    rank: int  # of the best pick, from 1


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences of a paper that were picked for a hypothesis."""

    read: ReadPaper
    hypothesis: str
    retriever: Retriever
    retrieval: Retrieval
    picks: tuple[int, ...]  # best first
    best: float | None  # cosine of the closest pick to the hypothesis

    @property
    def is_close(self) -> bool:
        """Whether some sentence comes close; if not, the paper may say nothing on the hypothesis."""
        return self.best is not None and self.best >= CLOSE

    @property
    def passages(self) -> tuple[Passage, ...]:
        return passages_of(self.read.paper, self.picks)


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
    abstract_too: bool = False,
) -> Generator[Step, None, Findings]:
    """Read a paper, fetching it if need be, then pick sentences.

    ``where`` is a file, or, where there is none of that name, a PMC id, PubMed id or DOI, fetched from Europe PMC (at
    ``base_url``); with ``content``, the paper itself, its name alone. `PaperError` or `RetrieverError` where that
    cannot be done.
    """
    read = yield from paper_at(where, content=content, kind=kind, base_url=base_url)
    yield Step(f"{retriever.name} reads the paper")
    ask = asker_of(retriever, llm)
    return findings_in(read, hypothesis, retriever, budget, ask, abstract_too=abstract_too)


def findings_in(
    read: ReadPaper,
    hypothesis: str,
    retriever: Retriever,
    budget: int = DEFAULT_BUDGET,
    ask: Callable[[Query], Retrieval] | None = None,
    *,
    abstract_too: bool = False,
) -> Findings:
    """The picks of a retriever in a paper that was read."""
    query = query_of(read.paper.instance(hypothesis), "all", asked_budget(read.paper, budget, abstract_too))
    retrieval = (ask or asker_of(retriever))(query)
    picks = picks_in(read.paper, retrieval, budget, abstract_too=abstract_too)
    best = closest(read.paper, hypothesis, retriever.name, retrieval, picks)
    return Findings(read, hypothesis, retriever, retrieval, picks, best)


def asked_budget(paper: Paper, budget: int, abstract_too: bool = False) -> int:
    """How many sentences a retriever is asked for, so that enough are left beyond the abstract."""
    return budget if abstract_too else budget + paper.sentence_types.count("abstract")


def picks_in(
    paper: Paper, retrieval: Retrieval, budget: int, *, abstract_too: bool = False
) -> tuple[int, ...]:
    """The first picks of a retrieval, at most `MAX_FROM_ABSTRACT` of them from the abstract, and no headings."""
    picks: list[int] = []
    n_abstract = 0
    for index in dict.fromkeys((*retrieval.selection, *retrieval.ranking)):
        kind = paper.sentence_types[index]
        n_abstract += kind == "abstract"
        if kind != "section_name" and (abstract_too or kind != "abstract" or n_abstract <= MAX_FROM_ABSTRACT):
            picks.append(index)
        if len(picks) == budget:
            break
    return tuple(picks)


def passages_of(paper: Paper, picks: Sequence[int]) -> tuple[Passage, ...]:
    """Picks that stand together in a section, or around one sentence, as one passage; the best first."""
    passages: list[list[int]] = []
    for index in sorted(picks):
        last = passages[-1][-1] if passages else -9
        if index - last <= 2 and paper.sections[index] == paper.sections[last]:
            passages[-1].append(index)
        else:
            passages.append([index])
    rank = {index: place for place, index in enumerate(picks, start=1)}
    found = [
        Passage(tuple(range(group[0], group[-1] + 1)), tuple(group), min(rank[index] for index in group))
        for group in passages
    ]
    return tuple(sorted(found, key=lambda passage: passage.rank))


def closest(
    paper: Paper, hypothesis: str, name: str, retrieval: Retrieval, picks: Sequence[int]
) -> float | None:
    """The highest cosine of a pick and the hypothesis: by the retriever's own scores, else by dense."""
    if not picks:
        return None
    if name in _COSINES:
        scores = dict(zip(retrieval.ranking, retrieval.scores, strict=False))
        return max(scores.get(index, 0.0) for index in picks)
    texts = tuple(paper.sentences[index] for index in picks)
    types = tuple(paper.sentence_types[index] for index in picks)
    query = Query(hypothesis, texts, types, tuple(paper.sections[index] for index in picks), budget=1)
    return make_retriever("dense").retrieve(query).scores[0]


def asker_of(retriever: Retriever, llm: LLM | None = None) -> Callable[[Query], Retrieval]:
    """The call that asks a retriever: through a language model's server where it needs one, else here."""
    if llm is None or not isinstance(retriever, ServedRetriever):
        return timed(retriever.retrieve)
    from evidencebench_core.llm import answer_of

    return lambda query: answer_of(llm, lambda asking: retriever.answer(asking, query))


# -- papers -----------------------------------------------------------------------------------------


def paper_at(
    where: str, *, content: bytes | None = None, kind: PaperKind | None = None, base_url: str | None = None
) -> Generator[Step, None, ReadPaper]:
    """Read a paper from where `find` may find one."""
    path = Path(where)
    if content is not None:
        read = yield from read_content(content, where, kind)
        return replace(read, source=f"read from {where}")
    if not path.exists() and _is_reference(where):
        return (yield from fetch_paper(where, base_url, kind))
    return (yield from read_content(_file_content(path), path.name, kind))


def paper_files(folder: Path) -> tuple[str, ...]:
    """The files below a folder that papers are called like, by name; hidden ones are left out."""
    paths: list[Path] = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        here = (Path(where, name) for name in files if not name.startswith("."))
        paths += (path for path in here if path.suffix[1:].lower() in ENDINGS and path.is_file())
        if len(paths) > MAX_PAPERS:
            break
    if not 0 < len(paths) <= MAX_PAPERS:
        problem = f"has {f'more than {MAX_PAPERS}' if paths else 'no'} papers"
        raise PaperError(
            str(folder), problem, f"Name a folder with 1 to {MAX_PAPERS} ({', '.join(ENDINGS)})."
        )
    return tuple(str(path) for path in sorted(paths))


def papers_at(
    wheres: Iterable[str], kind: PaperKind | None = None, base_url: str | None = None
) -> Generator[Step, None, tuple[dict[str, ReadPaper], list[str]]]:
    """Several papers (a folder stands for its files) by where they are, and why others could not be read."""
    read: dict[str, ReadPaper] = {}
    problems: list[str] = []
    files = [
        file for where in wheres for file in (paper_files(Path(where)) if Path(where).is_dir() else (where,))
    ]
    for where in dict.fromkeys(files):
        try:
            read[where] = yield from paper_at(where, kind=kind, base_url=base_url)
        except PaperError as error:
            if len(files) == 1:
                raise
            problems.append(str(error))
    if not read:
        raise PaperError("the papers", f"could not be read: {problems[0]}", "Name others.")
    return read, problems


def read_content(
    content: bytes, name: str, kind: PaperKind | None = None
) -> Generator[Step, None, ReadPaper]:
    """Read a paper in the child, which is killed when the generator is closed."""
    doing = [f"Reading {name}"]
    paper = yield from _in_thread(
        lambda: doing[-1], lambda check: read_paper(content, name, kind, DEFAULT_LIMITS, check, doing.append)
    )
    return ReadPaper(paper, name, name)


def fetch_paper(
    reference: str, base_url: str | None = None, kind: PaperKind | None = None
) -> Generator[Step, None, ReadPaper]:
    """Fetch a paper from Europe PMC by a PMC id, PubMed id or DOI, and read it."""
    from evidencebench_core.papers.europe_pmc import fetched_paper

    fetched = yield from _in_thread(lambda: "Asking Europe PMC", lambda _: fetched_paper(reference, base_url))
    read = yield from read_content(fetched.content, fetched.name, kind)
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
        raise PaperError(str(path), problem, "Give a file, - for standard input, or an id like PMC2785062.")
    try:
        with path.open("rb") as stream:
            content = stream.read(DEFAULT_LIMITS.max_bytes + 1)
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise PaperError(str(path), problem, "Name a file that can be read.") from error
    DEFAULT_LIMITS.check_size(len(content), str(path))
    return content
