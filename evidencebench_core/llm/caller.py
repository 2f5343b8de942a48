"""One call: attempts, waits and fields left out, until there is an answer or a reason why not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeVar

from evidencebench_core.errors import (
    LLMAnswerError,
    LLMCancelledError,
    LLMError,
    LLMRejectedError,
    LLMUnreachableError,
)
from evidencebench_core.llm.connection import Connection
from evidencebench_core.llm.fields import FieldsTaken
from evidencebench_core.llm.listing import LISTING, has_model, read_models
from evidencebench_core.llm.policy import Clock, RetryPolicy, wait_asked_for
from evidencebench_core.llm.replies import Failure, Unusable, bounded, failure_of
from evidencebench_core.llm.request import json_bytes
from evidencebench_core.llm.route import ConnectionBroken, route_of
from evidencebench_core.llm.transport import Response, Transport
from evidencebench_core.llm.verdict import verdict

Result = TypeVar("Result")
Reader = Callable[[Response, "Pieces"], "Result | Failure"]
Pieces = Iterator[bytes]

_ERROR_PAGE: Final = 64 << 10  # bytes of an error page that are read
_BAD_ANSWERS: Final = 2  # replies that are no answer, after which the call is given up


class _Again(Exception):  # noqa: N818 - never leaves this file
    """The attempt failed, and another may not."""

    def __init__(
        self, reason: str, remedy: str, after: float | None = None, bad_answer: bool = False, status: int = 0
    ) -> None:
        super().__init__(reason)
        self.reason, self.remedy, self.after, self.bad_answer = reason, remedy, after, bad_answer
        self.status = status


class _Without(Exception):  # noqa: N818 - never leaves this file
    """The server does not take a field."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class Caller:
    """Sends requests to one server and tries again; thread-safe."""

    def __init__(self, connection: Connection, policy: RetryPolicy, clock: Clock) -> None:
        self.connection, self.policy, self.clock = connection, policy, clock
        self._transport: Transport | None = None
        self._lock = threading.Lock()
        self._fields = FieldsTaken()
        self._answered: set[str] = set()  # models
        self.cancelled = threading.Event()

    def close(self) -> None:
        """End waits and calls; the next ones fail at once."""
        self.cancelled.set()
        with self._lock:
            if self._transport is not None:
                self._transport.close()

    def wait(self, seconds: float) -> None:
        """Wait; a cancel ends it."""
        if self.clock.sleep is not None:
            self.clock.sleep(seconds)
        elif seconds > 0:
            self.cancelled.wait(seconds)
        if self.cancelled.is_set():
            raise self._cancelled()

    def call(
        self,
        path: str,
        body: Mapping[str, Any] | None,
        read: Reader[Result],
        *,
        policy: RetryPolicy | None = None,
        largest: int | None = None,
        content: bytes | None = None,
        restarted: Callable[[], None] | None = None,
    ) -> tuple[Result, float, int, tuple[str, ...]]:
        """The result, the seconds of its attempt, how many attempts there were, and the fields left out."""
        limits = policy or self.policy
        deadline = self.clock.monotonic() + limits.total_seconds
        place = self._place(body)
        model, given = str((body or {}).get("model", "")), body
        attempt = bad = status = 0
        while True:
            attempt += 1
            sent, left_out = (None, ()) if body is None else self._fields.fitting(body, model)
            began = self.clock.monotonic()
            try:
                data = content if content and sent is given else None if sent is None else json_bytes(sent)
                result = self._attempt(
                    path, sent, data, read, deadline, limits, largest or limits.largest_answer
                )
            except _Without as without:
                attempt -= 1
                self._fields.leave_out(model, without.field)
            except _Again as again:
                bad += again.bad_answer
                if restarted is not None:
                    restarted()
                if bad >= _BAD_ANSWERS:
                    raise self.error(LLMAnswerError, place, again.reason, again.remedy) from None
                if again.bad_answer:
                    body = _unstreamed(body)
                if again.status == 500 and (status == 500 or attempt >= limits.attempts):
                    self._check_listed(model, again, place)
                status = again.status
                self._before_next(again, attempt, deadline, limits, place)
            else:
                self._answered.add(model)
                return result, self.clock.monotonic() - began, attempt, left_out

    def _check_listed(self, model: str, again: _Again, place: str) -> None:
        """Give up where a server fails on a model that it has never answered with and does not list.

        ``transformers serve`` says 500 to every wrong name.
        """
        if not model or model in self._answered:
            return
        try:
            listed, *_ = self.call("/models", None, read_models, policy=LISTING)
        except LLMCancelledError:
            raise
        except LLMError:
            return
        if listed and not has_model(listed, model):
            raise self.error(
                LLMRejectedError,
                place,
                f"{again.reason}, and it lists no model of that name",
                f"Check the model's name; listed are: {', '.join(listed[:5])}{', …' * (len(listed) > 5)}",
                stops_run=True,
            ) from None

    def _before_next(
        self, again: _Again, attempt: int, deadline: float, limits: RetryPolicy, place: str
    ) -> None:
        if self.cancelled.is_set():
            raise self._cancelled()
        if attempt >= limits.attempts:
            tries = f" (tried {attempt} times)" if attempt > 1 else ""
            raise self.error(LLMUnreachableError, place, again.reason + tries, again.remedy) from None
        wait = limits.wait(attempt, self.clock.chance())
        if again.after is not None:
            wait = max(again.after, wait if again.after == 0 else 0.0)
        if self.clock.monotonic() + wait >= deadline:
            asked = f", and asks to wait {again.after:,.0f} s" if again.after else ""
            problem = f"{again.reason}{asked}; the {limits.total_seconds:,.0f} s for a call are used up"
            raise self.error(LLMUnreachableError, place, problem, again.remedy) from None
        self.wait(wait)

    def _attempt(
        self,
        path: str,
        body: Mapping[str, Any] | None,
        data: bytes | None,
        read: Reader[Result],
        deadline: float,
        limits: RetryPolicy,
        largest: int,
    ) -> Result:
        if self.cancelled.is_set():
            raise self._cancelled()
        sent = frozenset(body or ())
        try:
            transport = self._opened()
            with transport.exchange(path, data, deadline, limits.stall_seconds) as response:
                if response.status >= 300:
                    page = b"".join(bounded(response.pieces, _ERROR_PAGE, cut=True))
                    raise self._judged(response.status, failure_of(page), response.headers, sent, body)
                result = read(response, bounded(response.pieces, largest))
        except ConnectionBroken as broken:
            if self.cancelled.is_set():
                raise self._cancelled() from broken
            remedy = "Check the address, the network and whether the server runs."
            if broken.for_good:
                raise self.error(
                    LLMRejectedError, self._place(body), broken.reason, remedy, stops_run=True
                ) from broken
            raise _Again(broken.reason, remedy) from broken
        except Unusable as unusable:
            raise _Again(
                f"the reply is no answer: {unusable}", "Ask again, or check the server.", bad_answer=True
            ) from unusable
        if isinstance(result, Failure):
            raise self._judged(result.status or 500, result, response.headers, sent, body)
        return result

    def _judged(
        self,
        status: int,
        failure: Failure,
        headers: Mapping[str, str],
        sent: frozenset[str],
        body: Mapping[str, Any] | None,
    ) -> Exception:
        said = verdict(status, failure, sent)
        if said.action == "without":
            return _Without(said.field)
        words = failure.message
        if status < 400:
            words = f"go to {headers.get('location', 'elsewhere')}"
        reason = f"answers {status} ({words})"
        if said.action == "again":
            return _Again(reason, said.remedy, wait_asked_for(headers, self.clock.wall()), status=status)
        return self.error(
            LLMRejectedError, self._place(body), reason, said.remedy, stops_run=said.action == "end_run"
        )

    def _opened(self) -> Transport:
        with self._lock:
            if self._transport is None:
                connection = self.connection
                if connection.api_key is None and connection.base_url is None:
                    raise self.error(
                        LLMRejectedError,
                        connection.address,
                        "no key is set",
                        "Set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that needs none.",
                        stops_run=True,
                    )
                self._transport = Transport(route_of(connection), self.clock.monotonic)
            return self._transport

    def _place(self, body: Mapping[str, Any] | None) -> str:
        model = (body or {}).get("model")
        return f"{model} at {self.connection.address}" if model else self.connection.address

    def error(
        self, kind: type[LLMError], place: str, problem: str, remedy: str, stops_run: bool = False
    ) -> LLMError:
        scrubbed = self.connection.scrubbed
        return kind(scrubbed(place), scrubbed(problem).rstrip("."), scrubbed(remedy), stops_run)

    def _cancelled(self) -> LLMCancelledError:
        return LLMCancelledError(
            self.connection.address, "the call was cancelled", "Start again: what is answered is kept.", True
        )


def _unstreamed(body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The same request for an answer in one piece: what broke off half-way comes whole, or says why not."""
    return body and {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
