"""Asking a language model: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final, overload

from evidencebench_core.errors import LLMAnswerError, LLMError, LLMRejectedError, LLMUnreachableError
from evidencebench_core.llm.answers import AnswerCache, Record, Writer, answer_of_record, record_of
from evidencebench_core.llm.budget import Budget
from evidencebench_core.llm.calls import Call, OnDelta, refusal
from evidencebench_core.llm.connection import Connection, current_connection
from evidencebench_core.llm.limiter import Clock, Limiter, Limits, Timeouts
from evidencebench_core.llm.replies import FieldsTaken, Unusable, failure_of, model_names
from evidencebench_core.llm.request import (
    Answer,
    ChatRequest,
    EmbeddingRequest,
    Message,
    Reply,
    Request,
    Vectors,
    request_key,
)
from evidencebench_core.llm.sender import ConnectionBroken, OpenAISender, Sender

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
    limits : Limits, optional
    timeouts : Timeouts, optional
    clock : Clock, optional
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
        clock: Clock | None = None,
        sender: Sender | None = None,
    ) -> None:
        self.connection = connection or current_connection()
        self.answers, self.budget = answers, budget or Budget()
        self.limits, self.timeouts = limits or Limits(), timeouts or Timeouts()
        self.sender = sender or OpenAISender(self.connection)
        self.limiter = Limiter(self.limits, clock or Clock(), self.connection.address)
        self.fields = FieldsTaken()
        self.answering: set[str] = set()  # models that have answered
        self._writer: Writer | None = None
        self._room = asyncio.Semaphore(self.limits.concurrency)

    def __repr__(self) -> str:
        return f"LLM({self.connection!r})"

    async def __aenter__(self) -> LLM:
        self.limiter.open()
        self._room = asyncio.Semaphore(self.limits.concurrency)
        self._writer = None if self.answers is None else Writer(self.answers)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer is not None:
            await self._writer.close()
        self.limiter.close()
        await self.sender.close()

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people; ``""`` if they do not. From any thread."""
        return self.limiter.note

    def stop(self) -> None:
        """Begin no other call: those waiting end with `LLMCancelledError`, those under way may end; from any thread."""
        self.limiter.stop()

    # -- what is in the store ------------------------------------------------------------------

    def key(self, request: ChatRequest) -> str:
        """The name of the request's answer in the store."""
        return self._keys(request)[""]

    @overload
    def known(self, request: ChatRequest) -> Answer | None: ...
    @overload
    def known(self, request: EmbeddingRequest) -> Vectors | None: ...

    def known(self, request: Request) -> Reply | None:
        """The reply of the store, marked as cached; ``None``: the server would have to be asked."""
        keys = self._keys(request)
        stored = self._stored(request, keys)
        return self._whole(request, stored) if len(stored) == len(keys) else None

    def unknown_texts(self, request: EmbeddingRequest) -> tuple[str, ...]:
        """Those of the texts, each once, for which the server would have to be asked."""
        keys = self._keys(request)
        known = frozenset[str]() if self.answers is None else self.answers.known(keys.values())
        return tuple(text for text, key in keys.items() if key not in known)

    def _keys(self, request: Request) -> dict[str, str]:
        """The key of each part of a request."""
        address = self.connection.address
        return {part: request_key(request.kind, asked, address) for part, asked in request.parts().items()}

    def _stored(self, request: Request, keys: Mapping[str, str]) -> dict[str, Any]:
        """The parts of a reply that are in the store: answers or single vectors."""
        records = {} if self.answers is None else self.answers.records(keys.values())
        return {
            part: answer_of_record(key, records[key])
            if isinstance(request, ChatRequest)
            else _unpacked(records[key]["vector"])
            for part, key in keys.items()
            if key in records
        }

    def _whole(self, request: Request, parts: Mapping[str, Any]) -> Any:
        """The reply that has these parts."""
        if isinstance(request, ChatRequest):
            return parts[""]
        import numpy as np

        if not request.texts:
            return np.zeros((0, 0), dtype=np.float32)
        if len(lengths := sorted({len(vector) for vector in parts.values()})) > 1:
            raise self.error(
                LLMAnswerError,
                f"{request.model} at {self.connection.address}",
                f"gives vectors of different lengths ({', '.join(map(str, lengths))})",
                "Ask again with --fresh; the model behind this name may have changed.",
            )
        return np.stack([parts[text] for text in request.texts])

    # -- asking --------------------------------------------------------------------------------

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
        try:
            self.limiter.check()
            keys = self._keys(request)
            async with self._claimed(keys):
                parts = {} if fresh else self._stored(request, keys)
                missing = [part for part in keys if part not in parts]
                self.budget.count_cached(len(parts))
                if missing:
                    # until it is kept: a kill costs no more answers than there are calls at once
                    async with self._room:
                        parts |= await self._asked(request.only(missing), keys, on_delta)
                elif on_delta is not None and isinstance(request, ChatRequest) and parts[""].text:
                    on_delta(parts[""].text)
            whole: Reply = self._whole(request, parts)
            return whole
        except LLMError as error:
            if not error.stops_run:  # the error of a run is met by all calls that wait, and told once
                self.budget.count_failed()
            raise

    async def _asked(
        self, request: Request, keys: Mapping[str, str], on_delta: OnDelta | None
    ) -> dict[str, Any]:
        """The parts of the server's reply, kept."""
        reply, asked = await Call(self, request, on_delta).reply(), request.parts()
        records: list[Record]
        if isinstance(reply, Answer):
            answer = reply if self.answers is None else replace(reply, key=keys[""])
            parts: dict[str, Any] = {"": answer}
            records = [record_of(answer.key, request.model, asked[""], answer)]
        else:
            parts = dict(zip(asked, reply, strict=True))
            vectors = {text: {"vector": _packed(row)} for text, row in parts.items()}
            records = [(keys[text], request.model, asked[text], vectors[text]) for text in parts]
        if self._writer is not None:
            await self._writer.keep(records)
        return parts

    def _claimed(self, keys: Mapping[str, str]) -> AbstractAsyncContextManager[None]:
        return (
            nullcontext() if self.answers is None else self.answers.claimed(keys.values(), self.limiter.check)
        )

    # -- trying a server out -------------------------------------------------------------------

    async def models(self, again: bool = True) -> tuple[str, ...]:
        """The models that the server lists, asked for whatever the limits; empty where it has no list."""
        place = self.connection.address
        try:
            reply = await self.sender.send("/models", None, timeouts=_LISTING)
            if reply.status < 300:
                return model_names(reply.headers, reply.body)
        except ConnectionBroken as broken:
            if again and not broken.for_good:  # perhaps one kept open that the server has closed
                await asyncio.sleep(_CLOSED_WITHIN)
                return await self.models(again=False)
            kind = LLMRejectedError if broken.for_good else LLMUnreachableError
            raise self.error(kind, place, broken.reason, broken.remedy, broken.for_good) from broken
        except Unusable:
            return ()
        if reply.status in (404, 405):
            return ()
        reason, said, _ = refusal(reply, failure_of(reply.body), ())
        if said.action in ("again", "wait"):
            raise self.error(LLMUnreachableError, place, reason, said.remedy)
        raise self.error(LLMRejectedError, place, reason, said.remedy, said.action == "end_run")

    async def try_out(self, model: str) -> Answer:
        """Ask for one word, once and without the store: does this server answer with this model?"""
        request = ChatRequest(model, (Message("user", "Answer with the one word: ready"),), max_tokens=16)
        answer = await Call(self, request, attempts=1, timeouts=_TRYING).reply()
        assert isinstance(answer, Answer)  # noqa: S101 - for the type checker
        return answer

    def error(
        self, kind: type[LLMError], place: str, problem: str, remedy: str, stops_run: bool = False
    ) -> LLMError:
        """An error with all keys struck out."""
        scrubbed = self.connection.scrubbed
        return kind(scrubbed(place), scrubbed(problem).rstrip("."), scrubbed(remedy), stops_run)


def listed_models(connection: Connection) -> tuple[str, ...]:
    """The models that a server lists, sorted; empty where it has no list; an `LLMError` if it cannot be asked."""

    async def models() -> tuple[str, ...]:
        async with LLM(connection) as llm:
            return await llm.models()

    return asyncio.run(models())


def one_word(connection: Connection, model: str) -> Answer:
    """The answer to a question for one word, asked once; an `LLMError` if this server gives none with this model."""

    async def answer() -> Answer:
        async with LLM(connection) as llm:
            return await llm.try_out(model)

    return asyncio.run(answer())


def _packed(vector: Vectors) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def _unpacked(text: str) -> Vectors:
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype="<f4")
