"""Asking a language model: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, overload

from evidencebench_core.errors import LLMAnswerError
from evidencebench_core.llm.answers import AnswerCache, Writer, record_of
from evidencebench_core.llm.budget import Budget, Spending
from evidencebench_core.llm.calls import Caller, Done, Task
from evidencebench_core.llm.connection import Connection, current_connection
from evidencebench_core.llm.limiter import Clock, Limiter, Limits, Timeouts
from evidencebench_core.llm.prices import estimated_prompt_tokens, estimated_tokens
from evidencebench_core.llm.replies import chat_answer, delta_text, vectors_of
from evidencebench_core.llm.request import (
    Answer,
    ChatRequest,
    EmbeddingRequest,
    Message,
    Reply,
    Request,
    Vectors,
    json_bytes,
    request_key,
)
from evidencebench_core.llm.sender import OpenAISender, Sender

OnDelta = Callable[[str | None], None]
"""Given a piece of text as it comes; ``None``: the answer starts over, as the connection broke."""

_TRYING = Timeouts(90.0, 90.0)


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
        sender = sender or OpenAISender(self.connection)
        self._limiter = Limiter(self.limits, clock or Clock())
        self._caller = Caller(self.connection, self._limiter, self.timeouts, self.budget, sender)
        self._writer: Writer | None = None
        self._room = asyncio.Semaphore(self.concurrency)

    def __repr__(self) -> str:
        return f"LLM({self.connection!r})"

    async def __aenter__(self) -> LLM:
        self._limiter.open()
        self._room = asyncio.Semaphore(self.concurrency)
        self._writer = None if self.answers is None else Writer(self.answers)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer is not None:
            await self._writer.close()
        self._limiter.close()
        await self._caller.sender.close()

    @contextmanager
    def sending_by(self, sender: Sender) -> Iterator[None]:
        """Within it calls go another way; not to be entered while any is under way."""
        before, self._caller.sender = self._caller.sender, sender
        try:
            yield
        finally:
            self._caller.sender = before

    @property
    def concurrency(self) -> int:
        """The most calls at once."""
        return self.limits.concurrency

    @property
    def note(self) -> str:
        """Why calls wait, in a line for people; ``""`` if they do not. From any thread."""
        return self._limiter.note

    def spending(self) -> Spending:
        """Calls, tokens and money under this budget so far."""
        return self.budget.spent

    def stop(self) -> None:
        """Begin no other call: those waiting end with `LLMCancelledError`, those under way may end; from any thread."""
        self._limiter.stop()

    def key(self, request: ChatRequest) -> str:
        """The name of the request's answer in the store."""
        return self._key("chat", json_bytes(request.body()))

    @overload
    def known(self, request: ChatRequest) -> Answer | None: ...
    @overload
    def known(self, request: EmbeddingRequest) -> Vectors | None: ...

    def known(self, request: Request) -> Reply | None:
        """The reply of the store, marked as cached; ``None``: the server would have to be asked."""
        if isinstance(request, ChatRequest):
            return None if self.answers is None else self.answers.answer(self.key(request))
        kept = self._kept_vectors(self._text_keys(request).values())
        try:
            return self._stacked(request, kept)
        except KeyError:
            return None

    def unknown_texts(self, request: EmbeddingRequest) -> tuple[str, ...]:
        """Those of the texts, each once, for which the server would have to be asked."""
        keys = self._text_keys(request)
        known = frozenset[str]() if self.answers is None else self.answers.known(keys.values())
        return tuple(text for text, key in keys.items() if key not in known)

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
        with self._caller.counted(request.model):
            self._limiter.check()
            if isinstance(request, EmbeddingRequest):
                return await self._vectors(request, fresh)
            return await self._answer(request, fresh, on_delta)

    async def models(self) -> tuple[str, ...]:
        """The models that the server lists, sorted; empty where it has no list.

        Raises
        ------
        LLMError
            If the server cannot be reached or refuses the key.
        """
        return await self._caller.models()

    async def try_out(self, model: str) -> Answer:
        """Ask for one word, once and without the store: does this server answer with this model?

        Raises
        ------
        LLMError
        """
        request = ChatRequest(model, (Message("user", "Answer with the one word: ready"),), max_tokens=16)
        with self._caller.counted(model):
            return await self._asked(request, attempts=1, timeouts=_TRYING)

    # -- chats ---------------------------------------------------------------------------------

    async def _answer(self, request: ChatRequest, fresh: bool, on_delta: OnDelta | None) -> Answer:
        if self.answers is None:
            return await self._asked(request, on_delta)
        content = json_bytes(request.body())
        key = self._key("chat", content)
        async with self._claimed((key,)):
            answer = None if fresh else self.answers.answer(key)
            if answer is None:
                async with (
                    self._room
                ):  # until it is kept: a kill costs no more answers than there are calls at once
                    answer = replace(await self._asked(request, on_delta), key=key)
                    await self._keep([record_of(key, request.model, content, answer)])
                    return answer
        self.budget.count_cached()
        if on_delta is not None and answer.text:
            on_delta(answer.text)
        return answer

    async def _asked(self, request: ChatRequest, on_delta: OnDelta | None = None, **how: Any) -> Answer:
        body = request.body()
        if on_delta is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        n_prompt = estimated_prompt_tokens(request.messages)
        n_tokens = n_prompt + self.budget.answer_tokens(request.max_tokens)
        reserve = partial(self.budget.reserve, request.model, n_prompt, request.max_tokens)
        task = Task(request.path, body, n_tokens, chat_answer, reserve, Answer("", "content_filter"))
        deltas = None if on_delta is None else _Deltas(on_delta)
        follow = (None, None) if deltas is None else (deltas.add, deltas.restart)
        done = await self._caller.call(task, *follow, **how)
        answer = done.result
        if deltas is not None and not deltas.any and answer.text:
            deltas.send(answer.text)
        n_answer = answer.completion_tokens
        if n_answer is None:
            n_answer = estimated_tokens(answer.text + answer.reasoning)
        self._settle(done, answer.prompt_tokens, n_answer, estimated=answer.completion_tokens is None)
        left_out = tuple(name for name in done.left_out if name != "stream_options")
        return replace(answer, seconds=done.seconds, attempts=done.attempts, left_out=left_out)

    # -- vectors -------------------------------------------------------------------------------

    async def _vectors(self, request: EmbeddingRequest, fresh: bool) -> Vectors:
        keys = self._text_keys(request)
        vectors = {} if fresh else self._kept_vectors(keys.values())
        missing = {text: key for text, key in keys.items() if key not in vectors}
        n_kept = len(vectors)
        if missing:
            async with self._claimed(missing.values()):
                found = {} if fresh else self._kept_vectors(missing.values())
                n_kept, vectors = n_kept + len(found), vectors | found
                texts = tuple(text for text, key in missing.items() if key not in found)
                if texts:
                    rows = await self._asked_vectors(replace(request, texts=texts))
                    vectors |= {keys[text]: row for text, row in zip(texts, rows, strict=True)}
                    await self._keep(
                        [
                            (
                                keys[text],
                                request.model,
                                _text_body(request, text),
                                {"vector": _vector_text(row)},
                            )
                            for text, row in zip(texts, rows, strict=True)
                        ]
                    )
        self.budget.count_cached(n_kept)
        try:
            return self._stacked(request, vectors)
        except ValueError:
            lengths = ", ".join(map(str, sorted({len(vector) for vector in vectors.values()})))
            raise self._caller.error(
                LLMAnswerError,
                f"{request.model} at {self.connection.address}",
                f"gives vectors of different lengths ({lengths})",
                "Ask again with --fresh; the model behind this name may have changed.",
            ) from None

    async def _asked_vectors(self, request: EmbeddingRequest) -> Vectors:
        body = request.body()
        n_tokens = sum(map(estimated_tokens, request.texts))
        read = partial(vectors_of, n_texts=len(request.texts))
        reserve = partial(self.budget.reserve, request.model, n_tokens, answers=False)
        done = await self._caller.call(Task(request.path, body, n_tokens, read, reserve))
        rows, n_prompt = done.result
        self._settle(done, n_prompt, 0)
        return rows

    def _kept_vectors(self, keys: Iterable[str]) -> dict[str, Vectors]:
        import numpy as np

        found = {} if self.answers is None else self.answers.records(keys)
        return {
            key: np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")
            for key, record in found.items()
        }

    def _text_keys(self, request: EmbeddingRequest) -> dict[str, str]:
        return {text: self._key("embedding", _text_body(request, text)) for text in request.texts}

    def _stacked(self, request: EmbeddingRequest, vectors: dict[str, Vectors]) -> Vectors:
        """The vectors of all texts in order; `KeyError` if one is missing, `ValueError` if lengths differ."""
        import numpy as np

        keys = self._text_keys(request)
        rows = [vectors[keys[text]] for text in request.texts]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    # -- both ----------------------------------------------------------------------------------

    def _key(self, kind: str, content: bytes) -> str:
        return request_key(kind, content, self.connection.address)

    def _claimed(self, keys: Iterable[str]) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self.answers is None else self.answers.claimed(keys, self._limiter.check)

    async def _keep(self, records: list[Any]) -> None:
        if self._writer is not None:
            await self._writer.keep(records)

    def _settle(
        self, done: Done[Any], prompt_tokens: int | None, answer_tokens: int, estimated: bool = False
    ) -> None:
        self.budget.settle(done.reservation, prompt_tokens, answer_tokens, done.seconds, estimated)
        if prompt_tokens is not None:
            self._limiter.count(done.slot, prompt_tokens + answer_tokens)


class _Deltas:
    """Hands on pieces of text, and that they start over, if any had come."""

    def __init__(self, on_delta: OnDelta) -> None:
        self.send, self.any = on_delta, False

    def add(self, data: str) -> None:
        if piece := delta_text(data):
            self.any = True
            self.send(piece)

    def restart(self) -> None:
        if self.any:
            self.any = False
            self.send(None)


def _text_body(request: EmbeddingRequest, text: str) -> bytes:
    """The request under which the vector of a single text is kept."""
    extra = {} if request.dimensions is None else {"dimensions": request.dimensions}
    return json_bytes({"model": request.model, "input": text, **extra})


def _vector_text(vector: Vectors) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
