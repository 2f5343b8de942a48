"""Spending, and the cap that nothing may exceed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from evidencebench_core.errors import BudgetReachedError, SettingError, shown
from evidencebench_core.llm.prices import Price, price_of, prices, prices_path

FIRST_GUESS: Final = 800  # tokens of an answer, until there is one to go by


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost of calls.

    Attributes
    ----------
    calls : int
        Answered by the server, and so paid for.
    cached : int
        Answered from the store.
    failed : int
        Given up without an answer.
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

    model: str
    prompt_tokens: int
    completion_tokens: int
    money: float


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
        self._table = table
        self._lock = threading.Lock()
        self._spent = Spending()
        self._under_way: dict[int, Reservation] = {}
        self._held = (0, 0.0)  # tokens and dollars of what is under way

    @property
    def spent(self) -> Spending:
        """So far; calls under way are not in it."""
        with self._lock:
            return self._spent

    def price(self, model: str) -> Price | None:
        """Of a model, by this budget's table."""
        if self._table is None:
            self._table = prices()
        return price_of(model, self._table)

    @property
    def capped(self) -> bool:
        """Whether there is any cap."""
        return (self.calls, self.tokens, self.money) != (None, None, None)

    def count_answer(self, model: str, prompt_tokens: int, completion_tokens: int, estimated: bool) -> None:
        """An answer that nothing was reserved for; no cap can refuse it, as it is paid."""
        reservation = Reservation(model, prompt_tokens, completion_tokens, 0.0)
        with self._lock:
            self._hold(reservation)
        self.settle(reservation, prompt_tokens, completion_tokens, 0.0, estimated)

    def reserve(
        self, model: str, prompt_tokens: int, most: int | None = None, answers: bool = True
    ) -> Reservation:
        """Let a call begin.

        Parameters
        ----------
        prompt_tokens : int
            Estimated.
        most : int, optional
            Most tokens of the answer.
        answers : bool
            Whether tokens come back at all (embeddings have none).

        Raises
        ------
        BudgetReachedError
        """
        price = self.price(model)
        if price is None and self.money is not None:
            raise BudgetReachedError(
                "cap in money",
                f"the price of {model} is not known",
                f"Put it into {prices_path()}, or cap calls or tokens instead.",
                stops_run=True,
            )
        with self._lock:
            spent, (held_tokens, held_money) = self._spent, self._held
            n_answers = spent.calls + spent.perhaps_billed
            completion = self._guess(most) if answers else 0
            money = price.of(prompt_tokens, completion, self.in_batches) if price else 0.0
            reservation = Reservation(model, prompt_tokens, completion, money)
            tokens = prompt_tokens + completion
            if self.calls is not None and n_answers + len(self._under_way) + 1 > self.calls:
                perhaps = f", {spent.perhaps_billed:,} perhaps" if spent.perhaps_billed else ""
                waiting = f" and {len(self._under_way):,} under way" if self._under_way else ""
                raise _cap_error(f"{self.calls:,} calls", f"{spent.calls:,} are done{perhaps}{waiting}")
            for cap, done, held, more, form, of in (
                (self.tokens, spent.tokens, held_tokens, tokens, "{:,}", " tokens"),
                (self.money, spent.money or 0.0, held_money, money, "${:,.4f}", ""),
            ):
                if cap is not None and done + held + more > cap:
                    waiting = f", about {form.format(held)} are under way" if self._under_way else ""
                    state = f"{form.format(done)} are spent{waiting} and the next call takes about {form.format(more)}"
                    raise _cap_error(form.format(cap) + of, state)
            self._hold(reservation)
            return reservation

    def settle(
        self,
        reservation: Reservation,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        seconds: float,
        estimated: bool = False,
    ) -> None:
        """A call was answered; ``None``: the server did not count, so that they stay as reserved."""
        prompt = reservation.prompt_tokens if prompt_tokens is None else prompt_tokens
        completion = reservation.completion_tokens if completion_tokens is None else completion_tokens
        estimated |= prompt_tokens is None or completion_tokens is None
        self._spend(reservation, prompt, completion, calls=1, estimated=int(estimated), seconds=seconds)

    def release(self, reservation: Reservation, perhaps_billed: bool = False) -> None:
        """An attempt brought no answer."""
        if perhaps_billed:
            prompt, completion = reservation.prompt_tokens, reservation.completion_tokens
            self._spend(reservation, prompt, completion, perhaps_billed=1)
        else:
            with self._lock:
                self._drop(reservation)

    def _spend(self, reservation: Reservation, prompt: int, completion: int, **more: float) -> None:
        price = self.price(reservation.model)
        with self._lock:
            self._drop(reservation)
            known = price is not None and self._spent.money is not None
            if price is not None:
                more["money"] = price.of(prompt, completion, self.in_batches)
            self._count(prompt_tokens=prompt, completion_tokens=completion, **more)
            if not known:
                self._spent = replace(self._spent, money=None)

    def _count(self, **more: float) -> None:
        changed: dict[str, Any] = {name: (getattr(self._spent, name) or 0) + n for name, n in more.items()}
        self._spent = replace(self._spent, **changed)

    def answer_tokens(self, most: int | None = None) -> int:
        """About how many tokens the next answer has, of at most so many."""
        with self._lock:
            return self._guess(most)

    def _guess(self, most: int | None) -> int:
        spent = self._spent
        n_answers = spent.calls + spent.perhaps_billed
        guess = round(spent.completion_tokens / n_answers) if n_answers else FIRST_GUESS
        return guess if most is None else min(guess, most)

    def count_failed(self) -> None:
        """A call was given up without an answer."""
        with self._lock:
            self._count(failed=1)

    def count_cached(self, n: int = 1) -> None:
        """Answers that came from the store."""
        with self._lock:
            self._count(cached=n)

    def _hold(self, reservation: Reservation) -> None:
        self._under_way[id(reservation)] = reservation
        tokens, money = self._held
        tokens += reservation.prompt_tokens + reservation.completion_tokens
        self._held = (tokens, money + reservation.money)

    def _drop(self, reservation: Reservation) -> None:
        del self._under_way[id(reservation)]
        tokens, money = self._held
        tokens -= reservation.prompt_tokens + reservation.completion_tokens
        self._held = (tokens, money - reservation.money if self._under_way else 0.0)


def _cap_error(cap: str, state: str) -> BudgetReachedError:
    return BudgetReachedError(
        "budget",
        f"the cap of {cap} is reached: {state}",
        "Raise the cap and start again: what is answered is kept and costs nothing.",
        stops_run=True,
    )
