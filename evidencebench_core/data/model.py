"""A benchmark instance, once its raw form has been checked.

All of it is frozen and built of tuples, so it can be shared between threads and sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

SentenceType = Literal["section_name", "abstract", "normal_paragraph"]
Focus = Literal["all", "results"]


@dataclass(frozen=True, slots=True)
class Aspect:
    """A study aspect: something an expert wants to learn from the paper.

    Attributes
    ----------
    id : str
        As in the file, unique in the instance.
    sentence_indices : tuple of int
        0-based indices of the sentences that are a source of information for it, ascending.
    is_result : bool
        Whether it is listed as a result aspect.
    text : str or None
        What it says; the released datasets have ids only.
    label : str
        A short name for display, ``"A1"`` for the first aspect of the instance.
    """

    id: str
    sentence_indices: tuple[int, ...]
    is_result: bool
    label: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """The gold of an instance: its aspects and how many sentences suffice to cover them.

    It carries no text, so that scoring a whole dataset does not have to read the papers.

    Attributes
    ----------
    n_sentences : int
        Size of the candidate pool.
    aspects : tuple of Aspect
        In the order of the file.
    optimal : int
        The smallest number of sentences that cover all aspects.
    results_optimal : int or None
        The same for the result aspects; ``None`` where the instance has none.
    """

    n_sentences: int
    aspects: tuple[Aspect, ...]
    optimal: int
    results_optimal: int | None

    def focused(self, focus: Focus) -> tuple[Aspect, ...]:
        """The aspects a task asks for: all of them, or the result aspects (may be empty)."""
        return self.aspects if focus == "all" else tuple(a for a in self.aspects if a.is_result)

    def covers(self, focus: Focus) -> tuple[frozenset[int], ...]:
        """For every aspect of the focus the set of sentences that cover it (what metrics take)."""
        return tuple(frozenset(aspect.sentence_indices) for aspect in self.focused(focus))

    def optimal_for(self, focus: Focus) -> int | None:
        """Optimal K of the focus, or ``None`` where there is nothing to cover."""
        return self.optimal if focus == "all" else self.results_optimal


@dataclass(frozen=True, slots=True)
class StoredSelection:
    """A selection that the dataset file brings along with an evaluation object.

    ``optimal`` is ``None`` where the object has a fixed budget (10 or 5).
    """

    sentence_indices: tuple[int, ...]
    covered_aspects: tuple[str, ...]
    optimal: int | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """One hypothesis with one paper and its gold.

    Attributes
    ----------
    id, hypothesis, paper_id : str
    sentences : tuple of str
        The candidate pool, in the order of the paper; headings are candidates too.
    sentence_types : tuple of SentenceType
        Same length as ``sentences``.
    sections : tuple of str
        Same length: ``"Abstract"``, the heading a sentence stands under, or ``""`` for text
        before the first heading (spec rule 15).
    evidence : EvidenceSet
    stored : mapping of str to StoredSelection
        The file's own selections by task name (``er@optimal``, ``er@10``, ``result-er@optimal``,
        ``result-er@5``); the result tasks are absent where the file has ``null``.
    paraphrases : mapping of str to str
        Hypothesis variants that keep the meaning, by name; empty where the file has none.
    negation : str or None
        The hypothesis turned into its opposite.
    synthetic : bool
        True for instances that mark themselves as made up, such as ours in ``sample_data``.
    """

    id: str
    hypothesis: str
    paper_id: str
    sentences: tuple[str, ...]
    sentence_types: tuple[SentenceType, ...]
    sections: tuple[str, ...]
    evidence: EvidenceSet
    stored: Mapping[str, StoredSelection]
    paraphrases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    negation: str | None = None
    synthetic: bool = False

    def _repr_html_(self) -> str:
        """The paper with its gold, escaped, for notebooks."""
        from evidencebench_core.data.html import instance_html

        return instance_html(self)
