"""A benchmark instance, whatever file it came from; immutable, so threads and sessions can share it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson

if TYPE_CHECKING:
    import pandas as pd

SentenceType = Literal["section_name", "abstract", "normal_paragraph"]
Focus = Literal["all", "results"]

SUFFICIENT: Final = "sufficient spans"  # `construction.gold` where the gold is what people quoted
SUFFICIENT_NOTE: Final = (
    "The gold is sufficient, not complete: sentences that nobody quoted may cover an aspect too. Recall is a lower "
    "bound, and optimal K an upper one."
)


@dataclass(frozen=True, slots=True)
class Aspect:
    """A study aspect: something an expert wants to learn from the paper."""

    id: str  # as in the file, unique in the instance
    sentence_indices: tuple[int, ...]  # 0-based, of the sentences that cover it, ascending
    is_result: bool  # whether it is listed as a result aspect
    label: str  # a short name for display, "A1" for the first aspect of the instance
    text: str | None = None  # what it says; the released datasets have ids only


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """The gold of an instance, without the paper: scoring a dataset reads none."""

    n_sentences: int  # size of the candidate pool
    aspects: tuple[Aspect, ...]  # in the order of the file
    optimal: int  # the smallest number of sentences that cover all aspects
    results_optimal: int | None  # the same for the result aspects; None where there are none

    def focused(self, focus: Focus) -> tuple[Aspect, ...]:
        """The aspects a task asks for: all of them, or the result aspects."""
        return self.aspects if focus == "all" else tuple(a for a in self.aspects if a.is_result)

    def covers(self, focus: Focus) -> tuple[frozenset[int], ...]:
        """For every aspect of the focus the set of sentences that cover it (what metrics take)."""
        return tuple(frozenset(aspect.sentence_indices) for aspect in self.focused(focus))

    def optimal_for(self, focus: Focus) -> int | None:
        """Optimal K of the focus, or ``None`` where there is nothing to cover."""
        return self.optimal if focus == "all" else self.results_optimal


def evidence_set(n_sentences: int, aspects: Sequence[Aspect]) -> EvidenceSet:
    """The gold that these aspects make, with the smallest numbers of sentences that cover all and the result ones."""
    from evidencebench_core.metrics import optimal_cover

    gold = EvidenceSet(n_sentences, tuple(aspects), optimal=0, results_optimal=None)
    results_optimal = len(optimal_cover(gold.covers("results"))) if gold.focused("results") else None
    return replace(gold, optimal=len(optimal_cover(gold.covers("all"))), results_optimal=results_optimal)


@dataclass(frozen=True, slots=True)
class Instance:
    """One hypothesis with one paper and its gold."""

    id: str
    hypothesis: str
    paper_id: str
    sentences: tuple[str, ...]  # the candidate pool in the order of the paper; headings are candidates too
    sentence_types: tuple[SentenceType, ...]  # same length
    sections: tuple[str, ...]  # same length: "Abstract", the heading above, or "" before the first one
    evidence: EvidenceSet
    stored: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # the file's selections by task name
    paraphrases: Mapping[str, str] = field(default_factory=dict)  # by name
    negation: str | None = None  # the hypothesis turned into its opposite
    synthetic: bool = False  # marks itself as made up, as ours in sample_data do
    construction: Mapping[str, Any] = field(default_factory=dict)  # how it was made, and of what
    # What its file had beyond that, by key, and the order of the keys where it is not the released one's.
    kept: Mapping[str, Any] = field(default_factory=dict)
    key_order: tuple[str, ...] = ()

    def __repr__(self) -> str:
        aspects = f"{len(self.sentences)} sentences, {len(self.evidence.aspects)} aspects"
        return f"Instance({self.id!r}: {self.hypothesis[:80]!r}, {aspects})"

    def to_pandas(self) -> pd.DataFrame:
        """The paper: ``sentence``, ``section``, ``type``, ``covers`` (labels of aspects) and ``text`` of each."""
        import pandas as pd

        covers: list[list[str]] = [[] for _ in self.sentences]
        for aspect in self.evidence.aspects:
            for index in aspect.sentence_indices:
                covers[index].append(aspect.label)
        columns = {
            "section": self.sections,
            "type": self.sentence_types,
            "covers": covers,
            "text": self.sentences,
        }
        return pd.DataFrame(columns).rename_axis("sentence").reset_index()

    def _repr_html_(self) -> str:
        from evidencebench_core import show

        return show(self)._repr_html_()

    @property
    def licence(self) -> str:
        """Of its paper; empty where nothing names it."""
        licence = self.construction.get("paper_licence")
        return licence if isinstance(licence, str) else ""

    @property
    def is_sufficient(self) -> bool:
        """Whether its gold is sufficient, not complete."""
        return self.construction.get("gold") == SUFFICIENT


def paper_content(sentences: Sequence[str], sentence_types: Sequence[SentenceType]) -> bytes:
    """A paper as the store keeps it: sentences and their types, in JSON."""
    return orjson.dumps((tuple(sentences), tuple(sentence_types)))


def paper_key(sentences: Sequence[str], sentence_types: Sequence[SentenceType]) -> str:
    """SHA-256 of a paper's content, which identifies it under any id."""
    return hashlib.sha256(paper_content(sentences, sentence_types)).hexdigest()
