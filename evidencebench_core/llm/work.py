"""Work with a model, asked from code without an event loop: the command, the app, a notebook.

Work is an async function of an `LLM`. Many pieces run side by side.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from evidencebench_core.errors import BudgetReachedError, EvidenceBenchError, LLMCancelledError
from evidencebench_core.llm.answers import Answer, Message, estimated_tokens
from evidencebench_core.llm.budget import FIRST_GUESS, Spending
from evidencebench_core.llm.client import LLM, Call, embedding_keys
from evidencebench_core.llm.connection import Connection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_K = TypeVar("_K")
_T = TypeVar("_T")

Work: TypeAlias = Callable[[LLM], Awaitable[_T]]
Results: TypeAlias = list[tuple[_K, _T | EvidenceBenchError]]

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

    As many pieces are under way as calls may be (``n_at_once``: so many). Once ``stopped`` is true, or the iterator is
    closed, no call begins; those under way have ``grace`` seconds to end, and a piece that was cut short has no result.
    An error that every call would meet is raised after all that came before it. ``beside`` runs in the same loop
    meanwhile. The loop has a thread of its own, and runs only while the next list is waited for.
    """
    driver: _Driver[_K, _T] = _Driver(llm)
    coming, room = iter(pieces), n_at_once or llm.limits.concurrency
    fatal: EvidenceBenchError | None = None
    deadline = math.inf
    with ThreadPoolExecutor(1, "evidencebench-llm") as pool:
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        pool.submit(runner.run, driver.begin(beside)).result()
        try:
            while time.monotonic() < deadline:
                is_over = stopped() or not (fatal is None or isinstance(fatal, BudgetReachedError))
                if is_over and deadline == math.inf:
                    llm.stop()
                    deadline = time.monotonic() + grace
                new = [] if is_over or fatal else list(itertools.islice(coming, room - len(driver.tasks)))
                if not (new or driver.tasks):
                    break
                ready: Results[_K, _T] = []
                for key, result in pool.submit(runner.run, driver.step(new)).result():
                    if not getattr(result, "stops_run", False):
                        ready.append((key, result))
                    elif not isinstance(result, LLMCancelledError):
                        fatal = fatal or cast("EvidenceBenchError", result)
                        llm.stop()
                yield ready
        finally:
            seconds = min(grace, deadline - time.monotonic())
            pool.submit(runner.run, driver.end(seconds)).result()
            pool.submit(runner.close).result()
    if fatal is not None:
        raise fatal


class _Driver(Generic[_K, _T]):
    """The pieces of work under way, within one event loop."""

    def __init__(self, llm: LLM) -> None:
        self.tasks: dict[asyncio.Task[_T | EvidenceBenchError], _K] = {}
        self._llm = llm
        self._beside: list[asyncio.Task[None]] = []

    async def begin(self, beside: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        """Open the client, and begin what runs beside the pieces."""
        await self._llm.__aenter__()
        if beside is not None:
            self._beside.append(asyncio.create_task(beside()))

    async def step(self, new: Sequence[tuple[_K, Work[_T]]]) -> Results[_K, _T]:
        """Begin pieces, and wait for any; what is ready after a moment."""
        for key, work in new:
            self.tasks[asyncio.create_task(self._result(work))] = key
        waiting = (*self.tasks, *self._beside)
        done, _ = await asyncio.wait(waiting, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
        for task in done.intersection(self._beside):
            task.result()
        return [(self.tasks.pop(task), task.result()) for task in tuple(self.tasks) if task in done]

    async def _result(self, work: Work[_T]) -> _T | EvidenceBenchError:
        try:
            return await work(self._llm)
        except EvidenceBenchError as error:
            return error

    async def end(self, seconds: float) -> None:
        """Let what is under way end within so many seconds, and cancel the rest."""
        self._llm.stop()
        if self.tasks and seconds > 0:
            await asyncio.wait(self.tasks, timeout=seconds)
        tasks = (*self.tasks, *self._beside)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._llm.__aexit__()


# -- without a server ------------------------------------------------------------------------------


class DryRun(LLM):
    """Counts what a server would be asked; sends and stores nothing. What is not stored is answered as rehearsed."""

    def __init__(self, llm: LLM) -> None:
        super().__init__(llm.connection, llm.store, fresh=llm.fresh)
        self.n_rehearsed = 0
        self._seen: set[str] = set()
        self.transport = self._rehearse

    async def _rehearse(self, call: Call) -> Answer:
        most = min(FIRST_GUESS, call.max_tokens or FIRST_GUESS)
        self._count(call.key, call.prompt_tokens, most)
        return Answer(call.rehearsal)

    async def embed(self, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        keys = embedding_keys(model, texts)
        stored = self.answers.get(keys.values())
        missing = [text for text, key in keys.items() if key not in stored]
        if not missing:
            return await super().embed(model, texts)
        self._count(keys[missing[0]], sum(map(estimated_tokens, missing)), 0)
        return np.zeros((len(texts), 1), dtype=np.float32)

    def _count(self, key: str, prompt_tokens: int, completion_tokens: int) -> None:
        self.n_rehearsed += 1
        if key not in self._seen:
            self._seen.add(key)
            self.budget.count(Spending(1, 0, 0, prompt_tokens, completion_tokens))


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
