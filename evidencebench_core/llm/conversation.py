"""A piece of work with a model, written as a generator that knows neither clock nor network.

It yields a round of asks that do not need each other, is sent their replies in the same order, and returns its
result. Whoever drives it decides how the asks are answered: side by side by a server, from the store alone, by a
batch, or by what they are rehearsed with.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from evidencebench_core.errors import LLMCancelledError, LLMError, RetrieverError
from evidencebench_core.llm.request import Reply, Request

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

_K = TypeVar("_K")
_T = TypeVar("_T")


OnStep = Callable[[str, str | None], None]
"""Given a step and a piece of its answer as it comes; ``None``: the answer starts over."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a round.

    Attributes
    ----------
    step : str
        What it is for, for people: ``"section 2 of 7"``.
    request : ChatRequest or EmbeddingRequest
    rehearsal : str
        The answer that an estimate takes the model to give: one that asks for as many calls as there can be.
    """

    step: str
    request: Request
    rehearsal: str = ""


Conversation = Generator[Sequence[Ask], Sequence[Reply], _T]
"""An `LLMError` of a round is thrown into it; the other asks of the round are answered and kept all the same."""


async def converse(
    llm: LLM,
    conversation: Conversation[_T],
    *,
    fresh: bool = False,
    on_step: OnStep | None = None,
) -> _T:
    """Drive a conversation: the asks of a round side by side, one round after the other.

    Parameters
    ----------
    llm : LLM
    conversation : Conversation
    fresh : bool
        Ask even where the store has an answer.
    on_step : callable, optional

    Raises
    ------
    LLMError
        That the conversation does not handle.
    """

    def follow(ask: Ask) -> Callable[[str | None], None] | None:
        return None if on_step is None else lambda piece: on_step(ask.step, piece)

    try:
        asks = next(conversation)
        while True:
            replies = await asyncio.gather(
                *(llm.reply(ask.request, fresh=fresh, on_delta=follow(ask)) for ask in asks),
                return_exceptions=True,
            )
            errors = [one for one in replies if isinstance(one, BaseException)]
            # One that ends the run goes first: the others may be its echo.
            errors.sort(key=lambda error: not getattr(error, "stops_run", True))
            answers = cast("list[Reply]", replies)
            asks = conversation.throw(errors[0]) if errors else conversation.send(answers)
    except StopIteration as end:
        result: _T = end.value
        return result
    finally:
        conversation.close()


def answer_of(
    llm: LLM,
    conversation: Conversation[_T],
    *,
    fresh: bool = False,
    on_step: OnStep | None = None,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = 30.0,
) -> _T:
    """The result of one conversation, for callers without a loop; the arguments are those of `results`.

    Raises
    ------
    LLMError
        Also if it was stopped.
    """
    one = [((), conversation)]
    for batch in results(llm, one, fresh=fresh, on_step=on_step, stopped=stopped, grace=grace):
        for _, result in batch:
            if isinstance(result, (LLMError, RetrieverError)):
                raise result
            return result
    raise LLMCancelledError("the call", "was cancelled", "Start it again: what is answered is kept.", True)


def results(
    llm: LLM,
    conversations: Iterable[tuple[_K, Conversation[_T]]],
    *,
    fresh: bool = False,
    on_step: OnStep | None = None,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = 30.0,
) -> Iterator[list[tuple[_K, _T | LLMError | RetrieverError]]]:
    """Results of many conversations with their keys, in batches of what is ready, as they come.

    A batch is empty where nothing was ready for a moment, so that whoever reads can look at the clock.

    So many conversations are under way at once as the server is asked calls at once; the calls of all share one
    limit. The loop runs in a thread of its own. Once ``stopped`` says so, or whoever reads goes away, no call
    begins; those under way have ``grace`` seconds to end, and their answers are kept. A conversation that was
    cut short has no result. An error that every call would meet is raised, after all that came before it.

    Yields
    ------
    list of (key, result or LLMError or RetrieverError)
    """
    loop = _Loop(llm, iter(conversations), fresh, on_step, grace)
    if stopped():
        loop.stop.set()
    thread = threading.Thread(target=loop.run, name="evidencebench-llm", daemon=True)
    thread.start()
    try:
        ended = False
        while not ended:
            if stopped():
                loop.stop.set()
            batch = _batch(loop.ready)
            ended = None in batch
            yield [item for item in batch if item is not None]
        if loop.fatal:
            raise loop.fatal[0]
    finally:
        loop.stop.set()
        thread.join()


class _Loop(Generic[_K, _T]):
    """The event loop of `results`, in a thread of its own."""

    def __init__(
        self,
        llm: LLM,
        conversations: Iterator[tuple[_K, Conversation[_T]]],
        fresh: bool,
        on_step: OnStep | None,
        grace: float,
    ) -> None:
        self.llm, self.conversations, self.fresh = llm, conversations, fresh
        self.on_step, self.grace = on_step, grace
        self.ready: queue.SimpleQueue[tuple[_K, _T | LLMError | RetrieverError] | None] = queue.SimpleQueue()
        self.stop = threading.Event()
        self.fatal: list[BaseException] = []

    def run(self) -> None:
        try:
            asyncio.run(self._all())
        except BaseException as error:  # noqa: BLE001 - raised again by the reader
            self.fatal.append(error)
        finally:
            self.ready.put(None)

    async def _all(self) -> None:
        tasks, ended = set[asyncio.Task[None]](), False
        async with self.llm:
            while not self.stop.is_set():
                while not ended and len(tasks) < self.llm.concurrency:
                    if (item := next(self.conversations, None)) is None:
                        ended = True
                    else:
                        tasks.add(asyncio.create_task(self._one(*item)))
                if not tasks:
                    return
                done, tasks = await asyncio.wait(tasks, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            self.llm.stop()
            if tasks:
                _, late = await asyncio.wait(tasks, timeout=self.grace)
                for task in late:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _one(self, key: _K, conversation: Conversation[_T]) -> None:
        try:
            result = await converse(self.llm, conversation, fresh=self.fresh, on_step=self.on_step)
        except LLMCancelledError:
            return
        except (LLMError, RetrieverError) as error:
            if not getattr(error, "stops_run", False):
                self.ready.put((key, error))
                return
            self.fatal.append(error)
            self.stop.set()
        else:
            self.ready.put((key, result))


def _batch(ready: queue.SimpleQueue[_K]) -> list[_K]:
    """All that is ready by now; if nothing is, what comes next, or nothing after a moment."""
    batch: list[_K] = []
    with suppress(queue.Empty):
        batch.append(ready.get(timeout=0.1))
        while True:
            batch.append(ready.get_nowait())
    return batch
