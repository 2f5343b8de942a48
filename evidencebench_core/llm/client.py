"""Asking a language model: answers from the store where there are any, from the server where not."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from evidencebench_core.llm.answers import AnswerCache
from evidencebench_core.llm.budget import Budget, Spending
from evidencebench_core.llm.connection import Connection, current_connection
from evidencebench_core.llm.limiter import Clock, Limits, Timeouts
from evidencebench_core.llm.request import Answer, ChatRequest, EmbeddingRequest, Reply, Request, Vectors
from evidencebench_core.llm.sender import Sender

OnDelta = Callable[[str | None], None]
"""Given a piece of text as it comes; ``None``: the answer starts over, as the connection broke."""


class LLM:
    """A server with language models; for one event loop at a time, within ``async with``.

    Parameters
    ----------
    connection : Connection, optional
        Without it the one in force (see `current_connection`).
    answers : AnswerCache, optional
        Where answers are looked up and kept, each the moment it arrives.
    budget : Budget, optional
        Counts what is spent and refuses what goes beyond; several servers may share one.
    limits : Limits, optional
    timeouts : Timeouts, optional
    clock : Clock, optional
    sender : Sender, optional
        Carries the bytes; without it the openai package does.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        answers: AnswerCache | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
        clock: Clock | None = None,
        sender: Sender | None = None,
    ) -> None:
        self.connection = connection or current_connection()
        self.answers, self.budget = answers, budget or Budget()
        self.limits, self.timeouts = limits or Limits(), timeouts or Timeouts()

    def __repr__(self) -> str:
        return f"LLM({self.connection!r})"

    async def __aenter__(self) -> LLM:
        return self

    async def __aexit__(self, *_: object) -> None:
        raise NotImplementedError

    @property
    def concurrency(self) -> int:
        """The most calls at once."""
        return self.limits.concurrency

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people; ``""`` if they do not."""
        raise NotImplementedError

    def spending(self) -> Spending:
        """Calls, tokens and money under this budget so far."""
        return self.budget.spent

    def stop(self) -> None:
        """Begin no other call: those waiting end with `LLMCancelledError`, those under way may end; from any thread."""
        raise NotImplementedError

    def key(self, request: ChatRequest) -> str:
        """The name of the request's answer in the store."""
        raise NotImplementedError

    @overload
    def known(self, request: ChatRequest) -> Answer | None: ...
    @overload
    def known(self, request: EmbeddingRequest) -> Vectors | None: ...

    def known(self, request: Request) -> Reply | None:
        """The reply of the store, marked as cached; ``None``: the server would have to be asked."""
        raise NotImplementedError

    def unknown_texts(self, request: EmbeddingRequest) -> tuple[str, ...]:
        """Those of the texts, each once, for which the server would have to be asked."""
        raise NotImplementedError

    @overload
    async def reply(
        self, request: ChatRequest, *, fresh: bool = False, on_delta: OnDelta | None = None
    ) -> Answer: ...
    @overload
    async def reply(
        self, request: EmbeddingRequest, *, fresh: bool = False, on_delta: OnDelta | None = None
    ) -> Vectors: ...

    async def reply(self, request: Request, *, fresh: bool = False, on_delta: OnDelta | None = None) -> Reply:
        """The reply to a request: from the store, else from the server, and durable in the store.

        Parameters
        ----------
        request : ChatRequest or EmbeddingRequest
        fresh : bool
            Ask even if there is an answer; the new one takes its place.
        on_delta : callable, optional
            Follows a chat's text as it comes; a kept answer comes in one piece.

        Raises
        ------
        LLMError
            One of its kinds; with ``stops_run`` every further call would fail the same way.
        """
        raise NotImplementedError

    async def models(self) -> tuple[str, ...]:
        """The models that the server lists, sorted; empty where it has no list.

        Raises
        ------
        LLMError
            If the server cannot be reached or refuses the key.
        """
        raise NotImplementedError

    async def try_out(self, model: str) -> Answer:
        """Ask for one word, once and without the store: does this server answer with this model?

        Raises
        ------
        LLMError
        """
        raise NotImplementedError
