"""Work with a model, asked from code without an event loop: the command, the app, a notebook.

Work is an async function of an `LLM`. Many pieces run side by side.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError, LLMCancelledError, LLMError
from evidencebench_core.llm.answers import Answer, Message
from evidencebench_core.llm.budget import FIRST_GUESS, Spending
from evidencebench_core.llm.client import LLM, Call
from evidencebench_core.llm.connection import Connection

_K = TypeVar("_K")
_T = TypeVar("_T")

Work: TypeAlias = Callable[[LLM], Awaitable[_T]]
Results: TypeAlias = list[tuple[_K, _T | EvidenceBenchError]]
_Queue: TypeAlias = "queue.SimpleQueue[tuple[_K, _T | EvidenceBenchError] | None]"  # None: nothing more comes

_LOOK = 0.1  # seconds between looks whether the work was stopped


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

    As many pieces are under way as calls may be (``n_at_once``: so many), in a thread. Once ``stopped`` is true, or the
    iterator is closed, no call begins; those under way have ``grace`` seconds to end, and a piece that was cut short
    has no result. An error that every call would meet is raised after all that came before it. ``beside`` runs in the
    same loop meanwhile.
    """
    ready: _Queue[_K, _T] = queue.SimpleQueue()
    is_over = threading.Event()
    n_workers = n_at_once or llm.limits.concurrency
    if stopped():
        is_over.set()
    with ThreadPoolExecutor(1, "evidencebench-llm") as pool:
        work = _work(llm, iter(pieces), n_workers, ready, is_over, grace, beside)
        running = pool.submit(asyncio.run, work)
        running.add_done_callback(lambda _: ready.put(None))
        try:
            is_last = False
            while not is_last:
                items = _waited_for(ready)
                is_last = None in items
                yield [item for item in items if item is not None]
                if stopped():
                    is_over.set()
        finally:
            is_over.set()
        running.result()


async def _work(
    llm: LLM,
    coming: Iterator[tuple[_K, Work[_T]]],
    n_workers: int,
    ready: _Queue[_K, _T],
    is_over: threading.Event,
    grace: float,
    beside: Callable[[], Coroutine[Any, Any, None]] | None,
) -> None:
    """Do the pieces that are coming until ``is_over`` is set, and put results into ``ready``."""
    fatal: list[LLMError] = []

    async def worker() -> None:
        while not (is_over.is_set() or fatal) and (piece := next(coming, None)) is not None:
            key, work = piece
            try:
                ready.put((key, await work(llm)))
            except LLMCancelledError:
                return
            except EvidenceBenchError as error:
                if not (isinstance(error, LLMError) and error.stops_run):
                    ready.put((key, error))
                    continue
                fatal.append(error)
                llm.stop()
                if not isinstance(error, BudgetReachedError):  # else what is under way may end
                    is_over.set()

    async with llm:
        workers = {asyncio.create_task(worker()) for _ in range(n_workers)}
        tasks = workers | {asyncio.create_task(beside())} if beside else workers
        pending, deadline = tasks, math.inf
        try:
            while pending & workers and time.monotonic() < deadline:
                if is_over.is_set():
                    llm.stop()
                    deadline = min(deadline, time.monotonic() + grace)
                done, pending = await asyncio.wait(
                    pending, timeout=_LOOK, return_when=asyncio.FIRST_EXCEPTION
                )
                for task in done:
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    if fatal:
        raise fatal[0]


def _waited_for(ready: queue.SimpleQueue[_T]) -> list[_T]:
    """What is ready in a moment, or at once."""
    items: list[_T] = []
    with suppress(queue.Empty):
        items.append(ready.get(timeout=_LOOK))
        while True:
            items.append(ready.get_nowait())
    return items


# -- without a server ------------------------------------------------------------------------------


class DryRun(LLM):
    """Counts what a server would be asked; sends and stores nothing. What is not stored is answered as rehearsed."""

    def __init__(self, llm: LLM) -> None:
        super().__init__(llm.connection, llm.store, fresh=llm.fresh)
        self.n_rehearsed = 0
        self._seen: set[str] = set()
        self.transport = self._rehearse

    async def _rehearse(self, call: Call) -> Answer:
        self.n_rehearsed += 1
        if call.key not in self._seen:
            self._seen.add(call.key)
            most = FIRST_GUESS if call.max_tokens is None else min(FIRST_GUESS, call.max_tokens)
            self.budget.count(Spending(1, 0, 0, call.prompt_tokens, most))
        return Answer(call.rehearsal)


def rehearse(llm: LLM, *pieces: Work[_T]) -> tuple[list[_T | None], Spending]:
    """The cost of pieces of work, what they have in common counted once; nothing is sent.

    The result of a piece is there if every answer that it needs is in the store, else ``None``.
    """

    async def rehearsal() -> list[_T | None]:
        values: list[_T | None] = []
        async with dry:
            for work in pieces:
                n_before = dry.n_rehearsed
                result = await work(dry)
                values.append(result if dry.n_rehearsed == n_before else None)
        return values

    dry = DryRun(llm)
    return run_async(rehearsal()), dry.budget.spent


# -- trying a server out ---------------------------------------------------------------------------


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list. `LLMError` if it cannot be asked."""

    async def models() -> set[str]:
        import openai

        async with LLM(connection) as llm:
            client = llm.client().with_options(max_retries=1, timeout=20.0)
            try:
                return {str(model.id) async for model in client.models.list()}
            except openai.APIError as error:
                if getattr(error, "status_code", 0) in (404, 405):
                    return set()
                raise llm.failure(error) from error
            except (AttributeError, TypeError, ValueError):  # some other page
                return set()

    return tuple(sorted(map(connection.without_keys, run_async(models()))))


def has_model(listed: Sequence[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


def one_word(connection: Connection, model: str) -> Answer:
    """The answer of a model to a question for one word; an `LLMError` if there is none."""
    messages = (Message("user", "Answer with the one word: ready"),)

    async def ask(llm: LLM) -> Answer:
        return await llm.chat(messages, model=model, temperature=0.0, max_tokens=16, allow_empty=True)

    return answer_of(LLM(connection), ask)
