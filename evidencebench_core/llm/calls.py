"""One call: attempts, waits and fields left out, until there is a result or a reason why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from evidencebench_core.errors import (
    LLMAnswerError,
    LLMCancelledError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
)
from evidencebench_core.llm.budget import Budget, Reservation
from evidencebench_core.llm.connection import Connection
from evidencebench_core.llm.limiter import GivenUp, Limiter, Slot, Stopped, Timeouts
from evidencebench_core.llm.replies import Failure, Unusable, failure_of, has_model, model_names
from evidencebench_core.llm.request import json_bytes
from evidencebench_core.llm.sender import ConnectionBroken, ConnectionUnusable, RawReply, Sender
from evidencebench_core.llm.verdict import FieldsTaken, Verdict, verdict

_T = TypeVar("_T")

_BAD_ANSWERS: Final = 3  # replies that are no answer, after which the call is given up
_LOST_IN_ROW: Final = 3  # calls given up with no success between, after which the run is
_AWAY: Final = frozenset({0, 502, 503, 520, 521, 522, 523, 529})  # no matter what is asked
_STREAMED: Final = ("stream", "stream_options")
_LISTING: Final = Timeouts(20.0, 20.0)
_UNREACHED: Final = "Check the address, the network and whether the server runs."
_UNUSABLE: Final = "Set OPENAI_BASE_URL and OPENAI_API_KEY, or type them on the Models page of the app."


@dataclass(frozen=True, slots=True)
class Task(Generic[_T]):
    """A request on its way."""

    path: str
    body: Mapping[str, Any]
    tokens: int  # about how many it takes, prompt and answer
    read: Callable[[Mapping[str, str], bytes], _T | Failure]
    reserve: Callable[[], Reservation]  # takes what an attempt costs from the budget
    filtered: _T | None = None  # the result where a content filter is in the way; without it that is an error


@dataclass(frozen=True, slots=True)
class Done(Generic[_T]):
    """A result, its cost to be settled, the seconds of its attempt, and how it came."""

    result: _T
    reservation: Reservation
    slot: Slot
    seconds: float
    attempts: int
    left_out: tuple[str, ...]


class _Again(Exception):  # noqa: N818 - never leaves this file
    """The attempt failed, and another may not."""

    def __init__(
        self, reason: str, said: Verdict, status: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.said, self.status, self.headers = reason, said, status, headers or {}


class _FilteredError(LLMRejectedError):
    """A content filter is in the way."""


@dataclass(slots=True)
class _State:
    """How far a call has come: the next body, what is left of its seconds, what went wrong."""

    body: Mapping[str, Any]
    attempts: int
    timeouts: Timeouts
    left: float = 0.0
    attempt: int = 0
    n_bad: int = 0
    status: int = 0

    def __post_init__(self) -> None:
        self.left = self.timeouts.total


_NO_ANSWER: Final = Verdict("again", "Ask again, or check the server.", perhaps_billed=True)


class Caller:
    """Sends requests to one server, within its limits, and tries again; for one event loop at a time."""

    def __init__(
        self, connection: Connection, limiter: Limiter, timeouts: Timeouts, budget: Budget, sender: Sender
    ) -> None:
        self.connection, self.limiter, self.timeouts = connection, limiter, timeouts
        self._budget, self.sender = budget, sender
        self._fields = FieldsTaken()
        self._answered: set[str] = set()  # models

    async def call(
        self,
        task: Task[_T],
        on_event: Callable[[str], None] | None = None,
        restarted: Callable[[], None] | None = None,
        *,
        attempts: int | None = None,
        timeouts: Timeouts | None = None,
    ) -> Done[_T]:
        """The result of a task, within the usual limits or others."""
        state = _State(task.body, attempts or self.limiter.limits.attempts, timeouts or self.timeouts)
        model = str(task.body.get("model", ""))
        place = f"{model} at {self.connection.address}"
        while True:
            state.attempt += 1
            try:
                done = await self._attempt(task, state, model, place, on_event)
            except _Again as again:
                if restarted is not None:
                    restarted()
                if again.said.action == "without":
                    state.attempt -= 1
                    self._fields.leave_out(model, again.said.field)
                elif again.said.action == "wait" and state.attempts > 1:
                    state.attempt -= 1
                else:
                    await self._before_next(again, state, model, place)
            else:
                self._answered.add(model)
                return done

    @contextmanager
    def counted(self, model: str) -> Iterator[None]:
        """Errors that leave the block may be shown, and count as failed calls."""
        place = f"{model} at {self.connection.address}"
        try:
            try:
                yield
            except GivenUp as end:
                remedy = "Check the server, then start again: what is answered is kept."
                raise self.error(LLMUnreachableError, place, str(end), remedy, stops_run=True) from None
            except Stopped:
                remedy = "Start again: what is answered is kept."
                raise self.error(LLMCancelledError, place, "the call was cancelled", remedy, True) from None
        except LLMError as error:
            if not error.stops_run:  # the error of a run is met by all calls that wait, and told once
                self._budget.count_failed()
            raise

    async def models(self) -> tuple[str, ...]:
        """The models that the server lists, asked for once, whatever the limits; empty where it has no list."""
        place = self.connection.address
        try:
            reply = await self.sender.send("/models", None, timeouts=_LISTING)
            if reply.status < 300:
                return model_names(reply.headers, reply.body)
        except ConnectionBroken as broken:
            kind = LLMRejectedError if broken.for_good else LLMUnreachableError
            raise self.error(kind, place, broken.reason, _remedy(broken), broken.for_good) from broken
        except Unusable:
            return ()
        if reply.status in (404, 405):
            return ()
        refusal = self._refusal(reply, failure_of(reply.body), frozenset(), place)
        if isinstance(refusal, _Again):
            raise self.error(LLMUnreachableError, place, refusal.reason, refusal.said.remedy)
        raise refusal

    def error(
        self, kind: type[LLMError], place: str, problem: str, remedy: str, stops_run: bool = False
    ) -> LLMError:
        """An error with all keys struck out."""
        scrubbed = self.connection.scrubbed
        return kind(scrubbed(place), scrubbed(problem).rstrip("."), scrubbed(remedy), stops_run)

    # -- one attempt ---------------------------------------------------------------------------

    async def _attempt(
        self,
        task: Task[_T],
        state: _State,
        model: str,
        place: str,
        on_event: Callable[[str], None] | None,
    ) -> Done[_T]:
        fields, left_out = self._fields.fitting(state.body, model)
        now = asyncio.get_running_loop().time
        async with self.limiter.slot(task.tokens) as slot:
            # Not before its turn: what waits takes nothing from a cap that calls before it could use up.
            reservation, began = task.reserve(), now()
            done, billed = None, True  # if it is cut off
            try:
                reply = await self._reply(task.path, json_bytes(fields), state, on_event)
                result = self._result(task, reply, frozenset(fields), place)
                done = Done(result, reservation, slot, now() - began, state.attempt, left_out)
                self.limiter.success(reply.headers)
                return done
            except _Again as again:
                billed = again.said.perhaps_billed
                self._report(slot, again)
                raise
            except LLMError as error:
                billed = False
                if not error.stops_run:
                    self.limiter.success()
                raise
            finally:
                state.left -= now() - began
                if done is None:
                    self._budget.release(reservation, billed)

    async def _reply(
        self, path: str, content: bytes, state: _State, on_event: Callable[[str], None] | None
    ) -> RawReply:
        timeouts = Timeouts(min(state.timeouts.first_byte, state.left), state.left)
        try:
            return await self.sender.send(path, content, timeouts=timeouts, on_event=on_event)
        except ConnectionBroken as broken:
            if broken.for_good and not self.limiter.answered:
                place = self.connection.address
                raise self.error(LLMRejectedError, place, broken.reason, _remedy(broken), True) from broken
            said = Verdict("again", _UNREACHED, perhaps_billed=broken.perhaps_billed)
            raise _Again(broken.reason, said) from broken
        except Unusable as unusable:
            raise _Again(f"the reply is no answer: {unusable}", _NO_ANSWER, 200) from unusable

    def _result(self, task: Task[_T], reply: RawReply, sent: frozenset[str], place: str) -> _T:
        if reply.status >= 300:
            failure = failure_of(reply.body)
        else:
            try:
                result = task.read(reply.headers, reply.body)
            except Unusable as unusable:
                raise _Again(f"the reply is no answer: {unusable}", _NO_ANSWER, 200) from unusable
            if not isinstance(result, Failure):
                return result
            failure = result
        refusal = self._refusal(reply, failure, sent, place)
        if isinstance(refusal, _FilteredError) and task.filtered is not None:
            return task.filtered
        raise refusal

    def _refusal(
        self, reply: RawReply, failure: Failure, sent: frozenset[str], place: str
    ) -> _Again | LLMError:
        status = reply.status if reply.status >= 300 else failure.status or 500
        said = verdict(status, failure, sent)
        if status == 503 and "retry-after" in reply.headers:
            said = replace(said, action="wait")
        words = failure.message
        if status < 400:
            words = f"go to {reply.headers.get('location', 'elsewhere')}"
        reason = f"answers {status} ({words})"
        if said.action in ("again", "wait", "without"):
            return _Again(reason, said, status, reply.headers)
        if said.action == "filtered":
            return self.error(_FilteredError, place, reason, said.remedy)
        return self.error(LLMRejectedError, place, reason, said.remedy, said.action == "end_run")

    def _report(self, slot: Slot, again: _Again) -> None:
        """Tell the limiter of a failure; a server that answers, whatever it says, is there."""
        if again.said.action == "wait":
            self.limiter.hold(slot, again.headers, self.connection.scrubbed(again.reason))
        elif again.said.action != "again":
            self.limiter.success()
        elif again.status != 200:
            self.limiter.failure(slot, self.connection.scrubbed(again.reason))

    async def _before_next(self, again: _Again, state: _State, model: str, place: str) -> None:
        """Wait for the next attempt, or give the call up."""
        attempt, last = state.attempt, state.attempt >= state.attempts
        tries = f" (tried {attempt} times)" if attempt > 1 else ""
        if again.status == 500 and (state.status == 500 or last):
            await self._check_listed(model, again, place)
        state.status = again.status
        if again.status == 200:
            state.n_bad += 1
            if state.n_bad >= min(_BAD_ANSWERS, state.attempts):
                raise self.error(LLMAnswerError, place, again.reason + tries, again.said.remedy)
            state.body = {name: value for name, value in state.body.items() if name not in _STREAMED}
        if state.left <= 0:
            problem = f"{again.reason}; the {state.timeouts.total:,.0f} s for a call are used up"
            raise self.error(LLMUnreachableError, place, problem, again.said.remedy)
        # Where the server is gone it is tried on, by this call or others, and the limiter says when to give up.
        gone = self.limiter.gone and (again.status in _AWAY or self.limiter.busy)
        if last and (state.attempts == 1 or not gone):
            self.limiter.lost_in_row += 1
            ends = self.limiter.lost_in_row >= _LOST_IN_ROW
            raise self.error(LLMUnreachableError, place, again.reason + tries, again.said.remedy, ends)
        await self.limiter.pause(self.limiter.wait_after(attempt, again.headers))

    async def _check_listed(self, model: str, again: _Again, place: str) -> None:
        """Give up where a server fails on a model that it has never answered with and does not list.

        ``transformers serve`` says 500 to every wrong name.
        """
        if model in self._answered:
            return
        try:
            listed = await self.models()
        except LLMError:
            return
        if listed and not has_model(listed, model):
            names = f"{', '.join(listed[:5])}{', …' * (len(listed) > 5)}"
            problem = f"{again.reason}, and it lists no model of that name"
            remedy = f"Check the model's name; listed are: {names}"
            raise self.error(LLMRejectedError, place, problem, remedy, stops_run=True) from None


def _remedy(broken: ConnectionBroken) -> str:
    return _UNUSABLE if isinstance(broken, ConnectionUnusable) else _UNREACHED
