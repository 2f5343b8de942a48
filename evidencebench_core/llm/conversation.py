"""A piece of work with a model, written as a generator that knows neither clock nor network.

It yields a round of asks that do not need each other, is sent their replies in the same order, and returns its
result. Whoever drives it decides how the asks are answered: side by side by a server, from the store alone, by a
batch, or by what they are rehearsed with.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError, RetrieverError
from evidencebench_core.llm.budget import FIRST_GUESS
from evidencebench_core.llm.request import Answer, EmbeddingRequest, Reply, Request, estimated_tokens

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM

_K = TypeVar("_K")
_T = TypeVar("_T")

_Ready: TypeAlias = "queue.SimpleQueue[tuple[_K, _T | LLMError | RetrieverError] | None]"

OnStep: TypeAlias = Callable[[str, str | None], None]
"""Given a step and a piece of its answer as it comes; ``None``: the answer starts over."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a round.

    ``step`` says for people what it is for: ``"section 2 of 7"``; ``rehearsal`` is the answer that an estimate takes
    the model to give: one that asks for as many calls as there can be.
    """

    step: str
    request: Request
    rehearsal: str = ""


Conversation = Generator[Sequence[Ask], Sequence[Reply], _T]
"""An `LLMError` of a round is thrown into it; the other asks of the round are answered and kept all the same."""


def _next_round(conversation: Conversation[_T], replies: Sequence[Reply] | None) -> Sequence[Ask]:
    """The asks that follow these replies, or the first; `StopIteration` at the end."""
    errors = [one for one in replies or () if isinstance(one, BaseException)]
    if errors:  # One that ends the run goes first: the others may be its echo.
        return conversation.throw(min(errors, key=lambda error: not getattr(error, "stops_run", True)))
    return conversation.send(replies)  # type: ignore[arg-type]  # None at first


async def converse(
    llm: LLM, conversation: Conversation[_T], *, fresh: bool = False, on_step: OnStep | None = None
) -> _T:
    """Drive a conversation: the asks of a round side by side, one round after the other.

    With ``fresh`` the server is asked even where the store has an answer. An `LLMError` that the conversation does
    not handle is raised.
    """

    def reply(ask: Ask) -> Awaitable[Reply]:
        return llm.reply(ask.request, fresh=fresh, on_delta=on_step and partial(on_step, ask.step))

    replies: Sequence[Reply] | None = None
    with closing(conversation):
        while True:
            try:
                asks = _next_round(conversation, replies)
            except StopIteration as end:
                return cast("_T", end.value)
            replies = await asyncio.gather(*map(reply, asks), return_exceptions=True)


def result_of(conversation: Conversation[_T], reply: Callable[[Ask], Reply | LLMError | None]) -> _T | None:
    """The result of a conversation, every ask of a round replied to by a function; ``None`` once it has no reply."""
    replies: Sequence[Reply] | None = None
    with closing(conversation):
        while replies is None or not any(one is None for one in replies):
            try:
                replies = [reply(ask) for ask in _next_round(conversation, replies)]
            except StopIteration as end:
                return cast("_T", end.value)
    return None


# -- many conversations, for callers without a loop -----------------------------------------------


def answer_of(
    llm: LLM,
    conversation: Conversation[_T],
    *,
    fresh: bool = False,
    on_step: OnStep | None = None,
    stopped: Callable[[], bool] = lambda: False,
    grace: float = 30.0,
) -> _T:
    """The result of one conversation; the arguments are those of `results`. Stopped, it is an `LLMError`."""
    batches = results(llm, [((), conversation)], fresh=fresh, on_step=on_step, stopped=stopped, grace=grace)
    for _, result in itertools.chain.from_iterable(batches):
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
    cut short has no result. An error that every call would meet is raised, after all that came before it; calls
    under way as a cap is reached are within it, and end in their own time.
    """
    ready: _Ready[_K, _T] = queue.SimpleQueue()
    stop, fatal = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            asyncio.run(_drive(llm, conversations, ready, stop, grace, fresh=fresh, on_step=on_step))
        except BaseException as error:  # noqa: BLE001 - raised again below
            fatal.append(error)
        finally:
            ready.put(None)

    if stopped():
        stop.set()
    thread = threading.Thread(target=run, name="evidencebench-llm", daemon=True)
    thread.start()
    try:
        batch: list[tuple[_K, _T | LLMError | RetrieverError] | None] = []
        while None not in batch:
            batch = _ready(ready)
            yield [item for item in batch if item is not None]
            if stopped():
                stop.set()
        if fatal:
            raise fatal[0]
    finally:
        stop.set()
        thread.join()


def _ready(ready: queue.SimpleQueue[_K]) -> list[_K]:
    """All that is ready by now; if nothing is, what comes next, or nothing after a moment."""
    batch: list[_K] = []
    with suppress(queue.Empty):
        batch.append(ready.get(timeout=0.1))
        while True:
            batch.append(ready.get_nowait())
    return batch


async def _drive(
    llm: LLM,
    conversations: Iterable[tuple[_K, Conversation[_T]]],
    ready: _Ready[_K, _T],
    stop: threading.Event,
    grace: float,
    **how: Any,
) -> None:
    """Put every result into a queue; raise the error that every call would meet, after all have ended."""
    tasks, coming, fatal = set[asyncio.Task[None]](), iter(conversations), list[BaseException]()

    async def one(key: _K, conversation: Conversation[_T]) -> None:
        try:
            ready.put((key, await converse(llm, conversation, **how)))
        except LLMCancelledError:
            return
        except (LLMError, RetrieverError) as error:
            if not getattr(error, "stops_run", False):
                ready.put((key, error))
                return
            fatal.append(error)
            llm.stop()
            if not isinstance(error, BudgetReachedError):
                stop.set()

    async with llm:
        while not stop.is_set():
            room = 0 if fatal else llm.limits.concurrency - len(tasks)
            tasks |= {asyncio.create_task(one(*item)) for item in itertools.islice(coming, room)}
            if not tasks:
                break
            done, tasks = await asyncio.wait(tasks, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        llm.stop()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    if fatal:
        raise fatal[0]


# -- without a server -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Planned:
    """The calls still to be made. Tokens are estimates; answers in the store are ``cached`` and cost none.

    A cached answer is one to a chat, or the vector of one text.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Planned) -> Planned:
        return Planned(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def times(self, factor: float) -> Planned:
        """As much for another number of instances."""
        return Planned(*(round(figure * factor) for figure in astuple(self)))


def planned(
    llm: LLM, conversation: Conversation[object], fresh: bool = False, seen: set[object] | None = None
) -> Planned:
    """The cost of a conversation; nothing is sent.

    What the store does not know is taken to be answered as rehearsed. With ``fresh`` what is in the store is counted
    as asked again; what other conversations have counted is in ``seen``, and not counted again.
    """
    seen = set() if seen is None else seen
    total = Planned()

    def answered(ask: Ask) -> Reply:
        nonlocal total
        request = ask.request
        if isinstance(request, EmbeddingRequest):
            import numpy as np

            new = [text for text in dict.fromkeys(request.texts) if (request.model, text) not in seen]
            seen.update((request.model, text) for text in new)
            asked = new if fresh else llm.unknown_texts(EmbeddingRequest(request.model, tuple(new)))
            total += Planned(bool(asked), len(new) - len(asked), sum(map(estimated_tokens, asked)))
            return np.zeros((len(request.texts), 1), dtype=np.float32)
        known, key = None if fresh else llm.known(request), llm.key(request)
        if key not in seen:
            seen.add(key)
            most = min(FIRST_GUESS, request.max_tokens or FIRST_GUESS)
            total += Planned(cached=1) if known else Planned(1, 0, request.prompt_tokens, most)
        return known or Answer(ask.rehearsal)

    result_of(conversation, answered)
    return total


def stored(llm: LLM, conversation: Conversation[_T]) -> _T | None:
    """The result of a conversation if every answer it needs is in the store, else ``None``; nothing is sent."""
    return result_of(conversation, lambda ask: llm.known(ask.request))
