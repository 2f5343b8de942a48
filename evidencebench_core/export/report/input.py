from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evidencebench_core.data.model import Aspect, Instance
from evidencebench_core.papers.paper import Doubt
from evidencebench_core.retrievers import Retrieval, Setting
from evidencebench_core.tasks import Task
from evidencebench_core.tasks.selection import validated_selection


@dataclass(frozen=True, slots=True)
class ReportInput:
    """One hypothesis, one paper, and what a retriever picked of it.

    Any text may hold anything: the report escapes it. `SelectionError` if the selection or the ranking names
    a sentence that the paper does not have.

    Attributes
    ----------
    instance : Instance
        Without aspects it has no gold.
    retrieval : Retrieval
        Its selection is what the report shows, in that order.
    task : Task or None
        Says which aspects count, and the budget.
    budget : int or None
        Where there is no task: K, or ``None`` without a limit.
    title : str or None
        Of the paper; ``None`` for the heading with which it begins.
    source : str
        A line such as a journal, an address or a file's name.
    retriever : str
        As a run's label names it.
    settings : mapping of str to Setting
    left_out : mapping of str to int
        What of the paper was not read, such as ``{"tables": 3}``.
    notes : tuple of str
        What else a reader should know, a sentence each.
    doubts : tuple of Doubt
        Where the recovered text may be wrong.
    pages : mapping of int to int
        The page of a sentence, of a paper read from a PDF.
    explanations : mapping of int to str
        Why a sentence was picked, by sentence index, where the retriever says.
    verdicts : mapping of int to str
        What a model says of a picked sentence, in words.
    judge : str
        The model.
    command : str
        What makes the same again, quoted for a shell.
    created_at : str
        ISO 8601.
    versions : mapping of str to str
    """

    instance: Instance
    retrieval: Retrieval
    task: Task | None = None
    budget: int | None = None
    title: str | None = None
    source: str = ""
    retriever: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    pages: Mapping[int, int] = field(default_factory=dict)
    explanations: Mapping[int, str] = field(default_factory=dict)
    verdicts: Mapping[int, str] = field(default_factory=dict)
    judge: str = ""
    command: str = ""
    created_at: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_sentences = len(self.instance.sentences)
        validated_selection(self.retrieval.selection, n_sentences, "the report's selection")
        validated_selection(self.retrieval.ranking, n_sentences, "the report's ranking")

    @property
    def picks(self) -> tuple[int, ...]:
        """The selection, each sentence once."""
        return tuple(dict.fromkeys(self.retrieval.selection))

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """Those that count; none without gold."""
        return self.instance.evidence.focused("all" if self.task is None else self.task.focus)

    @property
    def covers(self) -> tuple[frozenset[int], ...]:
        """The sentences that cover each of them."""
        return tuple(frozenset(aspect.sentence_indices) for aspect in self.aspects)
