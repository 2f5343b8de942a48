"""The cost of calls before they are made: a range, and what it rests on."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

from evidencebench_core.data.primitives import canonical_text
from evidencebench_core.data.store import Store
from evidencebench_core.llm.answers import answers_like
from evidencebench_core.llm.budget import UNLIMITED_ANSWER, Spending, answer_guess, price_of
from evidencebench_core.llm.transport import Call
from evidencebench_core.words import dollars

_FEWEST: Final = 3  # answers that say more than a guess
_GUESS: Final = "a guess"
_PROMPTS: Final = (0.75, 1.0, 1.5)  # guessed, as multiples of our estimate
_SHORT_ANSWER: Final = 100  # tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Spending):
    """The expected cost, with the range in which it should end."""

    low: Spending = field(default_factory=Spending)
    high: Spending = field(default_factory=Spending)
    rests_on: Mapping[str, int] = field(
        default_factory=dict
    )  # numbers of answers by kind, or of calls guessed
    is_open: bool = False  # whether a request sets no max_tokens

    def range_text(self) -> str:
        """``"690,000 to 770,000 tokens, $0.90 to $1.57 (31 answers with these settings, else a guess)"``."""
        tokens = f"{self.low.tokens:,} to {self.high.tokens:,} tokens"
        money = dollars(self.money)
        if self.money is not None and self.low.money != self.high.money:
            money = f"{dollars(self.low.money)} to {dollars(self.high.money)}"
        parts = [f"{n:,} {kind}" for kind, n in self.rests_on.items() if kind != _GUESS]
        if _GUESS in self.rests_on:
            parts.append(f"else {_GUESS}" if parts else _GUESS)
        return f"{tokens}, {money} ({', '.join(parts)})"

    def __add__(self, other: Forecast) -> Forecast:
        """Of both together."""
        return Forecast(
            **asdict(self.plus(other)),
            low=self.low.plus(other.low),
            high=self.high.plus(other.high),
            rests_on=dict(Counter(self.rests_on) + Counter(other.rests_on)),
            is_open=self.is_open or other.is_open,
        )


def forecast(
    store: Store | None, calls: Iterable[Call], n_stored: int, times: float, batch: bool
) -> Forecast:
    """The cost of calls, each made so many ``times``, one by one or by a ``batch``.

    It rests on stored answers to their prompts, best with the same settings; where there are few it is a guess.
    """
    groups = defaultdict[str, list[Call]](list)
    for call in calls:
        groups[canonical_text([call.model, call.prompt, call.parameters])].append(call)
    whole = Forecast(cached=round(times * n_stored))
    for group in groups.values():
        whole += _of_group(store, group, times, batch)
    return whole


def _of_group(store: Store | None, calls: list[Call], times: float, batch: bool) -> Forecast:
    """The cost of calls with the same model, prompt and settings."""
    call, n = calls[0], times * len(calls)
    most = UNLIMITED_ANSWER if call.max_tokens is None else call.max_tokens
    is_same, pairs = answers_like(store, call) if store is not None and call.prompt else (False, [])
    if len(pairs) < _FEWEST:
        prompts: tuple[float, ...] = _PROMPTS
        answers: tuple[float, ...] = (min(_SHORT_ANSWER, most), answer_guess(most), most)
        rests_on = {_GUESS: round(n)}
    else:
        prompts = (statistics.mean(ratio for ratio, _ in pairs),) * 3
        lengths = [length for _, length in pairs]
        mean = statistics.mean(lengths)
        # of the mean of n answers beside that of those stored; four where few say little about their spread
        n_errors = 2 if len(pairs) >= 10 else 4
        margin = n_errors * statistics.stdev(lengths) * math.sqrt(1 / n + 1 / len(pairs))
        answers = (max(0.0, mean - margin), mean, min(most, mean + margin))
        rests_on = {f"answers {'with these settings' if is_same else 'to the same prompts'}": len(pairs)}
    n_prompt = times * sum(call.prompt_tokens for call in calls)
    costs = []
    for ratio, length in zip(prompts, answers, strict=True):
        tokens = round(n_prompt * ratio), round(n * length)
        costs.append(Spending(round(n), 0, *tokens, price_of(call.model, *tokens, batch)))
    is_open = call.max_tokens is None
    return Forecast(**asdict(costs[1]), low=costs[0], high=costs[2], rests_on=rests_on, is_open=is_open)
