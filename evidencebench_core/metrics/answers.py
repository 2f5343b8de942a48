"""MedAESQA's metrics of one answer: labels and sets of ids only. A metric is a numerator and a denominator.

A `Share` of answers is averaged over questions; its parts are for pooling. Nothing to divide by is 0 of 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple


class Share(NamedTuple):
    """So many of so many."""

    top: float
    bottom: float

    @property
    def value(self) -> float | None:
        """0 to 1; ``None`` for 0 of 0."""
        return self.top / self.bottom if self.bottom else None


def relevance_shares(relevances: Sequence[str | None]) -> dict[str, Share]:
    """``precision`` (required), ``redundancy`` (unnecessary), ``harmfulness`` (inappropriate) of an answer's sentences.

    Parameters
    ----------
    relevances : sequence of str or None
        One a sentence; ``None`` counts in the denominator only, and so does borderline.

    Notes
    -----
    Gupta et al., Scientific Data 12:1035 (2025). Precision is BioACE's completeness too.
    """
    labels = {"precision": "required", "redundancy": "unnecessary", "harmfulness": "inappropriate"}
    return {name: Share(relevances.count(label), len(relevances)) for name, label in labels.items()}


def citation_rates(sentences: Sequence[Mapping[str, Collection[str]]]) -> dict[str, Share]:
    """``coverage``, ``support rate`` and ``contradict rate`` of an answer.

    Parameters
    ----------
    sentences : sequence of mappings
        Of each sentence its citations, each document once, and all relations that were said of it. One that is
        both supporting and contradicting is in both rates; one without a relation is in neither.

    Notes
    -----
    Coverage: sentences with at least one supporting citation / sentences. Rates: citations with any supporting
    (contradicting) excerpt / citations, distinct within a sentence and counted again in the next.
    """
    citations = [relations for sentence in sentences for relations in sentence.values()]
    covered = sum(any("supporting" in one for one in sentence.values()) for sentence in sentences)
    return {
        "coverage": Share(covered, len(sentences)),
        "support rate": Share(sum("supporting" in one for one in citations), len(citations)),
        "contradict rate": Share(sum("contradicting" in one for one in citations), len(citations)),
    }


def cluster_recall(clusters: Sequence[Collection[str]], sentences: Collection[str]) -> Share:
    """How many of a question's clusters (ten each in MedAESQA) hold one of an answer's sentences."""
    ids = frozenset(sentences)
    return Share(sum(not ids.isdisjoint(cluster) for cluster in clusters), len(clusters))


def document_shares(cited: Collection[str], relevant: Collection[str]) -> dict[str, Share]:
    """``document precision`` and ``document recall``: of the distinct documents that an answer cites."""
    both = len(set(cited) & set(relevant))
    return {
        "document precision": Share(both, len(set(cited))),
        "document recall": Share(both, len(set(relevant))),
    }
