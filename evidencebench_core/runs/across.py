"""One hypothesis asked of several papers: sentences ranked within each, and the papers by their best pick."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from evidencebench_core.data import Instance
from evidencebench_core.errors import PaperError
from evidencebench_core.papers import ENDINGS, PaperKind
from evidencebench_core.retrievers import Query, Retrieval, Retriever, make_retriever, query_of
from evidencebench_core.retrievers.bm25 import Bm25
from evidencebench_core.runs.find import DEFAULT_BUDGET, ReadPaper, asker_of, paper_at
from evidencebench_core.runs.step import Step
from evidencebench_core.words import quantity

if TYPE_CHECKING:
    from evidencebench_core.llm import LLM

Measure = Literal["bm25", "cosine"]

MOST_PAPERS: Final = 100
_COSINES: Final = {"dense", "embeddings"}  # their scores are cosines: another paper beside changes none


@dataclass(frozen=True, slots=True)
class PaperPicks:
    """The picks in one paper, with scores that can be compared across papers.

    Attributes
    ----------
    key : str
        Of the paper, as it was given.
    instance : Instance
    retrieval : Retrieval
        As the retriever answers for this paper alone.
    compared : tuple of float
        One for each sentence of the selection, by `measure_of`.
    """

    key: str
    instance: Instance
    retrieval: Retrieval
    compared: tuple[float, ...]

    @property
    def best(self) -> float | None:
        """The highest of ``compared``; ``None`` without a pick."""
        return max(self.compared, default=None)


@dataclass(frozen=True, slots=True)
class FoundAcross:
    """Picks in several papers."""

    read: Mapping[str, ReadPaper]  # those that could be read, by where they are
    picks: tuple[PaperPicks, ...]  # by the same keys
    problems: tuple[str, ...]  # why others could not, a line each


def paper_files(folder: Path) -> tuple[str, ...]:
    """The files below a folder that papers are called like, by name; hidden ones are left out.

    `PaperError` where there is none, or more than can be asked at once.
    """
    found: list[Path] = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(where, name) for name in files if not name.startswith("."))
        found += (path for path in paths if path.suffix[1:].lower() in ENDINGS and path.is_file())
        if len(found) > MOST_PAPERS:
            break
    if not 0 < len(found) <= MOST_PAPERS:
        remedy = f"Name a folder with 1 to {MOST_PAPERS} papers ({', '.join(ENDINGS)})."
        raise PaperError(str(folder), f"has {f'more than {MOST_PAPERS}' if found else 0} papers", remedy)
    return tuple(str(path) for path in sorted(found))


def find_across(  # noqa: PLR0913 - the papers, the question, and how it is asked
    wheres: Sequence[str],
    hypothesis: str,
    retriever: Retriever,
    budget: int = DEFAULT_BUDGET,
    *,
    kind: PaperKind | None = None,
    base_url: str | None = None,
    llm: LLM | None = None,
    fresh: bool = False,
) -> Generator[Step, None, FoundAcross]:
    """Read several papers, then ask one question of all that can be read.

    Parameters
    ----------
    wheres : sequence of str
        Each as `find` takes one.
    hypothesis, retriever, budget, kind, base_url, llm, fresh
        As in `find`; ``budget`` is for each paper.

    Raises
    ------
    PaperError
        If no paper can be read.
    RetrieverError
    """
    read: dict[str, ReadPaper] = {}
    problems: list[str] = []
    for where in dict.fromkeys(wheres):
        try:
            read[where] = yield from paper_at(where, kind=kind, base_url=base_url)
        except PaperError as error:
            problems.append(str(error))
    if not read:
        remedy = f"The first: {problems[0]}" if problems else "Name at least one."
        raise PaperError(quantity(len(problems), "paper"), "could not be read", remedy)
    instances = {where: one.paper.instance(hypothesis) for where, one in read.items()}
    picks = yield from picks_across(instances, hypothesis, retriever, budget, asker_of(retriever, llm, fresh))
    return FoundAcross(read, picks, tuple(problems))


def measure_of(retriever: str) -> Measure:
    """The measure that compares papers: only for bm25 and for cosines are a retriever's own scores fit for that."""
    return "bm25" if retriever == "bm25" else "cosine"


def measure_text(retriever: str) -> str:
    """How papers are ordered, as a sentence."""
    if measure_of(retriever) == "bm25":
        return (
            "Papers are ordered by the BM25 score of their best pick, with words counted over the sentences of all "
            "these papers together: scores of bm25 from papers counted apart cannot be compared."
        )
    by_meaning = "Papers are ordered by how close in meaning their best pick comes to the hypothesis"
    if retriever in _COSINES:
        return f"{by_meaning} (cosine of {retriever})."
    return f"{by_meaning} (cosine of dense): scores of {retriever} from different papers cannot be compared."


def picks_across(
    papers: Mapping[str, Instance],
    hypothesis: str,
    retriever: Retriever,
    budget: int = DEFAULT_BUDGET,
    ask: Callable[[Query], Retrieval] | None = None,
) -> Generator[Step, None, tuple[PaperPicks, ...]]:
    """Ask one retriever for its picks in each of several papers, and order the papers by their best one.

    Parameters
    ----------
    papers : mapping of str to Instance
        By any key. Their own hypotheses do not count.
    hypothesis : str
    retriever : Retriever
    budget : int
        How many sentences are picked of each paper.
    ask : callable, optional
        Asks the retriever; without it, it is asked here.

    Returns
    -------
    tuple of PaperPicks
        The paper with the best pick first, equal ones in the order given; those without a pick last.

    Raises
    ------
    RetrieverError
    """
    ask = ask or asker_of(retriever)
    picked: list[tuple[str, Instance, Retrieval]] = []
    for done, (key, instance) in enumerate(papers.items()):
        yield Step(f"{retriever.name} reads the papers", done, len(papers), "papers")
        picked.append((key, instance, ask(query_of(instance, "all", budget, hypothesis))))
    yield Step("The papers are compared", len(papers), len(papers), "papers")
    compared = _pooled(picked, hypothesis, retriever) if isinstance(retriever, Bm25) else None
    found = [
        PaperPicks(
            key,
            instance,
            answer,
            compared[key] if compared else _cosines(instance, hypothesis, retriever, answer),
        )
        for key, instance, answer in picked
    ]
    return tuple(sorted(found, key=lambda one: (one.best is None, -(one.best or 0.0))))


def _pooled(
    picked: list[tuple[str, Instance, Retrieval]], hypothesis: str, retriever: Bm25
) -> dict[str, tuple[float, ...]]:
    """BM25 scores of the selections, over the sentences of all papers as one corpus."""
    scores = retriever.scores([text for _, instance, _ in picked for text in instance.sentences], hypothesis)
    compared, start = {}, 0
    for key, instance, answer in picked:
        compared[key] = tuple(scores[start + index] for index in answer.selection)
        start += len(instance.sentences)
    return compared


def _cosines(
    instance: Instance, hypothesis: str, retriever: Retriever, answer: Retrieval
) -> tuple[float, ...]:
    """Cosines of the selection: the retriever's own scores, else by dense."""
    picks = answer.selection
    if not picks or retriever.name in _COSINES:
        scores = dict(zip(answer.ranking, answer.scores, strict=False))
        return tuple(scores[index] for index in picks)
    query = Query(
        hypothesis,
        tuple(instance.sentences[index] for index in picks),
        tuple(instance.sentence_types[index] for index in picks),
        tuple(instance.sections[index] for index in picks),
        budget=len(picks),
    )
    dense = make_retriever("dense").retrieve(query)
    by_place = dict(zip(dense.ranking, dense.scores, strict=True))
    return tuple(by_place[place] for place in range(len(picks)))
