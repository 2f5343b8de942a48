"""Spending, and the cap that nothing may exceed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from evidencebench_core.errors import BudgetReachedError, SettingError, shown
from evidencebench_core.llm.prices import Price, price_of, prices, prices_path
from evidencebench_core.llm.request import estimated_tokens

FIRST_GUESS: Final = 800  # tokens of an answer, until there is one to go by


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls.

    Attributes
    ----------
    calls, cached, failed : int
        Answered by the server, and so paid for; answered from the store; given up without an answer.
    perhaps_billed : int
        Attempts without an answer of which the server may have made one: timeouts, 504, broken off. They count
        against the caps, with their estimates, and are in tokens and money.
    prompt_tokens, completion_tokens : int
        ``estimated`` of the paid calls had no count from the server and were estimated.
    money : float or None
        Dollars; ``None`` as soon as a paid call's model has no known price.
    seconds : float
        The server's time, summed over calls.
    """

    calls: int = 0
    cached: int = 0
    failed: int = 0
    perhaps_billed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    money: float | None = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Reservation:
    """The assumed cost of a call under way."""

    price: Price | None
    prompt_tokens: int
    completion_tokens: int
    money: float

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Budget:
    """Counts calls, tokens and money, and refuses the call that would go beyond a cap; thread-safe.

    A call under way is reckoned with its estimate (see `estimated_tokens`; its answer with the mean of the
    answers so far, and no more than its ``max_tokens``), so a cap is passed by estimation errors at most.

    Parameters
    ----------
    calls, tokens : int, optional
    money : float, optional
        Dollars.
    table : mapping of str to Price, optional
        Without it `prices`.

    Raises
    ------
    SettingError
        If a cap is negative.
    """

    def __init__(
        self,
        calls: int | None = None,
        tokens: int | None = None,
        money: float | None = None,
        table: Mapping[str, Price] | None = None,
    ) -> None:
        for name, cap in (("calls", calls), ("tokens", tokens), ("money", money)):
            if cap is not None and not cap >= 0:
                raise SettingError(f"cap in {name}", f"is {shown(cap)}", "Give a number from 0 on.")
        self.calls, self.tokens, self.money = calls, tokens, money
        self.in_batches = False  # whether calls have the price of a batch
        self.spent = Spending()  # so far; calls under way are not in it
        self._table, self._lock = table, threading.RLock()
        self._held = (0, 0, 0.0)  # calls, tokens and dollars under way

    @property
    def capped(self) -> bool:
        """Whether there is any cap."""
        return (self.calls, self.tokens, self.money) != (None, None, None)

    def answer_tokens(self, most: int | None = None) -> int:
        """About how many tokens the next answer has, of at most so many: as many as those so far in the mean."""
        spent = self.spent
        n_answers = spent.calls + spent.perhaps_billed
        guess = round(spent.completion_tokens / n_answers) if n_answers else FIRST_GUESS
        return guess if most is None else min(guess, most)

    def reserve(
        self, model: str, prompt_tokens: int, most: int | None = None, capped: bool = True
    ) -> Reservation:
        """Let a call begin, of about so many tokens and an answer of at most so many, or raise `BudgetReachedError`.

        Without ``capped`` no cap refuses it, as it has been paid.
        """
        with self._lock:
            if self._table is None:
                self._table = prices()
            price, completion_tokens = price_of(model, self._table), self.answer_tokens(most)
            money = price.of(prompt_tokens, completion_tokens, self.in_batches) if price else 0.0
            reservation = Reservation(price, prompt_tokens, completion_tokens, money)
            if capped:
                self._check_caps(model, reservation)
            self._hold(reservation, 1)
            return reservation

    def _check_caps(self, model: str, next_call: Reservation) -> None:
        spent, (n_held, held_tokens, held_money) = self.spent, self._held
        if self.money is not None and next_call.price is None:
            remedy = f"Put it into {prices_path()}, or cap calls or tokens instead."
            raise BudgetReachedError("cap in money", f"the price of {model} is not known", remedy, True)
        if self.calls is not None and spent.calls + spent.perhaps_billed + n_held >= self.calls:
            perhaps = f", {spent.perhaps_billed:,} without an answer but perhaps billed"
            state = f"{spent.calls + n_held:,} are made{perhaps if spent.perhaps_billed else ''}"
            raise _cap_error(f"{self.calls:,} calls", state)
        for cap, done, held, more, form, of in (
            (self.tokens, spent.tokens, held_tokens, next_call.tokens, "{:,}", " tokens"),
            (self.money, spent.money or 0.0, held_money, next_call.money, "${:,.4f}", ""),
        ):
            if cap is not None and done + held + more > cap:
                waiting = f", about {form.format(held)} are under way" if n_held else ""
                state = f"{form.format(done)} are spent{waiting} and the next call takes about {form.format(more)}"
                raise _cap_error(form.format(cap) + of, state)

    def settle(
        self,
        reservation: Reservation,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        seconds: float = 0.0,
        text: str | None = None,
    ) -> int:
        """A call was answered; the tokens it took.

        Where the server did not count (``None``), they are those reserved, or about those of the answer's text.
        """
        estimated = prompt_tokens is None or completion_tokens is None
        if prompt_tokens is None:
            prompt_tokens = reservation.prompt_tokens
        if completion_tokens is None:
            completion_tokens = reservation.completion_tokens if text is None else estimated_tokens(text)
        with self._lock:
            self._spend(reservation, prompt_tokens, completion_tokens)
            self.count(calls=1, estimated=int(estimated), seconds=seconds)
        return prompt_tokens + completion_tokens

    def release(self, reservation: Reservation, perhaps_billed: bool = False) -> None:
        """An attempt brought no answer."""
        with self._lock:
            if perhaps_billed:
                self._spend(reservation, reservation.prompt_tokens, reservation.completion_tokens)
                self.count(perhaps_billed=1)
            else:
                self._hold(reservation, -1)

    def count(self, **more: float) -> None:
        """Count so much more of what `Spending` has."""
        with self._lock:
            self.spent = replace(
                self.spent, **{name: getattr(self.spent, name) + n for name, n in more.items()}
            )

    def _spend(self, reservation: Reservation, prompt_tokens: int, completion_tokens: int) -> None:
        price, money = reservation.price, None
        self._hold(reservation, -1)
        if price is not None and self.spent.money is not None:
            money = self.spent.money + price.of(prompt_tokens, completion_tokens, self.in_batches)
        self.spent = replace(self.spent, money=money)
        self.count(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)

    def _hold(self, reservation: Reservation, sign: int) -> None:
        n, tokens, money = self._held
        n += sign
        self._held = (n, tokens + sign * reservation.tokens, money + sign * reservation.money if n else 0.0)


def _cap_error(cap: str, state: str) -> BudgetReachedError:
    remedy = "Raise the cap and start again: what is answered is kept and costs nothing."
    return BudgetReachedError("budget", f"the cap of {cap} is reached: {state}", remedy, stops_run=True)
