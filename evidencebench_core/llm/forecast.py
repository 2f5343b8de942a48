"""The cost of calls before they are made: a range, and what it rests on."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from evidencebench_core.data.primitives import canonical_text
from evidencebench_core.data.store import Store
from evidencebench_core.llm.answers import answers_like
from evidencebench_core.llm.budget import UNLIMITED_ANSWER, Spending, answer_guess, price_of
from evidencebench_core.llm.transport import Call
from evidencebench_core.words import dollars

_FEWEST: int = 3  # answers that say more than a guess
_GUESSED_PROMPT = (0.75, 1.0, 1.5)  # multiples of our estimate
_SHORT_ANSWER = 100  # tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Spending):
    """The expected cost, with the range in which it should end."""

    low: Spending = field(default_factory=Spending)
    high: Spending = field(default_factory=Spending)
    rests_on: tuple[str, ...] = ()  # "96 answers with these settings"
    is_open: bool = False  # whether a request sets no max_tokens

    def range_text(self) -> str:
        """``"690,000 to 770,000 tokens, $0.90 to $1.57 (a guess)"``."""
        tokens = f"{self.low.tokens:,} to {self.high.tokens:,} tokens"
        money = dollars(self.money)
        if self.money is not None and self.low.money != self.high.money:
            money = f"{dollars(self.low.money)} to {dollars(self.high.money)}"
        return f"{tokens}, {money} ({'; '.join(self.rests_on) or 'nothing to ask'})"

    def __add__(self, other: Forecast) -> Forecast:
        """Of both together."""
        return Forecast(
            **asdict(self.plus(other)),
            low=self.low.plus(other.low),
            high=self.high.plus(other.high),
            rests_on=tuple(dict.fromkeys((*self.rests_on, *other.rests_on))),
            is_open=self.is_open or other.is_open,
        )


def forecast(
    store: Store | None, calls: Iterable[Call], n_stored: int, times: float, batch: bool
) -> Forecast:
    """The cost of calls, each made so many ``times``, from stored answers to their prompts or else by a guess.

    ``batch``: at the price of one.
    """
    groups = defaultdict[str, list[Call]](list)
    for call in calls:
        groups[canonical_text([call.model, call.prompt, call.parameters])].append(call)
    whole = Forecast(cached=round(times * n_stored))
    for group in groups.values():
        prompts, answers, reason = _tokens(store, group, times)
        model, n_calls = group[0].model, round(times * len(group))
        costs = []
        for prompt, answer in zip(map(round, prompts), map(round, answers), strict=True):
            costs.append(Spending(n_calls, 0, prompt, answer, price_of(model, prompt, answer, batch)))
        is_open = group[0].max_tokens is None
        whole += Forecast(
            **asdict(costs[1]), low=costs[0], high=costs[2], rests_on=(reason,), is_open=is_open
        )
    return whole


def _tokens(
    store: Store | None, calls: list[Call], times: float
) -> tuple[tuple[float, ...], tuple[float, ...], str]:
    """Tokens of prompts and of answers of equal calls (at least, about, at most), and what they rest on."""
    first, n = calls[0], times * len(calls)
    n_prompt = times * sum(call.prompt_tokens for call in calls)
    most = UNLIMITED_ANSWER if first.max_tokens is None else first.max_tokens
    is_same, pairs = answers_like(store, first) if store is not None and first.prompt else (False, [])
    if len(pairs) < _FEWEST:
        answers = (min(_SHORT_ANSWER, most), answer_guess(most), most)
        return (
            tuple(n_prompt * part for part in _GUESSED_PROMPT),
            tuple(n * tokens for tokens in answers),
            "a guess",
        )
    ratio = n_prompt * statistics.mean(ratio for ratio, _ in pairs)
    lengths = [length for _, length in pairs]
    mean = n * statistics.mean(lengths)
    # of a sum of n beside a mean of as many as there are; 4 where so few say little about their spread
    margin = (2 if len(pairs) >= 10 else 4) * statistics.stdev(lengths) * math.sqrt(n + n * n / len(pairs))
    reason = f"{len(pairs)} answers {'with these settings' if is_same else 'to the same prompt'}"
    return (ratio,) * 3, (max(0.0, mean - margin), mean, min(n * most, mean + margin)), reason
