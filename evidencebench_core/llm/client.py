"""Asking a language model: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any, Final, TypeVar

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import AnswerCache, Writer, record_of
from evidencebench_core.llm.budget import Budget
from evidencebench_core.llm.calls import STREAM, Call, OnDelta
from evidencebench_core.llm.connection import Connection, current_connection
from evidencebench_core.llm.limiter import Limiter, Limits, Timeouts
from evidencebench_core.llm.replies import Setback, model_names
from evidencebench_core.llm.request import (
    Answer,
    ChatRequest,
    EmbeddingRequest,
    Message,
    Reply,
    Request,
    request_key,
)
from evidencebench_core.llm.sender import OpenAISender, Sender

_T = TypeVar("_T")
_LISTING: Final = Timeouts(20.0, 20.0)
_CLOSED_WITHIN: Final = 0.2  # seconds
_TRYING: Final = Timeouts(90.0, 90.0)


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
    limits, timeouts : Limits, Timeouts, optional
    sender : Sender, optional
        Carries the bytes; without it the openai package does. An engine may put another in its place.
    """

    def __init__(
        self,
        connection: Connection | None = None,
        answers: AnswerCache | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
        sender: Sender | None = None,
    ) -> None:
        self.connection = connection or current_connection()
        self.answers, self.budget = answers, budget or Budget()
        self.limits, self.timeouts = limits or Limits(), timeouts or Timeouts()
        self.sender = sender or OpenAISender(self.connection)
        self.limiter = Limiter(self.limits, self.connection.address, time.monotonic)
        self.not_taken = defaultdict[str, set[str]](set)  # fields that the server refused, by model
        self.answering = set[str]()  # models that have answered
        self._writer: Writer | None = None
        if answers is not None:
            answers.bring_in()

    async def __aenter__(self) -> LLM:
        self.limiter = Limiter(self.limits, self.connection.address, asyncio.get_running_loop().time)
        self._writer = None if self.answers is None else Writer(self.answers)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer is not None:
            await self._writer.close()
        await self.sender.close()

    @property
    def note(self) -> str:
        """Why calls or their answers wait, in a line for people; ``""`` if they do not. From any thread."""
        return (self.answers.note if self.answers else "") or self.limiter.note

    def stop(self) -> None:
        """Begin no other call: those waiting end with `LLMCancelledError`, those under way may end."""
        self.limiter.stop()

    # -- what is in the store ------------------------------------------------------------------

    def key(self, request: ChatRequest) -> str:
        """The name of the request's answer in the store."""
        return self._keys(request)[""]

    def known(self, request: Request) -> Reply | None:
        """The reply of the store, marked as cached; ``None``: the server would have to be asked."""
        keys = self._keys(request)
        stored = self._stored(keys)
        return self._whole(request, stored) if len(stored) == len(keys) else None

    def unknown_texts(self, request: EmbeddingRequest) -> tuple[str, ...]:
        """Those of the texts, each once, for which the server would have to be asked."""
        keys = self._keys(request)
        known = self.answers.known(keys.values()) if self.answers else ()
        return tuple(text for text, key in keys.items() if key not in known)

    def _keys(self, request: Request) -> dict[str, str]:
        """The key of each part of a request."""
        address = self.connection.address
        return {part: request_key(request.kind, asked, address) for part, asked in request.parts().items()}

    def _stored(self, keys: Mapping[str, str]) -> dict[str, Any]:
        """The parts of a reply that are in the store."""
        replies = self.answers.replies(keys.values()) if self.answers else {}
        return {part: replies[key] for part, key in keys.items() if key in replies}

    def _whole(self, request: Request, parts: Mapping[str, Any]) -> Reply:
        """The reply that has these parts."""
        if isinstance(request, ChatRequest):
            return parts[""]
        import numpy as np

        lengths = sorted({len(vector) for vector in parts.values()})
        if len(lengths) > 1:
            problem = f"gives vectors of different lengths ({', '.join(map(str, lengths))})"
            remedy = "Ask again with --fresh; the model behind this name may have changed."
            raise self.error(LLMAnswerError, problem, remedy, model=request.model)
        return np.stack([parts[text] for text in request.texts]) if parts else np.zeros((0, 0), np.float32)

    # -- asking --------------------------------------------------------------------------------

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
        try:
            check, keys = self.limiter.check, self._keys(request)
            check()
            async with self.answers.claimed(keys.values(), check) if self.answers else nullcontext():
                parts = {} if fresh else self._stored(keys)
                missing = [part for part in keys if part not in parts]
                self.budget.count(cached=len(parts))
                if missing:
                    chat = isinstance(request, ChatRequest)
                    asked = request if chat else EmbeddingRequest(request.model, tuple(missing))
                    parts |= await Call(self, asked, keys, on_delta).parts()
                elif on_delta is not None and isinstance(request, ChatRequest) and parts[""].text:
                    on_delta(parts[""].text)
            return self._whole(request, parts)
        except LLMError as error:
            if not error.stops_run:  # the error of a run is met by all calls that wait, and told once
                self.budget.count(failed=1)
            raise

    async def keep(self, request: Request, parts: Mapping[str, Any], keys: Mapping[str, str]) -> None:
        """Keep the parts of a reply; they are durable when this returns."""
        if self._writer is not None:
            asked = request.parts().items()
            await self._writer.keep(
                [record_of(keys[part], request.model, one, parts[part]) for part, one in asked]
            )

    def without_keys(self, answer: Answer) -> Answer:
        """The answer without keys that the server has echoed, to be kept."""
        strike = self.connection.without_keys
        texts = {one.name: getattr(answer, one.name) for one in fields(answer)}
        texts = {name: strike(text) for name, text in texts.items() if isinstance(text, str)}
        return replace(answer, **texts, usage={strike(name): n for name, n in answer.usage.items()})

    def fitting(self, body: Mapping[str, Any], model: str) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A request's body without what the server does not take, or under its other name; the fields left out."""
        gone = [name for name in body if name in self.not_taken[model]]
        fitting = {name: value for name, value in body.items() if name not in gone}
        if "max_tokens" in gone:
            fitting["max_completion_tokens"] = body["max_tokens"]
        return fitting, tuple(name for name in gone if name not in {"max_tokens", *STREAM})

    # -- trying a server out -------------------------------------------------------------------

    async def models(self) -> tuple[str, ...]:
        """The models that the server lists, asked for whatever the limits; empty where it has no list."""
        try:
            try:
                reply = await self.sender.send("/models", None, timeouts=_LISTING)
            except Setback as setback:
                if setback.unusable:
                    raise
                await asyncio.sleep(_CLOSED_WITHIN)  # transformers serve closes the connection after a 500
                reply = await self.sender.send("/models", None, timeouts=_LISTING)
            return tuple(map(self.connection.without_keys, model_names(reply)))
        except Setback as setback:
            if setback.status in (200, 404, 405):
                return ()
            kind = LLMUnreachableError if setback.action in ("again", "wait") else LLMRejectedError
            raise self.error(kind, setback.reason, setback.remedy, setback.action == "end_run") from setback

    def error(
        self, kind: type[LLMError], problem: str, remedy: str, stops_run: bool = False, model: str = ""
    ) -> LLMError:
        """An error of this server with all keys struck out."""
        place, scrubbed = self.connection.address, self.connection.scrubbed
        place = f"{model} at {place}" if model else place
        return kind(scrubbed(place), scrubbed(problem).rstrip("."), scrubbed(remedy), stops_run)


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list; an `LLMError` if it cannot be asked."""
    return _answered(LLM(connection), LLM.models)


def one_word(connection: Connection, model: str) -> Answer:
    """The answer to a question for one word, asked once; an `LLMError` if this server gives none with this model."""
    request = ChatRequest(model, (Message("user", "Answer with the one word: ready"),), max_tokens=16)
    once = LLM(connection, limits=Limits(attempts=1), timeouts=_TRYING)
    answer: Answer = _answered(once, lambda llm: llm.reply(request))
    return answer


def _answered(llm: LLM, ask: Callable[[LLM], Coroutine[Any, Any, _T]]) -> _T:
    async def answer() -> _T:
        async with llm:
            return await ask(llm)

    return asyncio.run(answer())
