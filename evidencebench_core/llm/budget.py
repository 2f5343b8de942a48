"""What calls may cost and how fast they may come: prices, spending, caps, limits a minute."""

from __future__ import annotations

import asyncio
import math
import re
import threading
import tomllib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, SettingError, shown
from evidencebench_core.llm.answers import Answer

FIRST_GUESS: Final = 800  # tokens of an answer, until there is one to go by

_MINUTE: Final = 60.0
_LOOK: Final = 1.0  # seconds between looks whether the run was stopped
_DATE: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
_Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """Dollars for a million tokens of prompt and of answer, as of when; ``batch``: the part of it that batches cost."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    prompt: _Dollars
    completion: _Dollars = 0.0
    date: str = ""
    batch: _Dollars = 1.0

    def of(self, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float:
        """Dollars, asked one by one or by a batch."""
        whole = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return whole * self.batch if batch else whole


_TABLE: Final = TypeAdapter(dict[str, Price])


def prices_path() -> Path:
    """The user's own table; its entries win over ours."""
    return platformdirs.user_config_path("evidencebench", appauthor=False) / "prices.toml"


def prices(path: Path | None = None) -> dict[str, Price]:
    """By model, ours with those of the user's table in front; `SettingError` if that cannot be read."""
    table: dict[str, Price] = {}
    path = path or prices_path()
    for file in (Path(__file__).with_name("prices.toml"), path):
        try:
            if file.is_file():
                table |= _prices_in(file.read_text("utf-8"))
        except (OSError, ValueError, KeyError) as error:
            problem = f"is no table of prices ({error})"
            raise SettingError(str(file), problem, "Fix it, or copy ours again.") from error
    return table


@lru_cache(maxsize=8)
def _prices_in(text: str) -> Mapping[str, Price]:  # asked for with every call: to parse takes milliseconds
    return _TABLE.validate_python(tomllib.loads(text)["models"])


def price_of(model: str, table: Mapping[str, Price] | None = None) -> Price | None:
    """A model's price; a dated version without one of its own has that of its name. ``None``: not known."""
    table = prices() if table is None else table
    return table.get(model) or table.get(_DATE.sub("", model))


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls, made or estimated; seconds are the server's time, summed over calls."""

    calls: int = 0  # answered by the server, and so paid for
    cached: int = 0  # answered from the store
    failed: int = 0  # given up without an answer
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = 0.0  # dollars; None once a paid call's model has no known price
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def plus(self, other: Spending, times: float = 1.0) -> Spending:
        """Both together, the other one so many times."""
        return Spending(
            self.calls + round(times * other.calls),
            self.cached + round(times * other.cached),
            self.failed + round(times * other.failed),
            self.prompt_tokens + round(times * other.prompt_tokens),
            self.completion_tokens + round(times * other.completion_tokens),
            None if self.money is None or other.money is None else self.money + times * other.money,
            self.seconds + times * other.seconds,
        )


class Budget:
    """Counts calls, tokens and money, and refuses the call that would go beyond a cap; thread-safe.

    A call under way counts with its estimate, so a cap in tokens or money can be exceeded only by the estimation
    error. ``in_batches`` says whether calls have the price of a batch. `SettingError` if a cap is negative.
    """

    def __init__(
        self, calls: int | None = None, tokens: int | None = None, money: float | None = None
    ) -> None:
        for name, cap in (("calls", calls), ("tokens", tokens), ("money", money)):
            if cap is not None and not cap >= 0:
                raise SettingError(f"cap in {name}", f"is {shown(cap)}", "Give a number from 0 on.")
        self.calls, self.tokens, self.money = calls, tokens, money
        self.in_batches = False
        self.spent = Spending()
        self._under_way = Spending()
        self._lock = threading.RLock()
        self._prices = None if money is None else prices()

    def answer_tokens(self, most: int | None) -> int:
        """About how many tokens the next answer has: as many as those so far in the mean."""
        spent = self.spent
        guess = round(spent.completion_tokens / spent.calls) if spent.calls else FIRST_GUESS
        return min(guess, most or guess)

    @contextmanager
    def reserve(
        self, model: str, prompt_tokens: int, most: int | None = None
    ) -> Iterator[Callable[[Answer | None], None]]:
        """A call, made in the block, of about so many tokens and an answer of at most ``most``.

        It is spent once the function that is given has been called with the answer, or with ``None`` for a reply that
        nobody can read. `BudgetReachedError` if it would exceed a cap.
        """
        cost = Spending()

        def settle(answer: Answer | None) -> None:
            nonlocal cost
            cost = (
                estimate
                if answer is None
                else self._cost(price, *answer.tokens(prompt_tokens), answer.seconds)
            )

        with self._lock:
            self._prices = prices() if self._prices is None else self._prices
            price = price_of(model, self._prices)
            estimate = self._cost(price, prompt_tokens, self.answer_tokens(most))
            self._check_caps(estimate, model)
            self._under_way = self._under_way.plus(estimate)
        try:
            yield settle
        finally:
            with self._lock:
                self._under_way = self._under_way.plus(estimate, -1)
                self.spent = self.spent.plus(cost)

    def _cost(self, price: Price | None, prompt: int, completion: int, seconds: float = 0.0) -> Spending:
        money = price.of(prompt, completion, self.in_batches) if price else None
        return Spending(1, 0, 0, prompt, completion, money, seconds)

    def _check_caps(self, call: Spending, model: str) -> None:
        held = self.spent.plus(self._under_way)
        if self.calls is not None and held.calls >= self.calls:
            raise _cap_error(f"{self.calls:,} calls", f"{held.calls:,}", "1")
        if self.tokens is not None and held.tokens + call.tokens > self.tokens:
            raise _cap_error(f"{self.tokens:,} tokens", f"{held.tokens:,}", f"{call.tokens:,}")
        if self.money is None:
            return
        if held.money is None or call.money is None:
            remedy = f"Put it into {prices_path()}, or cap calls or tokens instead."
            raise BudgetReachedError("cap in money", f"the price of {model} is not known", remedy, True)
        if held.money + call.money > self.money + 1e-12:
            raise _cap_error(f"${self.money:,.4f}", f"${held.money:,.4f}", f"${call.money:,.4f}")

    def count(self, more: Spending) -> None:
        """Count what no call was reserved for: answers from the store, calls that were given up."""
        with self._lock:
            self.spent = self.spent.plus(more)


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
    timeout: float = 900.0  # seconds without a byte after which a call is sent again

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise SettingError(name, f"is {shown(value)}", "Give a number above 0.")


class Gate:
    """Lets calls begin, one after the other, when there is room for them; for one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._slots, self._turn = asyncio.Semaphore(limits.concurrency), asyncio.Lock()
        self._begun: deque[tuple[float, int]] = deque()  # calls of the last minute: when, and their tokens
        self._stopped = False
        self.note = ""  # why calls wait, in a line for people

    def stop(self) -> None:
        """Let no further call begin."""
        self._stopped = True

    @asynccontextmanager
    async def permit(self, tokens: int) -> AsyncIterator[None]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        async with self._slots:
            async with self._turn:
                while (wait := self._wait(tokens)) > 0 and not self._stopped:
                    await asyncio.sleep(min(wait, _LOOK))
                self.note = ""
                if self._stopped:
                    problem, remedy = "was cancelled", "Start again: what is answered is kept."
                    raise LLMCancelledError("the call", problem, remedy, stops_run=True)
                self._begun.append((asyncio.get_running_loop().time(), tokens))
            yield

    def _wait(self, tokens: int) -> float:
        """Seconds until a call may begin, as far as is known."""
        now = asyncio.get_running_loop().time()
        while self._begun and self._begun[0][0] <= now - _MINUTE:
            self._begun.popleft()
        requests, most = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if requests is not None and len(self._begun) >= requests:
            reason = f"{requests:,} requests"
        elif most and self._begun and sum(n for _, n in self._begun) + tokens > most:
            reason = f"{most:,} tokens"
        else:
            return 0.0
        wait = self._begun[0][0] + _MINUTE - now
        self.note = f"waiting {math.ceil(wait)} s: {reason} a minute are used up"
        return wait
