"""What calls may cost and when they may begin: prices, caps, and turns that keep within caps and limits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from anyio import current_time, move_on_after

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError
from evidencebench_core.words import dollars

if TYPE_CHECKING:
    from evidencebench_core.llm.answers import Answer, Call

_PAUSE: Final = 2.0  # seconds, where a busy server does not say how long
_PATIENCE: Final = 600.0  # seconds with a server that is too busy to answer any call


@cache
def _rates(model: str, batch: bool) -> tuple[float, float] | None:
    """Dollars for a token of the prompt and for one of the answer; ``None`` if not known."""
    from genai_prices import Usage, calc_price

    thousand = Usage(input_tokens=1_000, output_tokens=1_000)  # below the steps that some prices have
    context: Any = {"processing": "batch"} if batch else None
    for provider in (None, "openai"):  # the second knows embedding models
        with suppress(LookupError):
            price = calc_price(thousand, model, provider_id=provider, price_context=context)
            return float(price.input_price) / 1_000, float(price.output_price or 0) / 1_000
    return None


def price_of(model: str, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float | None:
    """Dollars, by the genai-prices package, for a single call or one in a batch; ``None`` if not known."""
    rates = _rates(model, batch)
    return None if rates is None else prompt_tokens * rates[0] + completion_tokens * rates[1]


def price_source() -> str:
    """The package with the prices, and its version."""
    return f"genai-prices {version('genai-prices')}"


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls, made or estimated."""

    calls: int = 0  # answered by the server, and so paid for
    cached: int = 0  # answered from the store
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = 0.0  # dollars; None once a paid call's model has no known price

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def plus(self, other: Spending, times: float = 1.0) -> Spending:
        """The sum of this and so many ``times`` the other."""
        return Spending(
            self.calls + round(times * other.calls),
            self.cached + round(times * other.cached),
            self.prompt_tokens + round(times * other.prompt_tokens),
            self.completion_tokens + round(times * other.completion_tokens),
            None if self.money is None or other.money is None else self.money + times * other.money,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Spending):
    """The expected cost, with the range in which it should lie."""

    low: Spending = field(default_factory=Spending)
    high: Spending = field(default_factory=Spending)
    rests_on: Mapping[str, int] = field(default_factory=dict)  # numbers of answers and guesses

    def range_text(self) -> str:
        """``"690,000 to 770,000 tokens, $0.90 to $1.57 (from 31 answers with these settings, 9 guesses)"``."""
        tokens = f"{self.low.tokens:,} to {self.high.tokens:,} tokens"
        money = dollars(self.money)
        if self.money is not None and self.low.money != self.high.money:
            money = f"{dollars(self.low.money)} to {dollars(self.high.money)}"
        basis = (f"{n:,} {kind}" for kind, n in self.rests_on.items())
        return f"{tokens}, {money} (from {', '.join(basis)})"


def call_cost(model: str, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> Spending:
    """The cost of one call with these numbers of tokens."""
    money = price_of(model, prompt_tokens, completion_tokens, batch)
    return Spending(1, 0, prompt_tokens, completion_tokens, money)


@dataclass
class Budget:
    """Caps on a run's calls, tokens and dollars over all its starts, and what has been spent."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    spent: Spending = field(default_factory=Spending, init=False)  # by this object
    run_id: str = field(default="", init=False)
    earlier: Spending = field(default_factory=Spending, init=False)  # by earlier starts of the run

    @property
    def has_caps(self) -> bool:
        """Whether tokens or dollars are capped."""
        return self.tokens is not None or self.money is not None

    def count(self, more: Spending) -> None:
        self.spent = self.spent.plus(more)

    def problem(self, model: str, call: Spending, under_way: Spending) -> str:
        """Why a call does not fit beside those under way; ``""`` if it does."""
        held = self.spent.plus(self.earlier).plus(under_way)
        if self.calls is not None and held.calls >= self.calls:
            return f"of {self.calls:,} calls is reached"
        spent = "is reached: the run has spent"
        if self.tokens is not None and held.tokens + call.tokens > self.tokens:
            return f"of {self.tokens:,} tokens {spent} {held.tokens:,}, the next call takes at most {call.tokens:,}"
        if self.money is None:
            return ""
        if held.money is None or call.money is None:
            return f"in dollars cannot be kept: the price of {model} is not known; cap calls or tokens"
        if held.money + call.money <= self.money + 1e-12:
            return ""
        return f"of ${self.money:,.4f} {spent} ${held.money:,.4f}, the next call takes at most ${call.money:,.4f}"


class Turns:
    """Starts calls in turn, within the limits of a server and the caps of a budget; for one event loop.

    The most that a call can cost is reserved: a token for each byte of its prompt, or more where the server has counted
    more, and ``max_tokens``. One without room beside those under way waits for them. Under a cap in tokens or dollars
    calls go one by one until an answer tells how the server counts, unless they are a batch's. Where the server asks
    for patience all pause, and the number at once is halved; it rises by one for as many answers.
    """

    def __init__(self, at_once: int, budget: Budget, batch: bool = False) -> None:
        self.is_stopped = False
        self.under_way = Spending()  # at most
        self.answered_at = -math.inf  # time of the last answer, by the event loop's clock
        self.note = ""  # why calls wait, in a line for people
        self._budget, self._batch = budget, batch
        self._most_at_once = self._at_once = float(at_once)
        self._line, self._news = asyncio.Lock(), asyncio.Event()
        self._paused_until = -math.inf
        self._overhead: int | None = None  # tokens beyond a prompt's bytes, as counted; None: no answer yet
        self._longest_prompt = 0  # tokens that the server counted

    def stop(self) -> None:
        """Start no further call; those under way may finish."""
        self.is_stopped = True
        self._news.set()

    async def begin(self, call: Call) -> Spending:
        """Wait until a call may begin, and reserve the most that it can cost; `BudgetReachedError` at a cap."""
        async with self._line:
            while (wait := self._seconds_until(call)) > 0:
                self._news.clear()
                with move_on_after(wait):
                    await self._news.wait()
            most = self._most(call)
            self.under_way = self.under_way.plus(most)
            return most

    def cost(self, call: Call, answer: Answer) -> Spending:
        """The cost of an answer; also learns from it how the server counts tokens."""
        cost = call_cost(call.model, *answer.tokens(call.prompt_tokens), self._batch)
        self._overhead = max(self._overhead or 0, cost.prompt_tokens - call.most_prompt_tokens)
        self._longest_prompt = max(self._longest_prompt, cost.prompt_tokens)
        return cost

    def end(self, call: Call, most: Spending, cost: Spending) -> None:
        """Release what was reserved for a call and count its cost, which has no calls if it was not answered."""
        self.under_way = self.under_way.plus(most, -1)
        self._budget.count(cost)
        if cost.calls:
            self.answered_at = current_time()
            self._at_once = min(self._most_at_once, self._at_once + 1 / self._at_once)
        self._news.set()

    def pause(self, seconds: float, began: float) -> bool:
        """Pause as long as a busy server asks (NaN: it does not say); whether it answered in the last ten minutes."""
        now = current_time()
        if now >= self._paused_until:  # else it was sent before that pause began
            self._at_once = max(1.0, self._at_once / 2)
            self._paused_until = now + (seconds if seconds >= 0 else _PAUSE)
        elif seconds >= 0:
            self._paused_until = max(self._paused_until, now + seconds)
        return now - max(began, self.answered_at) < _PATIENCE

    def _most(self, call: Call) -> Spending:
        prompt = max(call.most_prompt_tokens + (self._overhead or 0), self._longest_prompt)
        return call_cost(call.model, prompt, call.most_answer_tokens, self._batch)

    def _seconds_until(self, call: Call) -> float:
        """The time until a call may start, as far as is known."""
        self.note = ""
        if self.is_stopped:
            raise LLMCancelledError(
                "the call", "was cancelled", "Start again: answers so far are kept.", True
            )
        most = self._most(call)
        if problem := self._budget.problem(call.model, most, Spending()):
            remedy = "Raise it and start again: stored answers cost nothing."
            raise BudgetReachedError("the cap", problem, remedy, stops_run=True)
        if (wait := self._paused_until - current_time()) > 0:
            self.note = f"waiting {math.ceil(wait)} s: the server asks for fewer calls"
            return wait
        is_alone = self._overhead is None and self._budget.has_caps and not self._batch
        most_at_once = 1 if is_alone else int(self._at_once)
        if self.under_way.calls >= most_at_once or self._budget.problem(call.model, most, self.under_way):
            return math.inf
        return 0.0
