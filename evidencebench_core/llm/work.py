"""Work with a model, asked from code without an event loop: the command, the app, a notebook.

Work is an async function of an `LLM`. Many pieces run side by side.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import wait
from typing import Any, Final, Generic, TypeAlias, TypeVar

from anyio import CancelScope, Event, create_task_group, current_time, move_on_after
from anyio.from_thread import start_blocking_portal

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
    crew = _Crew(llm, iter(pieces), grace, beside)
    if stopped():
        return
    with start_blocking_portal() as portal:
        running = portal.start_task_soon(crew.run)
        try:
            while not running.done():
                yield portal.call(crew.ready)
                if stopped():
                    portal.call(crew.stop)
            yield crew.items
        finally:
            portal.call(crew.stop)
            wait([running])
        running.result()


class _Crew(Generic[_K, _T]):
    """Workers that share pieces of work, in one event loop."""

    def __init__(
        self,
        llm: LLM,
        pieces: Iterator[tuple[_K, Work[_T]]],
        grace: float,
        beside: Callable[[LLM], Coroutine[Any, Any, None]] | None,
    ) -> None:
        self._llm, self._pieces, self._grace, self._beside = llm, pieces, grace, beside
        self.items: Results[_K, _T] = []  # ready, and not yet taken
        self._fatal: list[EvidenceBenchError] = []
        self._scope: CancelScope | None = None  # of the event loop
        self._news = Event()

    async def run(self) -> None:
        """Work until no piece is left, or until the grace of what was stopped is over."""
        try:
            async with self._llm:
                with CancelScope() as self._scope:
                    async with create_task_group() as group:
                        if self._beside is not None:
                            group.start_soon(self._beside, self._llm)
                        async with create_task_group() as workers:
                            for _ in range(self._llm.limits.concurrency):
                                workers.start_soon(self._work)
                        group.cancel_scope.cancel()
        except BaseExceptionGroup as errors:
            error: BaseException = errors
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            raise error from errors
        finally:
            self._news.set()
        if self._fatal:
            raise self._fatal[0]

    async def ready(self) -> Results[_K, _T]:
        """What is ready in a moment, or at once."""
        with move_on_after(_LOOK):
            await self._news.wait()
        items, self.items, self._news = self.items, [], Event()
        return items

    async def stop(self) -> None:
        """Begin no further call, and give those under way their grace."""
        self._llm.gate.stop()
        if self._scope is not None:
            self._scope.deadline = min(self._scope.deadline, current_time() + self._grace)

    async def _work(self) -> None:
        """Take one piece after the other."""
        for key, work in self._pieces:
            if self._llm.gate.is_stopped:
                return
            try:
                result: _T | EvidenceBenchError = await work(self._llm)
            except LLMCancelledError:
                return
            except EvidenceBenchError as error:
                if getattr(error, "stops_run", isinstance(error, SettingError)):
                    self._fatal.append(error)
                    self._llm.gate.stop()
                    if not isinstance(error, BudgetReachedError):  # else what is under way may end
                        await self.stop()
                    return
                result = error
            self.items.append((key, result))
            self._news.set()


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

    with start_blocking_portal() as portal:
        portal.call(rehearsal)
    return values, forecast(llm.store, stage.calls.values(), dry.budget.spent.cached, times, batch)


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list. `LLMError` if it cannot be asked."""

    async def models() -> set[str]:
        http = HTTP(connection)
        try:
            return await http.models()
        finally:
            await http.close()

    with start_blocking_portal() as portal:
        return tuple(sorted(portal.call(models)))


def has_model(listed: Sequence[str], model: str) -> bool:
    """Whether a model is listed, be it with a tag or revision that need not be given."""
    return any(name == model or name.startswith((f"{model}:", f"{model}@")) for name in listed)


def one_word(connection: Connection, model: str) -> Answer:
    """The answer of a model to a question for one word; an `LLMError` if there is none."""
    question = Message("user", "Answer with the one word: ready")
    return answer_of(LLM(connection), lambda llm: llm.chat([question], model=model, max_tokens=16))
