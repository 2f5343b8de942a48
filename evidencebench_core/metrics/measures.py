"""What a selection is worth: Aspect Recall, plain and where K sentences are drawn at random, and the table of measures.

Drawing K of n sentences misses an aspect that h of them cover with probability ``C(n - h, K) / C(n, K)``. The
binomials are exact integers, and the one division at the end is correctly rounded.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

Picks = tuple[int, ...]
Covers = Sequence[frozenset[int]]


def aspect_recall(selection: Iterable[int], covers: Covers) -> float | None:
    """Share of the aspects that at least one selected sentence covers, 0 to 1.

    Aspect Recall @K of the EvidenceBench paper, section "Evaluation Metrics". Order and repetition make no
    difference; ``covers`` has one set of covering sentences per aspect. 0 for an empty selection; ``None`` without
    aspects.
    """
    if not covers:
        return None
    picked = set(selection)
    return sum(not cover.isdisjoint(picked) for cover in covers) / len(covers)


def expected_recall(selection: Iterable[int], covers: Covers, budget: int | None) -> float | None:
    """Aspect Recall of a selection under a budget (K; ``None`` for no limit).

    With no more than ``budget`` different sentences it is the plain recall. With more, it is the mean recall over
    all subsets of ``budget`` sentences of the selection, the limit of what the authors' code simulates by 100,000
    shuffles. ``None`` without aspects.
    """
    picked = frozenset(selection)
    if budget is None or len(picked) <= budget:
        return aspect_recall(picked, covers)
    return _expected_share(len(picked), [len(cover & picked) for cover in covers], budget) if covers else None


def random_expectation(n_sentences: int, covers: Covers, budget: int | None) -> float | None:
    """Expected Aspect Recall (0 to 1) of ``budget`` sentences drawn at random from the whole paper.

    ``None`` without aspects, and where the budget is ``None``: without a limit there is no number of sentences
    that a random baseline would draw.
    """
    if budget is None or not covers:
        return None
    if n_sentences <= budget:
        return sum(map(bool, covers)) / len(covers)
    return _expected_share(n_sentences, [len(cover) for cover in covers], budget)


def _expected_share(n: int, hits: Collection[int], budget: int) -> float:
    """Expected share of the aspects met by ``budget`` of ``n`` sentences, ``hits[j]`` of which cover aspect j."""
    draws = comb(n, budget)
    misses = sum(comb(n - n_hits, budget) for n_hits in hits)
    return (len(hits) * draws - misses) / (len(hits) * draws)


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of one selection; a system's is the mean over instances.

    ``function`` takes the picks (each index once), ``covers`` and the budget (``None``: no limit), and returns a number
    or, where it is undefined, ``None``. Of more picks than the budget, shares are expectations over all selections of
    ``budget`` of them. ``is_share``: from 0 to 1, shown in percent.
    """

    name: str
    title: str
    function: Callable[[Picks, Covers, int | None], float | None]
    is_share: bool

    @property
    def explanation(self) -> str:
        """What it is in a few words: the beginning of its function's docstring."""
        words = re.split(r"[.,;]", self.function.__doc__ or self.title)[0]
        return words[:1].lower() + words[1:]


def n_picks(picks: Picks, covers: Covers, budget: int | None) -> float:
    """How many sentences were picked, those beyond the budget too."""
    return float(len(picks))


def precision(picks: Picks, covers: Covers, budget: int | None) -> float | None:
    """Share of the picks that cover an aspect, in expectation that of any part of them; 0 for an empty selection.

    Precision and F1: van Rijsbergen, Information Retrieval (1979), chapter 7.
    """
    covering = frozenset[int]().union(*covers)
    return sum(pick in covering for pick in picks) / max(len(picks), 1) if covers else None


def f1(picks: Picks, covers: Covers, budget: int | None) -> float | None:
    """Harmonic mean of precision and Aspect Recall, both in expectation; 0 where both are 0."""
    shares = precision(picks, covers, budget) or 0.0, expected_recall(picks, covers, budget) or 0.0
    return 2 * shares[0] * shares[1] / (sum(shares) or 1.0) if covers else None


MEASURES: Final = (
    Measure("aspect_recall", "Aspect Recall", expected_recall, is_share=True),
    Measure("picks", "Picks", n_picks, is_share=False),
    Measure("precision", "Precision", precision, is_share=True),
    Measure("f1", "F1", f1, is_share=True),
)
"""Aspect Recall, which everything is about, comes first."""
