"""Work with a model, asked from code without an event loop: the command, the app, a notebook.

Work is an async function of an `LLM`. Many pieces run side by side.
"""

from __future__ import annotations

import asyncio
import math
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeVar

from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError, LLMCancelledError, LLMError
from evidencebench_core.llm.answers import Answer, Message
from evidencebench_core.llm.budget import Spending, answer_guess
from evidencebench_core.llm.client import LLM, Call
from evidencebench_core.llm.connection import Connection

_K = TypeVar("_K")
_T = TypeVar("_T")

Work: TypeAlias = Callable[[LLM], Awaitable[_T]]
Results: TypeAlias = list[tuple[_K, _T | EvidenceBenchError]]

_LOOK: Final = 0.1  # seconds between looks whether the work was stopped


def run_async(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine, also where a loop is running, as in a notebook."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def answer_of(
    llm: LLM, work: Work[_T], *, stopped: Callable[[], bool] = lambda: False, grace: float = 30.0
) -> _T:
    """The result of one piece of work. Stopped, it raises `LLMCancelledError`."""
    for ready in results(llm, [("", work)], stopped=stopped, grace=grace):
        for _, result in ready:
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
    ready = queue.SimpleQueue[tuple[_K, _T | EvidenceBenchError] | None]()  # None: nothing more comes
    is_over = threading.Event()
    coming, fatal = iter(pieces), list[LLMError]()

    async def worker() -> None:
        for key, work in coming:  # which all workers share
            if is_over.is_set() or fatal:
                return
            try:
                ready.put((key, await work(llm)))
            except LLMCancelledError:
                return
            except EvidenceBenchError as error:
                if not (isinstance(error, LLMError) and error.stops_run):
                    ready.put((key, error))
                    continue
                fatal.append(error)
                llm.gate.stop()
                if not isinstance(error, BudgetReachedError):  # else what is under way may end
                    is_over.set()

    async def work_all() -> None:
        async with llm:
            workers = asyncio.gather(*(worker() for _ in range(n_at_once or llm.limits.concurrency)))
            helper = asyncio.ensure_future(beside() if beside else asyncio.Event().wait())
            tasks: list[asyncio.Future[Any]] = [workers, helper]
            deadline = math.inf
            while not any(task.done() for task in tasks) and time.monotonic() < deadline:
                if is_over.is_set():
                    llm.gate.stop()
                    deadline = min(deadline, time.monotonic() + grace)
                await asyncio.wait(tasks, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
            ended = [task for task in tasks if task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for error in (*fatal, *(task.exception() for task in ended)):
            if error:
                raise error

    if stopped():
        is_over.set()
    with ThreadPoolExecutor(1, "evidencebench-llm") as pool:
        running = pool.submit(asyncio.run, work_all())
        running.add_done_callback(lambda _: ready.put(None))
        try:
            items: list[tuple[_K, _T | EvidenceBenchError] | None] = []
            while None not in items:
                items = _waited_for(ready)
                yield [item for item in items if item is not None]
                if stopped():
                    is_over.set()
        finally:
            is_over.set()
        running.result()


def _waited_for(ready: queue.SimpleQueue[_T]) -> list[_T]:
    """What is ready in a moment, or at once."""
    items: list[_T] = []
    with suppress(queue.Empty):
        items.append(ready.get(timeout=_LOOK))
        while True:
            items.append(ready.get_nowait())
    return items


def rehearse(llm: LLM, *pieces: Work[_T]) -> tuple[list[_T | None], Spending]:
    """The cost of pieces of work, what they have in common counted once; nothing is sent, nothing stored.

    What is not stored is answered as rehearsed. The result of a piece is there if every answer that it needs is in the
    store, else ``None``.
    """
    values: list[_T | None] = []
    calls: list[Call] = []

    async def transport(call: Call) -> Answer:
        calls.append(call)
        return Answer(call.rehearsal)

    async def rehearsal() -> None:
        async with dry:
            for work in pieces:
                n_before = len(calls)
                value = await work(dry)
                values.append(value if len(calls) == n_before else None)

    dry = LLM(llm.connection, llm.store, fresh=llm.fresh)
    dry.transport = transport
    run_async(rehearsal())
    for call in {call.key: call for call in calls}.values():
        dry.budget.count(Spending(1, 0, call.prompt_tokens, answer_guess(call.max_tokens)))
    return values, dry.budget.spent


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list. `LLMError` if it cannot be asked."""

    async def models() -> set[str]:
        import openai

        async with LLM(connection) as llm:
            client = llm.client().with_options(max_retries=1, timeout=20.0)
            try:
                return {connection.without_keys(model.id) async for model in client.models.list()}
            except openai.APIError as error:
                if getattr(error, "status_code", 0) in (404, 405):
                    return set()
                raise llm.failure(error) from error
            except (AttributeError, TypeError, ValueError):  # some other page
                return set()

    return tuple(sorted(run_async(models())))


def has_model(listed: Sequence[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


def one_word(connection: Connection, model: str) -> Answer:
    """The answer of a model to a question for one word; an `LLMError` if there is none."""
    question = Message("user", "Answer with the one word: ready")
    return answer_of(LLM(connection), lambda llm: llm.chat([question], model=model, max_tokens=16))
