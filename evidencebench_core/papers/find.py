"""Sentences of any paper that bear on a hypothesis: fetch it, read it, ask a retriever, look beyond the abstract."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import file_content, vocabulary
from evidencebench_core.data.model import Focus
from evidencebench_core.data.sections import section_classes
from evidencebench_core.errors import EvidenceBenchError, PaperError
from evidencebench_core.llm import LLM, answer_of
from evidencebench_core.papers import ENDINGS, MAX_BYTES, Float, Paper, read_paper
from evidencebench_core.papers.europe_pmc import fetched_paper, reference_of
from evidencebench_core.retrievers import Query, Retrieval, Retriever, ServedRetriever, query_of
from evidencebench_core.retrievers.dense import cosines
from evidencebench_core.retrievers.encoding import MINILM, Encoder

DEFAULT_RETRIEVER: Final = "evidence-ranker"
DEFAULT_BUDGET: Final = 10
MAX_FROM_ABSTRACT: Final = 3
"""Picks from the abstract, which stand as a group of their own; the others are from the body."""
CLOSE: Final = 0.5
"""Cosine of the closest pick to the hypothesis, below which a paper may say nothing on it: on train 99% of the papers
lie above it for their own hypothesis, and 7% for that of another paper."""
MAX_PAPERS: Final = 100
_LABEL: Final = 3  # words of a sentence of an abstract that is no more than a label: "Methods"
_OPENING: Final = 0.4  # of an abstract: aims and methods, before the results
_SIGNS: Final = {name: re.compile("|".join(signs)) for name, signs in vocabulary("findings.toml").items()}
_REGISTRATION: Final = _SIGNS["registration"]
_EARLIER_WORK: Final = _SIGNS["earlier work"]
_THIS_WORK: Final = _SIGNS["this work"]
_LEVEL: Final = _SIGNS["level"]
_POINTER: Final = re.compile(r"\b(Tab|Fig)(?:les?|ures?|s?\.)?\s*(S?\d{1,3})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """A paper, and a line on where it came from."""

    paper: Paper
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Picked sentences that stand together, and what stands between them."""

    number: int  # from 1, the same wherever the passage is shown
    sentences: tuple[int, ...]  # in the order of the paper
    picks: tuple[int, ...]  # of these the picked ones
    is_abstract: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """The sentences of a paper that were picked for a hypothesis."""

    read: ReadPaper
    hypothesis: str
    retriever: Retriever
    retrieval: Retrieval
    picks: tuple[int, ...]  # best first
    best: float | None  # cosine of the closest pick to the hypothesis; None where nothing was embedded
    stances: Mapping[int, str] = field(default_factory=dict)  # of picks: "supports", "against", "neither"
    stances_by: str = ""  # the model that was asked for them

    @property
    def is_close(self) -> bool:
        """Whether some sentence comes close, as far as is known; else the paper may say nothing on the hypothesis."""
        return bool(self.picks) and (self.best is None or self.best >= CLOSE)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Picks that stand together, or around one sentence; those of the abstract first, then by the best pick."""
        sections, types = self.read.paper.sections, self.read.paper.sentence_types
        groups: list[list[int]] = []
        for index in sorted(self.picks):
            last = groups[-1][-1] if groups else -9
            if index - last <= 2 and sections[index] == sections[last]:
                groups[-1].append(index)
            else:
                groups.append([index])
        groups.sort(key=lambda group: min(map(self.picks.index, group)))
        groups.sort(key=lambda group: types[group[0]] != "abstract")
        passages = []
        for number, group in enumerate(groups, start=1):
            sentences = tuple(range(group[0], group[-1] + 1))
            passages.append(Passage(number, sentences, tuple(group), types[group[0]] == "abstract"))
        return tuple(passages)

    @property
    def numbers(self) -> dict[int, int]:
        """The number of its passage by pick."""
        return {pick: passage.number for passage in self.passages for pick in passage.picks}


def floats_cited(paper: Paper, sentences: Iterable[int]) -> list[Float]:
    """The tables and figures of a paper that its sentences point at."""
    texts = [paper.sentences[index] for index in sentences]
    cited = {(word.lower(), number.upper()) for text in texts for word, number in _POINTER.findall(text)}
    labels = [(item, _POINTER.match(item.label)) for item in paper.floats]
    return [item for item, match in labels if match and (match[1].lower(), match[2].upper()) in cited]


def findings_in(
    read: ReadPaper,
    hypothesis: str,
    retriever: Retriever,
    budget: int = DEFAULT_BUDGET,
    *,
    focus: Focus = "results",
    llm: LLM | None = None,
) -> Findings:
    """The picks of a retriever in a paper that was read; `RetrieverError` where it has no answer."""
    paper = read.paper
    query = query_in(paper, hypothesis, budget, focus)
    if llm is None or not isinstance(retriever, ServedRetriever):
        retrieval = retriever.retrieve(query)
    else:
        served = retriever
        retrieval = answer_of(llm, lambda server: served.answer(server, query))
    picks = picks_in(paper, retrieval.ranking, budget, focus)
    # One that goes by words or places alone spares its reader the seconds that an embedding model takes to load.
    has_model = bool(retriever.basis) or retriever.asks_server
    best: float | None = None
    if picks and has_model:
        best = max(cosines(Encoder(MINILM).vectors(hypothesis, [paper.sentences[index] for index in picks])))
    return Findings(read, hypothesis, retriever, retrieval, picks, best)


def query_in(paper: Paper, hypothesis: str, budget: int, focus: Focus) -> Query:
    """The query for a retriever, for more than the budget, as most sentences of the abstract are dropped later."""
    n_asked = budget + paper.sentence_types.count("abstract")
    return query_of(paper.instance(hypothesis), focus, n_asked)


def picks_in(paper: Paper, ranking: Iterable[int], budget: int, focus: Focus = "results") -> tuple[int, ...]:
    """The first of a ranking without headings and labels; sentences on other studies come last.

    Up to `MAX_FROM_ABSTRACT` from the abstract come first (at most half of a small budget), the others are from the
    body. For results, the last statement of the abstract, its conclusion, is one of them.
    """
    types = paper.sentence_types
    behind = _background(paper, focus)
    order = sorted(ranking, key=lambda index: index in behind)
    abstract = [index for index in order if types[index] == "abstract"]
    abstract = [index for index in abstract if len(paper.sentences[index].split()) > _LABEL]
    body = [index for index in order if types[index] == "normal_paragraph"]
    first = abstract[: min(MAX_FROM_ABSTRACT, budget // 2)]
    if focus == "results" and len(first) == MAX_FROM_ABSTRACT:
        statements = [index for index in abstract if not _REGISTRATION.search(paper.sentences[index])]
        conclusion = max(statements, default=first[0])  # what the abstract ends with
        if conclusion not in first:
            first[-1] = conclusion
    return tuple([*first, *body][:budget])


def _background(paper: Paper, focus: Focus) -> set[int]:
    """Sentences on other studies: the introduction, and what cites earlier work; for results also those on methods."""
    abstract = [index for index, kind in enumerate(paper.sentence_types) if kind == "abstract"]
    behind = set(abstract[: int(_OPENING * len(abstract))]) if focus == "results" else set()
    elsewhere = {"introduction"} | ({"methods"} if focus == "results" else set())
    parts = section_classes(paper.sentences, paper.sentence_types)
    for index, (sentence, part) in enumerate(zip(paper.sentences, parts, strict=True)):
        cites = part != "results" and _EARLIER_WORK.search(sentence) and not _THIS_WORK.search(sentence)
        if part in elsewhere or cites or _LEVEL.search(sentence):
            behind.add(index)
    return behind


# -- papers -----------------------------------------------------------------------------------------


def papers_at(wheres: Iterable[str]) -> tuple[dict[str, ReadPaper], list[str]]:
    """Several papers (a folder stands for its files) by where they are, and why others could not be read."""
    papers: dict[str, ReadPaper] = {}
    problems: list[EvidenceBenchError] = []
    for where in wheres:
        for file in paper_files(Path(where)) if Path(where).is_dir() else (where,):
            try:
                papers[file] = paper_at(file)
            except EvidenceBenchError as error:
                problems.append(error)
    if not papers:
        raise problems[0]
    return papers, [str(error) for error in problems]


def paper_at(where: str) -> ReadPaper:
    """Read a file or, if there is none with that name, fetch a paper by its PMC id, PubMed id or DOI."""
    path = Path(where)
    remedy = "Give a file, or an id like PMC2785062."
    if path.exists():
        return read_content(file_content(path, MAX_BYTES, remedy), path.name)
    try:
        reference_of(where)
    except PaperError as error:
        raise PaperError(where, "is neither a file nor a PMC id, PubMed id or DOI", remedy) from error
    return fetch_paper(where)


def paper_files(folder: Path) -> tuple[str, ...]:
    """The files below a folder with the ending of a paper, sorted; without hidden ones and parts of saved pages."""
    paths = [path for path in folder.rglob("*") if path.suffix[1:].lower() in ENDINGS and path.is_file()]
    files = sorted(
        str(path)
        for path in paths
        if not any(part.startswith(".") or part.endswith("_files") for part in path.relative_to(folder).parts)
    )
    if not 0 < len(files) <= MAX_PAPERS:
        remedy = f"Name a folder with 1 to {MAX_PAPERS} ({', '.join(ENDINGS)})."
        raise PaperError(str(folder), f"has {len(files):,} papers", remedy)
    return tuple(files)


def read_content(content: bytes, name: str, check: Callable[[], None] | None = None) -> ReadPaper:
    """Read a paper in the child; ``check`` is called meanwhile, and what it raises ends the child."""
    return ReadPaper(read_paper(content, name, check=check), name, name)


def fetch_paper(reference: str, check: Callable[[], None] | None = None) -> ReadPaper:
    """Fetch a paper from Europe PMC by a PMC id, PubMed id or DOI, and read it."""
    fetched = fetched_paper(reference)
    paper = read_paper(fetched.content, fetched.name, check=check)
    return ReadPaper(paper, fetched.name, fetched.source)
