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
from evidencebench_core.llm.policy import Clock, RetryPolicy, wait_asked_for
from evidencebench_core.llm.replies import Failure, Unusable, failure_of
from evidencebench_core.llm.request import json_bytes
from evidencebench_core.llm.transport import ConnectionBroken, Response, Transport, check_address
from evidencebench_core.llm.verdict import verdict

__all__ = ["Caller", "Reader"]

Result = TypeVar("Result")
Reader = Callable[[Response, "Pieces"], "Result | Failure"]
Pieces = Iterator[bytes]

_ERROR_PAGE: Final = 64 << 10  # bytes of an error page that are read
_BAD_ANSWERS: Final = 2  # replies that are no answer, after which the call is given up
_RENAMED: Final = {"max_tokens": "max_completion_tokens"}


class _Again(Exception):  # noqa: N818 - never leaves this file
    """The attempt failed, and another may not."""

    def __init__(
        self, reason: str, remedy: str, after: float | None = None, bad_answer: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.remedy, self.after, self.bad_answer = reason, remedy, after, bad_answer


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
        self._not_taken: dict[str, tuple[str, ...]] = {}  # by model
        self.cancelled = threading.Event()

    def close(self) -> None:
        """End waits and calls; the next ones fail at once."""
        self.cancelled.set()
        with self._lock:
            if self._transport is not None:
                self._transport.close()

    def wait(self, seconds: float) -> None:
        """Wait; a cancel ends it.

        Raises
        ------
        LLMCancelledError
        """
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
        restarted: Callable[[], None] | None = None,
    ) -> tuple[Result, float, int, tuple[str, ...]]:
        """The result, the seconds of its attempt, how many attempts there were, and the fields left out.

        Parameters
        ----------
        path : str
            Below the base URL.
        body : mapping or None
            JSON to be posted; ``None``: the path is fetched.
        read : callable
            Makes the result out of a response and its bounded pieces.
        restarted : callable, optional
            Told when an attempt that had begun to be read is given up.

        Raises
        ------
        LLMError
        """
        limits = policy or self.policy
        deadline = self.clock.monotonic() + limits.total_seconds
        place = self._place(body)
        model = str((body or {}).get("model", ""))
        attempt = bad = 0
        while True:
            attempt += 1
            sent, left_out = self._fitting(body, model)
            began = self.clock.monotonic()
            try:
                result = self._attempt(path, sent, read, deadline, limits, largest or limits.largest_answer)
            except _Without as without:
                attempt -= 1
                self._leave_out(model, without.field)
            except _Again as again:
                bad += again.bad_answer
                if restarted is not None:
                    restarted()
                if bad >= _BAD_ANSWERS:
                    raise self._error(LLMAnswerError, place, again.reason, again.remedy) from None
                self._before_next(again, attempt, deadline, limits, place)
            else:
                return result, self.clock.monotonic() - began, attempt, left_out

    def _before_next(
        self, again: _Again, attempt: int, deadline: float, limits: RetryPolicy, place: str
    ) -> None:
        if self.cancelled.is_set():
            raise self._cancelled()
        if attempt >= limits.attempts:
            tries = f" (tried {attempt} times)" if attempt > 1 else ""
            raise self._error(LLMUnreachableError, place, again.reason + tries, again.remedy) from None
        wait = limits.wait(attempt, self.clock.chance())
        if again.after is not None:
            wait = max(again.after, wait if again.after == 0 else 0.0)
        if self.clock.monotonic() + wait >= deadline:
            asked = f", and asks to wait {again.after:,.0f} s" if again.after else ""
            problem = f"{again.reason}{asked}; the {limits.total_seconds:,.0f} s for a call are used up"
            raise self._error(LLMUnreachableError, place, problem, again.remedy) from None
        self.wait(wait)

    def _attempt(
        self,
        path: str,
        body: Mapping[str, Any] | None,
        read: Reader[Result],
        deadline: float,
        limits: RetryPolicy,
        largest: int,
    ) -> Result:
        if self.cancelled.is_set():
            raise self._cancelled()
        method, data = ("GET", None) if body is None else ("POST", json_bytes(body))
        sent = frozenset(body or ())
        try:
            transport = self._opened()
            with transport.exchange(method, path, data, deadline, limits.stall_seconds) as response:
                if response.status >= 300:
                    page = b"".join(_bounded(response.pieces, _ERROR_PAGE, cut=True))
                    raise self._judged(response.status, failure_of(page), response.headers, sent, body)
                result = read(response, _bounded(response.pieces, largest))
        except ConnectionBroken as broken:
            if self.cancelled.is_set():
                raise self._cancelled() from broken
            remedy = "Check the address, the network and whether the server runs."
            if broken.for_good:
                raise self._error(
                    LLMRejectedError, self._place(body), broken.reason, remedy, stops_run=True
                ) from broken
            raise _Again(broken.reason, remedy) from broken
        except Unusable as unusable:
            raise _Again(
                f"the reply is no answer: {unusable}", "Ask again, or look after the server.", bad_answer=True
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
            return _Again(reason, said.remedy, wait_asked_for(headers, self.clock.wall()))
        return self._error(
            LLMRejectedError, self._place(body), reason, said.remedy, stops_run=said.action == "end_run"
        )

    def _fitting(
        self, body: Mapping[str, Any] | None, model: str
    ) -> tuple[Mapping[str, Any] | None, tuple[str, ...]]:
        """The request without what the server is known not to take, and what that was."""
        if body is None:
            return None, ()
        fitting, left_out = dict(body), []
        for name in self._not_taken.get(model, ()):
            if name in fitting:
                value = fitting.pop(name)
                if name in _RENAMED:
                    fitting[_RENAMED[name]] = value
                else:
                    left_out.append(name)
        return fitting, tuple(left_out)

    def _leave_out(self, model: str, name: str) -> None:
        with self._lock:
            known = self._not_taken.get(model, ())
            if name not in known:
                self._not_taken[model] = (*known, name)

    def _opened(self) -> Transport:
        with self._lock:
            if self._transport is None:
                url, headers = self._as_openai_reads()
                self._transport = Transport(url, headers, self.clock.monotonic)
            return self._transport

    def _as_openai_reads(self) -> tuple[str, dict[str, str]]:
        """Base URL and headers as the openai package makes them out of key, address and environment."""
        import openai

        connection = self.connection
        if connection.api_key is None and connection.base_url is None:
            raise self._error(
                LLMRejectedError,
                connection.address,
                "no key is set",
                "Set OPENAI_API_KEY, or OPENAI_BASE_URL to a server that wants none.",
                stops_run=True,
            )
        if connection.base_url is not None:
            check_address(connection.base_url)
        try:
            client = openai.OpenAI(
                api_key=connection.api_key or "none", base_url=connection.base_url, max_retries=0
            )
            client.close()
        except (openai.OpenAIError, ValueError, TypeError) as error:
            raise ConnectionBroken(
                f"the address is not of the form http://host:port/v1 ({error})", for_good=True
            ) from None
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": "evidencebench",
        }
        if connection.api_key is not None:
            headers |= client.auth_headers
        for name, value in client.default_headers.items():
            if name.lower() in ("openai-organization", "openai-project") and isinstance(value, str):
                headers[name] = value
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise ConnectionBroken("the key holds characters that no key has", for_good=True)
        return str(client.base_url), headers

    def _place(self, body: Mapping[str, Any] | None) -> str:
        model = (body or {}).get("model")
        return f"{model} at {self.connection.address}" if model else self.connection.address

    def _error(
        self, kind: type[LLMError], place: str, problem: str, remedy: str, stops_run: bool = False
    ) -> LLMError:
        scrubbed = self.connection.scrubbed
        return kind(scrubbed(place), scrubbed(problem).rstrip("."), scrubbed(remedy), stops_run)

    def _cancelled(self) -> LLMCancelledError:
        return LLMCancelledError(
            self.connection.address, "the call was cancelled", "Start again: what is answered is kept.", True
        )


def _bounded(pieces: Iterator[bytes], most: int, cut: bool = False) -> Iterator[bytes]:
    """The pieces, as long as they are not too many bytes; then an end or an error."""
    n_bytes = 0
    for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > most:
            if cut:
                yield piece[: most - n_bytes]
                return
            raise _TooLarge(f"it is larger than {most:,} bytes")
        yield piece


class _TooLarge(Unusable):
    """A reply that would not end."""
