"""What alignment takes, from formulas: calls, tokens, dollars (construction rules 33, 34, 58, 64 to 66)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from evidencebench_core.construction.windows import LENGTH, STRIDE

CALLS_BEFORE: Final = {"review": 7, "summary": 3}
"""Calls of the stages around alignment: from a review, or with summary and hypothesis given."""

_PAPERS_OF_TABLE_8: Final = 50  # aspects that people judged, one in each of 50 papers
_PAIRS_OF_TABLE_8: Final = 8_111
_HALF_WIDTH_OF_TABLE_8: Final = 10.05  # points of kappa, hierarchical: 10.1 among people


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of the parts of a prompt, and of an answer; means of the train set."""

    instructions: float = 450
    summary: float = 180
    aspect: float = 25
    sentence: float = 36
    answer: float = 100


@dataclass(frozen=True, slots=True)
class Cost:
    """Of aligning one paper, or of many: they add up."""

    calls: float
    prompt_tokens: float
    completion_tokens: float
    cached_tokens: float  # prompt tokens that are read where a cache keeps what calls of a window share

    def times(self, n: float) -> Cost:
        return Cost(
            *(n * one for one in (self.calls, self.prompt_tokens, self.completion_tokens, self.cached_tokens))
        )

    def dollars(self, prompt: float, completion: float) -> float:
        """At prices of a million tokens."""
        return (self.prompt_tokens * prompt + self.completion_tokens * completion) / 1e6

    def as_dict(self) -> dict[str, Any]:
        names = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens")
        return {name: getattr(self, name) for name in names}


def alignment_cost(n_sentences: int, n_aspects: float, sizes: Sizes | None = None) -> Cost:
    """Of one paper with the windows of the paper: A·W(n) calls.

    An index takes 3 tokens. The lengths of all windows sum to 2n - min(n, 5).
    """
    of = sizes or Sizes()
    n_windows = ceil(n_sentences / STRIDE)
    shown = (2 * n_sentences - min(n_sentences, LENGTH - STRIDE)) * (of.sentence + 3)
    fixed = of.instructions + of.summary
    calls = n_aspects * n_windows
    prompt = n_aspects * (n_windows * (fixed + of.aspect) + shown)
    cached = n_windows * fixed + shown + calls * of.aspect
    return Cost(calls, prompt, calls * of.answer, cached)


def build_calls(n_sentences: int, n_aspects: float, given: str = "review") -> float:
    """Calls of a build that is not dropped, without those that are asked again."""
    return CALLS_BEFORE[given] + n_aspects * ceil(n_sentences / STRIDE)


def judgements_needed(half_width: float) -> tuple[int, int]:
    """Aspects, and pairs of aspect and sentence, that people must judge for kappa to within so many points.

    By the spread of the paper's table 8, where papers are drawn first.
    """
    n_aspects = ceil(_PAPERS_OF_TABLE_8 * (_HALF_WIDTH_OF_TABLE_8 / half_width) ** 2)
    return n_aspects, round(n_aspects * _PAIRS_OF_TABLE_8 / _PAPERS_OF_TABLE_8)
