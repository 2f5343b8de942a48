"""Work with a model, asked from code without an event loop: the command, the app, a notebook.

Work is an async function of an `LLM`. Many pieces run side by side in a thread of their own.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError, LLMCancelledError
from evidencebench_core.llm.budget import FIRST_GUESS
from evidencebench_core.llm.client import LLM, Call
from evidencebench_core.llm.client import models as _models
from evidencebench_core.llm.client import one_word as _one_word
from evidencebench_core.llm.connection import Connection
from evidencebench_core.llm.request import Answer, estimated_tokens, request_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_K = TypeVar("_K")
_T = TypeVar("_T")

Work: TypeAlias = Callable[[LLM], Awaitable[_T]]
Results: TypeAlias = list[tuple[_K, _T | EvidenceBenchError]]

_LOOK = 0.1  # seconds between looks at what is ready


def run_async(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine, also where a loop is running, as in a notebook."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def answer_of(
    llm: LLM, work: Work[_T], *, stopped: Callable[[], bool] = lambda: False, grace: float = 30.0
) -> _T:
    """The result of one piece of work. Stopped, it raises `LLMCancelledError`."""
    for _, result in itertools.chain.from_iterable(results(llm, [((), work)], stopped=stopped, grace=grace)):
        if isinstance(result, EvidenceBenchError):
            raise result
        return result
    raise LLMCancelledError("the call", "was cancelled", "Start it again: what is answered is kept.", True)


def results(
    llm: LLM,
    pieces: Iterable[tuple[_K, Work[_T]]],
    *,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = 30.0,
    n_at_once: int | None = None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> Iterator[Results[_K, _T]]:
    """Results of many pieces of work with their keys, in lists of what is ready, as they come; empty ones meanwhile.

    As many pieces are under way as calls may be (``n_at_once``: so many). Once ``stopped`` says so, or whoever reads
    goes away, no call begins; those under way have ``grace`` seconds to end, and a piece that was cut short has no
    result. An error that every call would meet is raised after all that came before it. ``beside`` runs in the same
    loop meanwhile.
    """
    ready: queue.SimpleQueue[tuple[_K, _T | EvidenceBenchError] | None] = queue.SimpleQueue()
    stop, fatal = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            asyncio.run(_drive(llm, pieces, ready.put, stop, grace, n_at_once, beside))
        except BaseException as error:  # noqa: BLE001 - raised again below
            fatal.append(error)
        finally:
            ready.put(None)

    if stopped():
        stop.set()
    thread = threading.Thread(target=run, name="evidencebench-llm", daemon=True)
    thread.start()
    try:
        has_ended = False
        while not has_ended:
            batch: Results[_K, _T] = []
            with suppress(queue.Empty):
                item = ready.get(timeout=_LOOK)
                while item is not None:
                    batch.append(item)
                    item = ready.get_nowait()
                has_ended = True
            yield batch
            if stopped():
                stop.set()
        if fatal:
            raise fatal[0]
    finally:
        stop.set()
        thread.join()


async def _drive(
    llm: LLM,
    pieces: Iterable[tuple[_K, Work[_T]]],
    put: Callable[[tuple[_K, _T | EvidenceBenchError]], None],
    stop: threading.Event,
    grace: float,
    n_at_once: int | None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None,
) -> None:
    tasks, coming, fatal = set[asyncio.Task[None]](), iter(pieces), list[EvidenceBenchError]()

    async def answer(key: _K, work: Work[_T]) -> None:
        try:
            put((key, await work(llm)))
        except LLMCancelledError:
            return
        except EvidenceBenchError as error:
            if not getattr(error, "stops_run", False):
                put((key, error))
                return
            fatal.append(error)
            llm.stop()
            if not isinstance(error, BudgetReachedError):  # calls within the cap may end
                stop.set()

    async with llm:
        other = asyncio.create_task(beside()) if beside else None
        while not stop.is_set():
            room = 0 if fatal else (n_at_once or llm.limits.concurrency) - len(tasks)
            tasks |= {asyncio.create_task(answer(*piece)) for piece in itertools.islice(coming, room)}
            if not tasks:
                break
            waited_for = {*tasks, other} if other else tasks
            done, _ = await asyncio.wait(waited_for, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
            tasks -= done
            for task in done:
                task.result()
        llm.stop()
        if other is not None:
            other.cancel()
            grace = 0.0
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
        await asyncio.gather(*tasks, *([other] if other else []), return_exceptions=True)
    if fatal:
        raise next((error for error in fatal if not isinstance(error, LLMCancelledError)), fatal[0])


# -- without a server ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls still to be made, and answers in the store; tokens are estimates of the calls."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def times(self, factor: float) -> Cost:
        """As much for another number of instances."""
        return Cost(
            round(self.calls * factor),
            round(self.cached * factor),
            round(self.prompt_tokens * factor),
            round(self.completion_tokens * factor),
        )


class DryRun(LLM):
    """Counts what a server would be asked; sends and stores nothing. What is not stored is answered as rehearsed."""

    def __init__(self, llm: LLM) -> None:
        super().__init__(llm.connection, llm.store, fresh=llm.fresh)
        self.cost, self.n_rehearsed = Cost(), 0
        self._seen: set[str] = set()
        self.transport = self._rehearse

    async def _rehearse(self, call: Call) -> Answer:
        most = min(FIRST_GUESS, call.max_tokens or FIRST_GUESS)
        self._count(call.key, call.prompt_tokens, most)
        return Answer(call.rehearsal)

    async def embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        missing = self.texts_to_embed(model, texts)
        if not missing:
            return await super().embed(model, texts)
        key = request_key("embedding", {"model": model, "input": missing})
        self._count(key, sum(map(estimated_tokens, missing)), 0)
        return np.zeros((len(texts), 1), dtype=np.float32)

    def _count(self, key: str, n_prompt: int, n_answer: int) -> None:
        self.n_rehearsed += 1
        if key not in self._seen:
            self._seen.add(key)
            self.cost += Cost(1, 0, n_prompt, n_answer)


def rehearse(llm: LLM, *pieces: Work[_T]) -> tuple[list[_T | None], Cost]:
    """The cost of pieces of work, what they have in common counted once; nothing is sent.

    The result of a piece is there if every answer that it needs is in the store, else ``None``.
    """
    dry = DryRun(llm)

    async def rehearsal() -> list[_T | None]:
        known: list[_T | None] = []
        async with dry:
            for work in pieces:
                n_before = dry.n_rehearsed
                result = await work(dry)
                known.append(result if dry.n_rehearsed == n_before else None)
        return known

    known = run_async(rehearsal())
    return known, dry.cost + Cost(cached=dry.budget.spent.cached)


# -- trying a server out ---------------------------------------------------------------------------


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists; empty where it has no list.

    Raises
    ------
    LLMError, SettingError
        If it cannot be asked; if its address or key cannot be used.
    """
    return run_async(_models(LLM(connection)))


def one_word(connection: Connection, model: str) -> Answer:
    """The answer of a model to a question for one word; an `LLMError` if there is none."""
    return answer_of(LLM(connection), lambda llm: _one_word(llm, model))
