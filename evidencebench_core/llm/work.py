"""Work with a model, asked from code without an event loop: the command, the app, a notebook.

Work is an async function of an `LLM`. Many pieces run side by side.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Final, Generic, TypeAlias, TypeVar

from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError, LLMCancelledError, SettingError
from evidencebench_core.llm.answers import Answer, Message
from evidencebench_core.llm.client import LLM
from evidencebench_core.llm.connection import Connection
from evidencebench_core.llm.forecast import Forecast, forecast
from evidencebench_core.llm.transport import HTTP, Rehearsal

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
    beside: Callable[[LLM], Coroutine[Any, Any, None]] | None = None,
) -> Iterator[Results[_K, _T]]:
    """Results of many pieces of work with their keys, in lists of what is ready, as they come; empty ones meanwhile.

    As many pieces are under way as calls may be, in a thread. Once ``stopped`` is true, or the iterator is closed, no
    call begins; those under way have ``grace`` seconds to end, and a piece that was cut short has no result. An error
    that every call would meet is raised after all that came before it. ``beside`` runs in the same loop meanwhile.
    """
    loop = asyncio.new_event_loop()
    crew = _Crew(llm, iter(pieces), grace, beside, loop)
    with (
        ThreadPoolExecutor(1, "evidencebench-llm") as pool,
        asyncio.Runner(loop_factory=lambda: loop) as runner,
    ):
        if stopped():
            crew.stop()
        running = pool.submit(runner.run, crew.run())
        try:
            is_over = False
            while not is_over:
                items = crew.ready_items()
                is_over = None in items
                yield [item for item in items if item is not None]
                if stopped():
                    crew.stop()
        finally:
            crew.stop()
            wait([running])
        running.result()


class _Crew(Generic[_K, _T]):
    """Workers that share pieces of work, in an event loop of a thread of its own."""

    def __init__(
        self,
        llm: LLM,
        pieces: Iterator[tuple[_K, Work[_T]]],
        grace: float,
        beside: Callable[[LLM], Coroutine[Any, Any, None]] | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._llm, self._pieces, self._grace, self._beside, self._loop = llm, pieces, grace, beside, loop
        self._ready = queue.SimpleQueue[
            tuple[_K, _T | EvidenceBenchError] | None
        ]()  # None: nothing more comes
        self._end = asyncio.Event()
        self._fatal: list[EvidenceBenchError] = []

    def stop(self) -> None:
        """Begin no further call; from any thread."""
        with suppress(RuntimeError):  # the loop is closed: all has ended
            self._loop.call_soon_threadsafe(self._end.set)

    def ready_items(self) -> list[tuple[_K, _T | EvidenceBenchError] | None]:
        """What is ready in a moment, or at once; for the thread that waits."""
        items = []
        with suppress(queue.Empty):
            items.append(self._ready.get(timeout=_LOOK))
            while True:
                items.append(self._ready.get_nowait())
        return items

    async def run(self) -> None:
        """Work until no piece is left, or until the grace of what was stopped is over."""
        try:
            async with self._llm:
                workers = (self._work() for _ in range(self._llm.limits.concurrency))
                tasks: list[asyncio.Future[Any]] = [
                    asyncio.gather(*workers),
                    asyncio.ensure_future(self._last_moments()),
                ]
                if self._beside is not None:
                    tasks.append(asyncio.ensure_future(self._beside(self._llm)))
                ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            for task in ended:
                task.result()
            if self._fatal:
                raise self._fatal[0]
        finally:
            self._ready.put(None)

    async def _work(self) -> None:
        """Take one piece after the other."""
        for key, work in self._pieces:
            if self._fatal or self._end.is_set():
                return
            try:
                self._ready.put((key, await work(self._llm)))
            except LLMCancelledError:
                return
            except EvidenceBenchError as error:
                if not getattr(error, "stops_run", isinstance(error, SettingError)):
                    self._ready.put((key, error))
                    continue
                self._fatal.append(error)
                self._llm.gate.stop()
                if not isinstance(error, BudgetReachedError):  # else what is under way may end
                    self._end.set()

    async def _last_moments(self) -> None:
        """End once the grace after a stop is over."""
        await self._end.wait()
        self._llm.gate.stop()
        await asyncio.sleep(self._grace)


def rehearse(
    llm: LLM, *pieces: Work[_T], times: float = 1.0, batch: bool = False
) -> tuple[list[_T | None], Forecast]:
    """The cost of pieces of work, what they have in common counted once; nothing is sent, nothing stored.

    What is not stored is answered as rehearsed. The result of a piece is there if every answer that it needs is in the
    store, else ``None``. The cost is that of so many ``times`` the pieces, by a ``batch`` or one by one.
    """
    values: list[_T | None] = []
    stage = Rehearsal()
    dry = LLM(llm.connection, llm.store, fresh=llm.fresh, transport=stage)

    async def rehearsal() -> None:
        async with dry:
            for work in pieces:
                n_before = stage.n_asked
                value = await work(dry)
                values.append(value if stage.n_asked == n_before else None)

    run_async(rehearsal())
    return values, forecast(llm.store, stage.calls.values(), dry.budget.spent.cached, times, batch)


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list. `LLMError` if it cannot be asked."""

    async def models() -> set[str]:
        http = HTTP(connection)
        try:
            return await http.models()
        finally:
            await http.close()

    return tuple(sorted(run_async(models())))


def has_model(listed: Sequence[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


def one_word(connection: Connection, model: str) -> Answer:
    """The answer of a model to a question for one word; an `LLMError` if there is none."""
    question = Message("user", "Answer with the one word: ready")
    return answer_of(LLM(connection), lambda llm: llm.chat([question], model=model, max_tokens=16))
