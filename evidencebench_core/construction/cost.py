"""The cost of alignment, from formulas: calls, tokens, dollars (construction rules 33, 34, 58, 64 to 66)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from math import ceil
from typing import Any, Final, Literal

from evidencebench_core.construction.state import STAGES, BuildState, Stage, StageResult
from evidencebench_core.construction.windows import LENGTH, STRIDE, Window
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


StageRun = Stage | Literal["second"]
_AskedAgain = Callable[[StageResult], bool]


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost that is left of a stage, if nothing is dropped before it: an upper bound."""

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


def stage_costs(
    states: Iterable[BuildState],
    *,
    only: Stage | None = None,
    until: Stage = "coverage",
    fresh: bool = False,
    retry_lost: bool = False,
) -> dict[StageRun, StageCost]:
    """The cost that is left of these builds, by stage; without the calls that are asked again.

    The options are those of `Construction.plans`. ``second`` is of the second model's looks.
    """
    total: dict[StageRun, StageCost] = {}
    last = STAGES.index(until)

    def is_asked_again(said: StageResult) -> bool:
        return fresh or (retry_lost and _is_lost(said))

    for state in states:
        at, order = state.position, STAGES.index(state.position.stage)
        is_open, again = at.status in ("due", "failed"), (fresh or retry_lost) and not state.edits.dropped
        for place, stage in enumerate(STAGES[: last + 1]):
            if stage in ("pool", "coverage") or only not in (None, stage) or not state.needs(stage):
                continue
            is_next = is_open and (place == order if only else place >= order)
            is_left = is_next or (again and place <= order)
            if stage != "alignment":
                found: dict[StageRun, StageCost] = {stage: _call_cost(state, stage, is_left, is_asked_again)}
            else:
                found = {stage: _look_cost(state, state.aligned, is_left, is_asked_again)}
                if state.settings.second_model:
                    found["second"] = _look_cost(state, state.second, is_left, is_asked_again)
            for name, cost in found.items():
                total[name] = total.get(name, StageCost()) + cost
    return total


def _is_lost(said: StageResult) -> bool:
    """Whether an answer could not be read, or was refused."""
    return bool(said.get("failed")) or said.get("outcome") == "failed"


def _call_cost(state: BuildState, stage: Stage, is_left: bool, is_asked_again: _AskedAgain) -> StageCost:
    said = state.results.get(stage)
    if said is not None and not (is_left and is_asked_again(said)):
        return StageCost(stored=1, seconds=float(said.get("seconds") or 0))
    if not is_left:
        return StageCost()
    sizes, given = Sizes(), estimated_tokens(state.summary or " ".join(state.input.paragraph))
    aspects = (len(state.drafted) or _ASPECTS) * sizes.aspect
    prompt = sizes.instructions + given + (aspects if stage in ("leak", "results") else 0)
    return StageCost(1, 1, prompt, aspects if stage == "aspects" else sizes.answer)


def _look_cost(
    state: BuildState,
    answered: Mapping[int, Mapping[Window, StageResult]],
    is_left: bool,
    is_asked_again: _AskedAgain,
) -> StageCost:
    said = [one for of in answered.values() for one in of.values() if not (is_left and is_asked_again(one))]
    stored = StageCost(stored=len(said), seconds=sum(float(one.get("seconds") or 0) for one in said))
    if not is_left:
        return stored
    n_sentences = len(state.pool.sentences) if state.pool else _SENTENCES
    aspects = state.aspects
    n_aspects = len(aspects) or _ASPECTS
    every = n_aspects * len(state.settings.windows(n_sentences))
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
