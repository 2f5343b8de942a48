"""What calls may cost and how fast they may come: prices, spending, caps, limits a minute."""

from __future__ import annotations

import asyncio
import math
import re
import tomllib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError
from evidencebench_core.llm.answers import Answer

_ANSWER: Final = 800  # tokens that an answer is taken to have
_MINUTE: Final = 60.0
_LOOK: Final = 1.0  # seconds between looks whether the run was stopped
_DATE: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of prompt and of answer, as of when; ``batch``: the part of it that batches cost."""

    prompt: float
    completion: float = 0.0
    date: str = ""
    batch: float = 1.0

    def of(self, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float:
        """Dollars, asked one by one or by a batch."""
        whole = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return whole * self.batch if batch else whole


@cache
def prices() -> Mapping[str, Price]:
    """Prices by model."""
    text = Path(__file__).with_name("prices.toml").read_text("utf-8")
    return {model: Price(**row) for model, row in tomllib.loads(text)["models"].items()}


def price_of(model: str) -> Price | None:
    """A model's price; a dated version without one of its own has that of its name. ``None``: not known."""
    return prices().get(model) or prices().get(_DATE.sub("", model))


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
        """Both together, the other one so many times."""
        return Spending(
            self.calls + round(times * other.calls),
            self.cached + round(times * other.cached),
            self.prompt_tokens + round(times * other.prompt_tokens),
            self.completion_tokens + round(times * other.completion_tokens),
            None if self.money is None or other.money is None else self.money + times * other.money,
        )


def answer_guess(most: int | None) -> int:
    """About how many tokens an answer of at most ``most`` has."""
    return _ANSWER if most is None else min(_ANSWER, most)


class Budget:
    """Counts calls, tokens and money, and refuses the call that would go beyond a cap; for one event loop.

    A call under way counts with its estimate, so a cap in tokens or money can be exceeded only by the estimation
    error. ``in_batches`` says whether calls have the price of a batch.
    """

    def __init__(
        self, calls: int | None = None, tokens: int | None = None, money: float | None = None
    ) -> None:
        self.calls, self.tokens, self.money = calls, tokens, money
        self.in_batches = False
        self.spent = Spending()
        self._under_way = Spending()

    def count(self, more: Spending) -> None:
        """Count what no call was reserved for, such as answers from the store."""
        self.spent = self.spent.plus(more)

    @contextmanager
    def reserve(
        self, model: str, prompt_tokens: int, most: int | None = None
    ) -> Iterator[Callable[[Answer | None], None]]:
        """A call, made in the block, of about so many tokens and an answer of at most ``most``.

        It is spent once the function that is given has been called with the answer, or with ``None`` for a reply that
        nobody can read. `BudgetReachedError` if it would exceed a cap.
        """
        price = price_of(model)
        estimate = self._cost(price, prompt_tokens, answer_guess(most))
        self._check_caps(estimate, model)
        cost = Spending()

        def settle(answer: Answer | None) -> None:
            nonlocal cost
            cost = self._cost(price, *answer.tokens(prompt_tokens)) if answer else estimate

        self._under_way = self._under_way.plus(estimate)
        try:
            yield settle
        finally:
            self._under_way = self._under_way.plus(estimate, -1)
            self.count(cost)

    def _cost(self, price: Price | None, prompt_tokens: int, completion_tokens: int) -> Spending:
        money = price.of(prompt_tokens, completion_tokens, self.in_batches) if price else None
        return Spending(1, 0, prompt_tokens, completion_tokens, money)

    def _check_caps(self, call: Spending, model: str) -> None:
        held = self.spent.plus(self._under_way)
        if self.calls is not None and held.calls >= self.calls:
            raise _cap_error(f"{self.calls:,} calls", f"{held.calls:,}", "1")
        if self.tokens is not None and held.tokens + call.tokens > self.tokens:
            raise _cap_error(f"{self.tokens:,} tokens", f"{held.tokens:,}", f"{call.tokens:,}")
        if self.money is None:
            return
        if held.money is None or call.money is None:
            problem = f"the price of {model} is not known"
            raise BudgetReachedError("cap in money", problem, "Cap calls or tokens instead.", stops_run=True)
        if held.money + call.money > self.money + 1e-12:
            raise _cap_error(f"${self.money:,.4f}", f"${held.money:,.4f}", f"${call.money:,.4f}")


def _cap_error(cap: str, held: str, more: str) -> BudgetReachedError:
    problem = f"the cap of {cap} is reached: {held} spent or under way, the next call takes about {more}"
    remedy = "Raise the cap and start again: what is answered is kept and costs nothing."
    return BudgetReachedError("budget", problem, remedy, stops_run=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a server is asked."""

    concurrency: int = 8  # calls at once
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class Gate:
    """Lets calls begin, one after the other, when there is room for them; for one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._slots, self._turn = asyncio.Semaphore(limits.concurrency), asyncio.Lock()
        self._begun: deque[tuple[float, int]] = deque()  # calls of the last minute: when, and their tokens
        self._is_stopped = False
        self.note = ""  # why calls wait, in a line for people

    def stop(self) -> None:
        """Begin no further call: those that wait end with `LLMCancelledError`, those under way may end."""
        self._is_stopped = True

    @asynccontextmanager
    async def permit(self, tokens: int) -> AsyncIterator[None]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        async with self._slots:
            async with self._turn:
                while not self._is_stopped and (wait := self._wait(tokens)) > 0:
                    await asyncio.sleep(min(wait, _LOOK))
                self.note = ""
                if self._is_stopped:
                    remedy = "Start again: what is answered is kept."
                    raise LLMCancelledError("the call", "was cancelled", remedy, stops_run=True)
                self._begun.append((asyncio.get_running_loop().time(), tokens))
            yield

    def _wait(self, tokens: int) -> float:
        """Seconds until a call may begin, as far as is known."""
        now = asyncio.get_running_loop().time()
        while self._begun and self._begun[0][0] <= now - _MINUTE:
            self._begun.popleft()
        requests, most = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if requests and len(self._begun) >= requests:
            reason = f"{requests:,} requests"
        elif most and self._begun and sum(n for _, n in self._begun) + tokens > most:
            reason = f"{most:,} tokens"
        else:
            return 0.0
        wait = self._begun[0][0] + _MINUTE - now
        self.note = f"waiting {math.ceil(wait)} s: {reason} a minute are used up"
        return wait
