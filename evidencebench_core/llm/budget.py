"""Spending, and the caps that no call may exceed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from evidencebench_core.errors import BudgetReachedError, SettingError, shown
from evidencebench_core.llm.prices import price_of, prices, prices_path

FIRST_GUESS: Final = 800  # tokens of an answer, until there is one to go by


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls; seconds are the server's time, summed over calls."""

    calls: int = 0  # answered by the server, and so paid for
    cached: int = 0  # answered from the store
    failed: int = 0  # given up without an answer
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0  # calls whose tokens the server did not count
    money: float | None = 0.0  # dollars; None once a paid call's model has no known price
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(slots=True)
class Reservation:
    """The assumed cost of a call under way; whoever gets an answer says what it took."""

    prompt_tokens: int
    completion_tokens: int
    is_answered: bool = False
    is_estimated: bool = True
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def settle(self, prompt: int | None, completion: int | None, guess: int, seconds: float) -> None:
        """The tokens that the server counted; where it did not, those of the prompt and ``guess`` of the answer."""
        self.is_answered, self.is_estimated = True, prompt is None or completion is None
        self.prompt_tokens = self.prompt_tokens if prompt is None else prompt
        self.completion_tokens = guess if completion is None else completion
        self.seconds = seconds


class Budget:
    """Counts calls, tokens and money, and refuses the call that would go beyond a cap; thread-safe.

    A call under way counts with its estimate, so a cap in tokens or money can be exceeded only by the estimation
    error. ``in_batches`` says whether calls have the price of a batch.

    Raises
    ------
    SettingError
        If a cap is negative.
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
        self._lock = threading.RLock()
        self._calls_under_way, self._tokens_under_way, self._money_under_way = 0, 0, 0.0
        self._prices = None if money is None else prices()

    def answer_tokens(self, most: int | None) -> int:
        """About how many tokens the next answer has: as many as those so far in the mean."""
        spent = self.spent
        guess = round(spent.completion_tokens / spent.calls) if spent.calls else FIRST_GUESS
        return min(guess, most or guess)

    @contextmanager
    def reserve(
        self, model: str, prompt_tokens: int, most: int | None = None, is_paid: bool = False
    ) -> Iterator[Reservation]:
        """The call of the block, of about so many tokens and an answer of at most ``most``.

        It has been made if it is settled when the block ends. No cap refuses one that is paid already.

        Raises
        ------
        BudgetReachedError
            If it would exceed a cap.
        """
        with self._lock:
            self._prices = self._prices if self._prices is not None else prices()
            price = price_of(model, self._prices)
            n_answer = self.answer_tokens(most)
            money = price.of(prompt_tokens, n_answer, self.in_batches) if price else 0.0
            call = Reservation(prompt_tokens, n_answer)
            if self.money is not None and price is None and not is_paid:
                remedy = f"Put it into {prices_path()}, or cap calls or tokens instead."
                raise BudgetReachedError("cap in money", f"the price of {model} is not known", remedy, True)
            if not is_paid:
                self._check_caps(call.tokens, money)
            estimate = call.tokens
            self._hold(1, estimate, money)
        try:
            yield call
        finally:
            with self._lock:
                self._hold(-1, -estimate, -money)
                if call.is_answered:
                    tokens = call.prompt_tokens, call.completion_tokens
                    cost = price.of(*tokens, self.in_batches) if price else None
                    total = self.spent.money
                    money_now = None if cost is None or total is None else total + cost
                    self.count(calls=1, prompt_tokens=tokens[0], completion_tokens=tokens[1])
                    self.count(estimated=int(call.is_estimated), seconds=call.seconds)
                    self.spent = replace(self.spent, money=money_now)

    def _hold(self, calls: int, tokens: int, money: float) -> None:
        self._calls_under_way += calls
        self._tokens_under_way += tokens
        self._money_under_way += money

    def _check_caps(self, next_tokens: int, next_money: float) -> None:
        calls = self.spent.calls + self._calls_under_way
        if self.calls is not None and calls >= self.calls:
            raise _cap_error(f"{self.calls:,} calls", f"{calls:,} are made")
        tokens = self.spent.tokens + self._tokens_under_way
        if self.tokens is not None and tokens + next_tokens > self.tokens:
            state = f"{tokens:,} are spent or under way, and the next call takes about {next_tokens:,}"
            raise _cap_error(f"{self.tokens:,} tokens", state)
        money = (self.spent.money or 0.0) + self._money_under_way
        if self.money is not None and money + next_money > self.money + 1e-12:
            state = f"${money:,.4f} are spent or under way, and the next call takes about ${next_money:,.4f}"
            raise _cap_error(f"${self.money:,.4f}", state)

    def count(self, **more: float) -> None:
        """Count so much more of what `Spending` has."""
        with self._lock:
            sums = {name: getattr(self.spent, name) + number for name, number in more.items()}
            self.spent = replace(self.spent, **sums)


def _cap_error(cap: str, state: str) -> BudgetReachedError:
    remedy = "Raise the cap and start again: what is answered is kept and costs nothing."
    return BudgetReachedError("budget", f"the cap of {cap} is reached: {state}", remedy, stops_run=True)
