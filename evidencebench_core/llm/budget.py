"""What calls may cost and when they may begin: prices, spending, caps, turns, limits a minute."""

from __future__ import annotations

import asyncio
import inspect
import math
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError

if TYPE_CHECKING:
    from evidencebench_core.llm.answers import Answer
    from evidencebench_core.llm.transport import Call

_MINUTE: Final = 60.0
_TOLERANCE: Final = 1e-6  # of a sum of many parts
_SHORTEST_PAUSE: Final = 1.0  # seconds; doubled up to the longest while the server names none and refuses
_LONGEST_PAUSE: Final = 30.0
_PATIENCE: Final = 600.0  # seconds with a busy server that answers nobody
UNLIMITED_ANSWER: Final = 4_096  # tokens that an answer is reserved where the request sets no limit
_ANSWER: Final = 800  # tokens that an answer is taken to have


@cache
def _rates(model: str) -> tuple[float, float, float] | None:
    """Dollars for a token of prompt and of answer, and the part of them that a batch costs; ``None``: not known."""
    from genai_prices import Usage, calc_price

    thousand = Usage(input_tokens=1_000, output_tokens=1_000)  # below the steps that some prices have
    for provider in (None, "openai"):  # the second knows embedding models
        with suppress(LookupError):
            price = calc_price(thousand, model, provider_id=provider)
            batch = calc_price(thousand, model, provider_id=provider, price_context={"processing": "batch"})
            part = float(batch.total_price / price.total_price) if price.total_price else 1.0
            return float(price.input_price) / 1_000, float(price.output_price or 0) / 1_000, part
    return None


def price_of(model: str, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> float | None:
    """Dollars, by the genai-prices package, asked one by one or by a batch; ``None`` where the price is not known."""
    rates = _rates(model)
    if rates is None:
        return None
    return (prompt_tokens * rates[0] + completion_tokens * rates[1]) * (rates[2] if batch else 1.0)


@cache
def price_source() -> str:
    """The package of the prices, and the day of its newest one."""
    import genai_prices.data

    days = re.findall(
        r"start_date=datetime.date\((\d+), (\d+), (\d+)\)", inspect.getsource(genai_prices.data)
    )
    begun = [day for day in (date(*map(int, parts)) for parts in days) if day <= date.today()]  # noqa: DTZ011
    newest = max(begun, default="unknown")
    return f"genai-prices {version('genai-prices')} of {newest}"


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


def call_cost(model: str, prompt_tokens: int, completion_tokens: int, batch: bool = False) -> Spending:
    """One call with so many tokens."""
    money = price_of(model, prompt_tokens, completion_tokens, batch)
    return Spending(1, 0, prompt_tokens, completion_tokens, money)


class Budget:
    """Counts calls, tokens and money, and begins no call that might go beyond a cap; for one event loop at a time.

    A call is reserved with the most that it can cost: a token for each byte of its prompt, or more where the server
    has counted more, and ``max_tokens`` of its request. One without room beside those under way waits for them. Caps
    are of a run, earlier starts included. Where requests set no ``max_tokens`` a call can pass a cap by what its
    answer has beyond `UNLIMITED_ANSWER`.
    """

    def __init__(
        self, calls: int | None = None, tokens: int | None = None, money: float | None = None
    ) -> None:
        self.calls, self.tokens, self.money = calls, tokens, money
        self.spent = Spending()  # by this object
        self._run_id, self._earlier = "", Spending()
        self._under_way = Spending()
        self._overhead: int | None = None  # tokens beyond a prompt's bytes, as counted; None: no answer yet
        self._longest_prompt = 0  # tokens that a server counted
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def has_caps(self) -> bool:
        """Whether tokens or money are capped."""
        return self.tokens is not None or self.money is not None

    def begin(self, run_id: str, earlier: Spending) -> None:
        """Go on with a run that has cost so much before."""
        if run_id != self._run_id:
            self._run_id, self._earlier = run_id, earlier

    def count(self, more: Spending) -> None:
        """Count what no call was reserved for, such as answers from the store."""
        self.spent = self.spent.plus(more)

    @asynccontextmanager
    async def reserve(
        self, call: Call, batch: bool = False
    ) -> AsyncIterator[Callable[[Answer | None], Spending]]:
        """A call, made in the block, once there is room for it; `BudgetReachedError` if a cap has none.

        It is spent once the function that is given has been called with the answer, or with ``None`` for a reply that
        nobody can read, which costs the most; the function returns the cost. Under a cap in tokens or money calls go
        one by one until a first answer tells how the server counts, unless they are asked by a ``batch``.
        """
        most_answer = UNLIMITED_ANSWER if call.max_tokens is None else call.max_tokens
        while True:
            most_prompt = max(call.most_prompt_tokens + (self._overhead or 0), self._longest_prompt)
            most = call_cost(call.model, most_prompt, most_answer, batch)
            spent = self.spent.plus(self._earlier)
            if problem := self._problem(spent, most, call.model):
                remedy = "Raise it and start again: what is answered is kept and costs nothing."
                raise BudgetReachedError("budget", f"the cap {problem}", remedy, stops_run=True)
            is_alone = self._overhead is None and not batch and self.has_caps
            is_full = is_alone or self._problem(spent.plus(self._under_way), most, call.model)
            if not (self._under_way.calls and is_full):
                break
            change = asyncio.get_running_loop().create_future()
            self._waiting.append(change)
            await change
        cost = Spending()

        def settle(answer: Answer | None) -> Spending:
            nonlocal cost
            cost = call_cost(call.model, *answer.tokens(call.prompt_tokens), batch) if answer else most
            if answer is not None:
                self._overhead = max(self._overhead or 0, cost.prompt_tokens - call.most_prompt_tokens)
                self._longest_prompt = max(self._longest_prompt, cost.prompt_tokens)
            return cost

        self._under_way = self._under_way.plus(most)
        try:
            yield settle
        finally:
            self._under_way = self._under_way.plus(most, -1)
            self.count(cost)
            for change in self._waiting:
                if not change.done():
                    change.set_result(None)
            self._waiting.clear()

    def _problem(self, held: Spending, call: Spending, model: str) -> str:
        """Why a call has no room beside what is held; ``""`` if it has."""
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


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a server is asked."""

    concurrency: int = 8  # calls at once
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class _Bucket:
    """What a limit a minute leaves: full at first, and filled evenly."""

    def __init__(self, per_minute: int | None, unit: str) -> None:
        self.per_minute, self.unit = per_minute, unit
        self._room, self._looked_at = float(per_minute or 0), -math.inf

    def seconds_until(self, amount: float, now: float) -> float:
        """How long it takes until there is room; 0 where there is, or where there is no limit."""
        if self.per_minute is None:
            return 0.0
        pace = self.per_minute / _MINUTE
        self._room = min(self.per_minute, self._room + (now - self._looked_at) * pace)
        self._looked_at = now
        missing = min(amount, self.per_minute) - self._room
        return missing / pace if missing > _TOLERANCE else 0.0

    def take(self, amount: float) -> None:
        self._room -= amount


class Gate:
    """Lets calls begin one after the other; for one event loop.

    Where the server asks for patience all calls pause, and the number at once is halved; every answer raises it again,
    by one for as many answers as there are calls at once.
    """

    def __init__(self, limits: Limits) -> None:
        self._most_at_once = self._at_once = float(limits.concurrency)
        self._requests = _Bucket(limits.requests_per_minute, "requests")
        self._tokens = _Bucket(limits.tokens_per_minute, "tokens")
        self._turn, self._has_changed = asyncio.Lock(), asyncio.Event()
        self._n_under_way, self.is_stopped = 0, False
        self._paused_until, self._pause = -math.inf, _SHORTEST_PAUSE
        self.answered_at = -math.inf  # the loop's time of the last answer to any call
        self.note = ""  # why calls wait, in a line for people

    def stop(self) -> None:
        """Begin no further call: those that wait end with `LLMCancelledError`, those under way may end."""
        self.is_stopped = True
        self._has_changed.set()

    @asynccontextmanager
    async def permit(self, tokens: float) -> AsyncIterator[None]:
        """Wait until a call of about so many tokens may begin; it is under way while the block runs."""
        async with self._turn:
            while not self.is_stopped and (wait := self._wait(tokens)) > 0:
                self._has_changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait if wait < math.inf else None):
                        await self._has_changed.wait()
            self.note = ""
            if self.is_stopped:
                raise LLMCancelledError(
                    "the call", "was cancelled", "Start again: what is answered is kept.", True
                )
            self._n_under_way += 1
            self._requests.take(1)
            self._tokens.take(tokens)
        try:
            yield
        finally:
            self._n_under_way -= 1
            self._has_changed.set()

    def answered(self, expected: float, used: float) -> None:
        """A call was answered: its tokens as expected and as counted."""
        self.answered_at = asyncio.get_running_loop().time()
        self._tokens.take(used - expected)
        self._at_once = min(self._most_at_once, self._at_once + 1 / self._at_once)
        self._pause = _SHORTEST_PAUSE

    def waits(self, pause: float, tokens: float, began: float) -> bool:
        """The server was too busy for a call of so many tokens; it named a pause in seconds, or none (NaN).

        Whether the call, made at ``began``, should wait; not once nobody was answered for ten minutes.
        """
        now = asyncio.get_running_loop().time()
        self._tokens.take(-tokens)
        if now >= self._paused_until:  # else the call had begun before the others were refused
            self._at_once = max(1.0, self._at_once / 2)
            self._paused_until = now + (pause if pause >= 0 else self._pause)
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)
        elif pause >= 0:
            self._paused_until = max(self._paused_until, now + pause)
        return now - max(began, self.answered_at) < _PATIENCE

    def _wait(self, tokens: float) -> float:
        """Seconds until a call may begin, as far as is known."""
        now = asyncio.get_running_loop().time()
        if now < self._paused_until:
            wait = self._paused_until - now
            self.note = f"waiting {math.ceil(wait)} s: the server asks for fewer calls"
            return wait
        for bucket, amount in ((self._requests, 1.0), (self._tokens, tokens)):
            if (wait := bucket.seconds_until(amount, now)) > 0:
                self.note = (
                    f"waiting {math.ceil(wait)} s: {bucket.per_minute:,} {bucket.unit} a minute are used up"
                )
                return wait
        return math.inf if self._n_under_way >= int(self._at_once) else 0.0
