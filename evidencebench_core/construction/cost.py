"""What alignment takes, from formulas: calls, tokens, dollars (construction rules 33, 34, 58, 64 to 66)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from math import ceil
from typing import Any, Final

from evidencebench_core.construction.state import STAGES, BuildState, Stage
from evidencebench_core.construction.windows import LENGTH, STRIDE
from evidencebench_core.llm.request import estimated_tokens

CALLS_BEFORE: Final = {"review": 7, "summary": 3}
"""Calls of the stages around alignment: from a review, or with summary and hypothesis given."""

_PAPERS_OF_TABLE_8: Final = 50  # aspects that people judged, one in each of 50 papers
_PAIRS_OF_TABLE_8: Final = 8_111
_HALF_WIDTH_OF_TABLE_8: Final = 10.05  # points of kappa, hierarchical: 10.1 among people

_SENTENCES: Final = 168  # of a paper that was not read yet: the benchmark's mean
_ASPECTS: Final = 9.5  # of a summary that was not decomposed yet


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


@dataclass(frozen=True, slots=True)
class StageCost:
    """What a stage still takes, if nothing is dropped before it: an upper bound."""

    builds: float = 0
    calls: float = 0
    prompt_tokens: float = 0
    completion_tokens: float = 0
    stored: float = 0  # calls that are answered already
    seconds: float = 0  # that these took, each for itself

    def __add__(self, other: StageCost) -> StageCost:
        return StageCost(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def times(self, factor: float) -> StageCost:
        return StageCost(*(factor * getattr(self, one.name) for one in fields(self)))

    def as_dict(self) -> dict[str, Any]:
        return {name: round(value) for name, value in asdict(self).items()}


def stage_costs(states: Iterable[BuildState]) -> dict[Stage, StageCost]:
    """What these builds still take, by stage; without the calls that are asked again."""
    total: dict[Stage, StageCost] = {}
    for state in states:
        at = state.position
        is_open = at.status in ("due", "failed")
        for stage in STAGES:
            if stage in ("pool", "coverage") or not state.needs(stage):
                continue
            is_left = is_open and STAGES.index(stage) >= STAGES.index(at.stage)
            found = _look_cost(state, is_left) if stage == "alignment" else _call_cost(state, stage, is_left)
            total[stage] = total.get(stage, StageCost()) + found
    return total


def _call_cost(state: BuildState, stage: Stage, is_left: bool) -> StageCost:
    if stage in state.results:
        return StageCost(stored=1, seconds=float(state.results[stage].get("seconds") or 0))
    if not is_left:
        return StageCost()
    sizes, given = Sizes(), estimated_tokens(state.summary or " ".join(state.input.paragraph))
    aspects = (len(state.drafted) or _ASPECTS) * sizes.aspect
    prompt = sizes.instructions + given + (aspects if stage in ("leak", "results") else 0)
    return StageCost(1, 1, prompt, aspects if stage == "aspects" else sizes.answer)


def _look_cost(state: BuildState, is_left: bool) -> StageCost:
    said = [one for by in (state.aligned, state.second) for of in by.values() for one in of.values()]
    stored = StageCost(stored=len(said), seconds=sum(float(one.get("seconds") or 0) for one in said))
    if not is_left:
        return stored
    n_sentences = len(state.pool.sentences) if state.pool else _SENTENCES
    aspects = state.aspects
    n_aspects = len(aspects) or _ASPECTS
    models = 2 if state.settings.second_model else 1
    every = models * n_aspects * len(state.settings.windows(n_sentences))
    texts = " ".join(state.pool.sentences) if state.pool else ""
    sizes = Sizes(
        summary=estimated_tokens(state.context) or Sizes().summary,
        aspect=estimated_tokens(" ".join(one.text for one in aspects)) / n_aspects or Sizes().aspect,
        sentence=estimated_tokens(texts) / n_sentences or Sizes().sentence,
    )
    share = max(0.0, 1 - len(said) / every)
    cost = alignment_cost(n_sentences, n_aspects, sizes)
    tokens = (every * share / cost.calls * one for one in (cost.prompt_tokens, cost.completion_tokens))
    return stored + StageCost(1, every * share, *tokens)
