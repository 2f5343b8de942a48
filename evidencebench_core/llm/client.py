"""Asking a language model: answers from the store where there are any, from the server where not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import LLMAnswerError, LLMRejectedError
from evidencebench_core.llm.answers import AnswerCache
from evidencebench_core.llm.budget import Budget, Spending
from evidencebench_core.llm.caller import Caller
from evidencebench_core.llm.connection import Connection, current_connection
from evidencebench_core.llm.listing import LISTING, read_models
from evidencebench_core.llm.policy import Clock, RetryPolicy
from evidencebench_core.llm.prices import estimated_prompt_tokens, estimated_tokens
from evidencebench_core.llm.replies import (
    Failure,
    StreamedAnswer,
    answer_of,
    content_type,
    json_body,
    sse_data,
)
from evidencebench_core.llm.request import Answer, ChatRequest, Message, json_bytes, request_key
from evidencebench_core.llm.transport import Response
from evidencebench_core.llm.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


OnDelta = Callable[[str | None], None]

_TRYING: Final = RetryPolicy(attempts=1, total_seconds=90.0)


class LLM:
    """A server with language models; for any number of threads.

    Parameters
    ----------
    connection : Connection, optional
        Without it the one in force (see `current_connection`).
    answers : AnswerCache, optional
        Where answers are looked up and kept, each the moment it arrives.
    policy : RetryPolicy, optional
    budget : Budget, optional
        Counts what is spent and refuses what goes beyond; several servers may share one.
    clock : Clock, optional
    """

    def __init__(
        self,
        connection: Connection | None = None,
        answers: AnswerCache | None = None,
        policy: RetryPolicy | None = None,
        budget: Budget | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.connection = connection or current_connection()
        self.answers, self.budget = answers, budget or Budget()
        self.policy = policy or RetryPolicy()
        self._caller = Caller(self.connection, self.policy, clock or Clock())

    def __repr__(self) -> str:
        return f"LLM({self.connection!r})"

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def key(self, request: ChatRequest) -> str:
        """The name of the request's answer in the store."""
        return self._key(json_bytes(request.body()))

    def spending(self) -> Spending:
        """Calls, tokens and money under this budget so far."""
        return self.budget.spent

    def close(self) -> None:
        """End what is under way, in whatever thread: `LLMCancelledError` there, and for all later calls."""
        self._caller.close()

    def cached(self, request: ChatRequest) -> bool:
        """Whether `chat` would answer without asking the server."""
        return self.answers is not None and bool(self.answers.known((self.key(request),)))

    def chat(self, request: ChatRequest, fresh: bool = False, on_delta: OnDelta | None = None) -> Answer:
        """The answer to a request.

        Parameters
        ----------
        request : ChatRequest
        fresh : bool
            Ask even if there is an answer; the new one takes its place.
        on_delta : callable, optional
            Given the text piece by piece as it comes, and ``None`` when it starts over because the
            connection broke. A kept answer comes in one piece.

        Raises
        ------
        LLMError
            One of its kinds; nothing is kept or counted as spent then.
        """
        body = request.body()
        if self.answers is None:
            return self._asked(request, body, self.policy, on_delta)
        content = json_bytes(body)
        key = self._key(content)
        with self._claimed((key,)):
            answer = None if fresh else self.answers.answer(key)
            if answer is None:
                answer = self._asked(request, body, self.policy, on_delta, content, key)
                self.answers.keep(key, request.model, content, answer)
                return answer
        self.budget.count_cached()
        if on_delta is not None:
            on_delta(answer.text)
        return answer

    def try_out(self, model: str) -> Answer:
        """Ask for one word, once and without the store: does this server answer with this model?

        Raises
        ------
        LLMError
        """
        request = ChatRequest(model, (Message("user", "Answer with the one word: ready"),), max_tokens=16)
        return self._asked(request, request.body(), _TRYING, None)

    def models(self) -> tuple[str, ...]:
        """The models that the server lists, sorted; empty where it has no list.

        Raises
        ------
        LLMError
            If the server cannot be reached or refuses the key.
        """
        try:
            names, *_ = self._caller.call("/models", None, read_models, policy=LISTING)
        except LLMAnswerError:
            return ()
        except LLMRejectedError as error:
            if "answers 404" in error.problem or "answers 405" in error.problem:
                return ()
            raise
        return names

    def embed(
        self,
        model: str,
        texts: Sequence[str],
        *,
        batch_size: int = 64,
        dimensions: int | None = None,
        fresh: bool = False,
    ) -> NDArray[np.float32]:
        """Vectors of texts, of shape (number of texts, dimensions); shape (0, 0) for none.

        Each text is kept on its own, so texts in other batches and orders cost nothing the second time.

        Raises
        ------
        LLMError
        """
        return self._vectors(model, dimensions).of(texts, batch_size, fresh)

    def embedded(self, model: str, texts: Sequence[str]) -> frozenset[str]:
        """Those of the texts for which `embed` would not ask the server."""
        return self._vectors(model, None).kept_of(texts)

    # -- below the store --------------------------------------------------------------------

    def _key(self, content: bytes) -> str:
        return request_key("chat", content, self.connection.address)

    def _claimed(self, keys: Collection[str]) -> AbstractContextManager[None]:
        if self.answers is None:
            return nullcontext()
        return self.answers.claimed(keys, self._caller.wait, self.policy.total_seconds + 60.0)

    def _asked(
        self,
        request: ChatRequest,
        body: dict[str, Any],
        policy: RetryPolicy,
        on_delta: OnDelta | None,
        content: bytes | None = None,
        key: str = "",
    ) -> Answer:
        prompt_tokens = estimated_prompt_tokens(request.messages)
        reservation = self.budget.reserve(request.model, prompt_tokens, request.max_tokens)
        told = None if on_delta is None else _Told(on_delta)
        if told is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
            content = None
        try:
            answer, seconds, attempts, left_out = self._caller.call(
                "/chat/completions",
                body,
                _chat_reader(told),
                policy=policy,
                content=content,
                restarted=None if told is None else told.restarted,
            )
        except BaseException:
            self.budget.release(reservation)
            raise
        completion_tokens = answer.completion_tokens
        if completion_tokens is None:
            reservation = self.budget.reestimated(
                reservation, estimated_tokens(answer.text + answer.reasoning)
            )
        self.budget.settle(reservation, answer.prompt_tokens, completion_tokens, seconds)
        left_out = tuple(name for name in left_out if name != "stream_options")
        return replace(answer, seconds=seconds, attempts=attempts, left_out=left_out, key=key)

    def _vectors(self, model: str, dimensions: int | None) -> Vectors:
        return Vectors(model, dimensions, self._caller, self.answers, self.budget, self._claimed)


class _Told:
    """Hands on what comes, and that it starts over, if anything had come."""

    def __init__(self, on_delta: OnDelta) -> None:
        self._on_delta, self._any = on_delta, False

    def __call__(self, piece: str) -> None:
        if piece:
            self._any = True
            self._on_delta(piece)

    def restarted(self) -> None:
        if self._any:
            self._any = False
            self._on_delta(None)


def _chat_reader(told: _Told | None) -> Callable[[Response, Iterator[bytes]], Answer | Failure]:
    def read(response: Response, pieces: Iterator[bytes]) -> Answer | Failure:
        if content_type(response.headers) != "text/event-stream":
            found = answer_of(json_body(response.headers, b"".join(pieces)))
            if told is not None and isinstance(found, Answer):
                told(found.text)
            return found
        streamed = StreamedAnswer()
        for data in sse_data(pieces):
            piece = streamed.add(data)
            if isinstance(piece, Failure):
                return piece
            if told is not None:
                told(piece)
            if streamed.done:  # some servers leave the line open
                break
        return streamed.answer()

    return read
