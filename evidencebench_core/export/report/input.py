from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evidencebench_core.data.model import EvidenceSet, Focus, Instance, SentenceType
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.papers.paper import Doubt
from evidencebench_core.retrievers import Retrieval, Setting
from evidencebench_core.tasks import Task
from evidencebench_core.tasks.selection import validated_selection


@dataclass(frozen=True, slots=True)
class ReportInput:
    """One hypothesis, one paper, and what a retriever picked of it.

    Any text may hold anything: the report escapes it.

    Attributes
    ----------
    hypothesis : str
    sentences, sentence_types, sections : tuples of one length
        The paper, as `Instance` has it.
    retrieval : Retrieval
        Its selection is what the report shows, in that order.
    title, paper_id, source : str
        Of the paper; the source is a line such as a journal, an address or a file's name. Empty where unknown.
    retriever : str
        As a run's label names it.
    settings : mapping of str to Setting
    task : str
        The title of the task, ``"ER@10"``; empty where none was asked.
    focus : {"all", "results"}
        Which aspects count.
    budget : int or None
        K; ``None`` without a limit.
    evidence : EvidenceSet or None
        The gold, where there is any.
    left_out : mapping of str to int
        What of the paper was not read, such as ``{"tables": 3}``.
    notes : tuple of str
        What else a reader should know, a sentence each.
    doubts : tuple of Doubt
        Where the recovered text may be wrong.
    explanations : mapping of int to str
        Why a sentence was picked, by sentence index, where the retriever says.
    command : str
        What makes the same again, quoted for a shell.
    created_at : str
        ISO 8601.
    versions : mapping of str to str

    Raises
    ------
    SettingError
        If the three tuples differ in length.
    SelectionError
        If the selection or the ranking names a sentence that the paper does not have.
    """

    hypothesis: str
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]
    sections: tuple[str, ...]
    retrieval: Retrieval
    title: str = ""
    paper_id: str = ""
    source: str = ""
    retriever: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    task: str = ""
    focus: Focus = "all"
    budget: int | None = None
    evidence: EvidenceSet | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    explanations: Mapping[int, str] = field(default_factory=dict)
    command: str = ""
    created_at: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_sentences = len(self.sentences)
        if not n_sentences == len(self.sentence_types) == len(self.sections):
            raise SettingError(
                f"report on {shown(self.hypothesis)}",
                f"{n_sentences} sentences, {len(self.sentence_types)} types and {len(self.sections)} sections",
                "Give one of each for every sentence.",
            )
        validated_selection(self.retrieval.selection, n_sentences, "the report's selection")
        validated_selection(self.retrieval.ranking, n_sentences, "the report's ranking")

    @property
    def picks(self) -> tuple[int, ...]:
        """The selection, each sentence once."""
        return tuple(dict.fromkeys(self.retrieval.selection))

    @property
    def covers(self) -> tuple[frozenset[int], ...]:
        """The sentences that cover each aspect of the focus; nothing without gold."""
        return () if self.evidence is None else self.evidence.covers(self.focus)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of those aspects, in the same order."""
        return () if self.evidence is None else tuple(a.label for a in self.evidence.focused(self.focus))


def report_of(
    instance: Instance, retrieval: Retrieval, task: Task | None = None, **others: Any
) -> ReportInput:
    """The report on an instance; what is not said in ``others`` comes from the instance and the task.

    Parameters
    ----------
    instance : Instance
        With gold or without: an instance without aspects has none.
    retrieval : Retrieval
    task : Task, optional
    **others
        Any further field of `ReportInput`, such as ``retriever`` or ``command``.
    """
    has_gold = bool(instance.evidence.aspects)
    has_title = instance.sentence_types[:1] == ("section_name",)
    fields: dict[str, Any] = {
        "hypothesis": instance.hypothesis,
        "sentences": instance.sentences,
        "sentence_types": instance.sentence_types,
        "sections": instance.sections,
        "retrieval": retrieval,
        "title": instance.sentences[0] if has_title else "",
        "paper_id": instance.paper_id,
        "evidence": instance.evidence if has_gold else None,
    }
    if task is not None:
        fields |= {"task": task.title, "focus": task.focus}
        if task.budget != "optimal" or has_gold:
            fields["budget"] = task.budget_for(instance.evidence)
    if instance.synthetic:
        fields["notes"] = ("The paper is synthetic: it was invented, and reports nothing real.",)
    return ReportInput(**(fields | others))
