"""Asking a language model: answers from the store where there are any, from the server where not."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import LLMAnswerError, LLMRejectedError
from evidencebench_core.llm.answers import AnswerCache
from evidencebench_core.llm.budget import Budget, Spending
from evidencebench_core.llm.caller import Caller
from evidencebench_core.llm.connection import Connection, current_connection
from evidencebench_core.llm.policy import Clock, RetryPolicy
from evidencebench_core.llm.prices import estimated_prompt_tokens, estimated_tokens
from evidencebench_core.llm.replies import Failure, StreamedAnswer, Unusable, answer_of, failure_of, sse_data
from evidencebench_core.llm.request import Answer, ChatRequest, Message, request_key
from evidencebench_core.llm.transport import Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LLM", "OnDelta"]

OnDelta = Callable[[str | None], None]

_LARGEST_EMBEDDING: Final = 128 << 20  # bytes of a reply with a batch of vectors
_LISTING: Final = RetryPolicy(attempts=2, total_seconds=20.0)
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
        return request_key("chat", request.body(), self.connection.address)

    def spending(self) -> Spending:
        """What the calls under this budget have taken so far."""
        return self.budget.spent

    def close(self) -> None:
        """End what is under way, in whatever thread: `LLMCancelledError` there, and for all later calls."""
        self._caller.close()

    def cached(self, request: ChatRequest) -> bool:
        """Whether `chat` would answer without asking the server."""
        return self.answers is not None and self.answers.answer(self.key(request)) is not None

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
        key = self.key(request)
        with self._claimed([key]):
            answer = self.answers.answer(key) if self.answers is not None and not fresh else None
            if answer is None:
                answer = self._asked(request, self.policy, on_delta)
                if self.answers is not None:
                    self.answers.keep(key, request.model, request.body(), answer)
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
        return self._asked(request, _TRYING, None)

    def models(self) -> tuple[str, ...]:
        """The models that the server lists, sorted; empty where it has no list.

        Raises
        ------
        LLMError
            If the server cannot be reached or refuses the key.
        """
        try:
            names, *_ = self._caller.call("/models", None, _read_models, policy=_LISTING)
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
        import numpy as np

        extra: dict[str, Any] = {} if dimensions is None else {"dimensions": dimensions}
        keys = [
            request_key("embedding", {"model": model, "input": text, **extra}, self.connection.address)
            for text in texts
        ]
        by_key = dict(zip(keys, texts, strict=True))
        vectors: dict[str, NDArray[np.float32]] = {} if fresh else self._kept_vectors(list(by_key))
        missing = [key for key in by_key if key not in vectors]
        for start in range(0, len(missing), max(1, batch_size)):
            batch = missing[start : start + max(1, batch_size)]
            with self._claimed(batch):
                found = {} if fresh else self._kept_vectors(batch)
                asked = [key for key in batch if key not in found]
                if asked:
                    found |= self._asked_vectors(model, {key: by_key[key] for key in asked}, extra)
                vectors |= found
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        lengths = {len(vector) for vector in vectors.values()}
        if len(lengths) != 1:
            raise LLMAnswerError(
                f"{model} at {self.connection.address}",
                f"gives vectors of different lengths ({', '.join(map(str, sorted(lengths)))})",
                "Ask again with --fresh; the model behind this name may have changed.",
            )
        return np.stack([vectors[key] for key in keys])

    # -- below the store --------------------------------------------------------------------

    def _claimed(self, keys: Sequence[str]) -> AbstractContextManager[None]:
        if self.answers is None:
            return nullcontext()
        return self.answers.claimed(keys, self._caller.wait, self.policy.total_seconds + 60.0)

    def _asked(self, request: ChatRequest, policy: RetryPolicy, on_delta: OnDelta | None) -> Answer:
        body = request.body()
        prompt_tokens = estimated_prompt_tokens(request.messages)
        reservation = self.budget.reserve(request.model, prompt_tokens, request.max_tokens)
        told = None if on_delta is None else _Told(on_delta)
        if told is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        try:
            answer, seconds, attempts, left_out = self._caller.call(
                "/chat/completions",
                body,
                _chat_reader(told),
                policy=policy,
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
        return replace(answer, seconds=seconds, attempts=attempts, left_out=left_out)

    def _kept_vectors(self, keys: list[str]) -> dict[str, NDArray[np.float32]]:
        import numpy as np

        if self.answers is None:
            return {}
        found = self.answers.records(keys)
        if found:
            self.budget.count_cached(len(found))
        return {
            key: np.frombuffer(base64.b64decode(record["vector"]), dtype="<f4")
            for key, record in found.items()
        }

    def _asked_vectors(
        self, model: str, texts: dict[str, str], extra: dict[str, Any]
    ) -> dict[str, NDArray[np.float32]]:
        asked = [text or " " for text in texts.values()]  # servers refuse an empty text
        body = {"model": model, "input": asked, "encoding_format": "float", **extra}
        estimate = sum(map(estimated_tokens, asked))
        reservation = self.budget.reserve(model, estimate, answers=False)
        try:
            (rows, prompt_tokens), seconds, *_ = self._caller.call(
                "/embeddings", body, _embedding_reader(len(asked)), largest=_LARGEST_EMBEDDING
            )
        except BaseException:
            self.budget.release(reservation)
            raise
        self.budget.settle(reservation, prompt_tokens, 0, seconds)
        vectors = dict(zip(texts, rows, strict=True))
        if self.answers is not None:
            self.answers.keep_records(
                model,
                [
                    (
                        key,
                        {"model": model, "input": texts[key], **extra},
                        {"vector": base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")},
                    )
                    for key, vector in vectors.items()
                ],
            )
        return vectors


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
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "text/event-stream":
            found = answer_of(_json_body(kind, pieces))
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


def _json_body(kind: str, pieces: Iterator[bytes]) -> bytes:
    body = b"".join(pieces)
    if kind.endswith("json") or kind in ("", "text/plain", "application/octet-stream"):
        return body
    raise Unusable(f"it is of the type {kind[:60]}, not JSON: {failure_of(body).message[:120]}")


def _read_models(response: Response, pieces: Iterator[bytes]) -> tuple[str, ...] | Failure:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        reply = json.loads(_json_body(kind, pieces))
    except (ValueError, RecursionError) as error:
        raise Unusable("it is not whole JSON") from error
    listed = reply.get("data") or reply.get("models") or [] if isinstance(reply, dict) else reply
    if not isinstance(listed, list):
        raise Unusable("it lists no models")
    names = (one.get("id") or one.get("name") if isinstance(one, dict) else one for one in listed)
    return tuple(sorted({name for name in names if isinstance(name, str) and name}))


def _embedding_reader(n_texts: int) -> Callable[[Response, Iterator[bytes]], Any]:
    def read(response: Response, pieces: Iterator[bytes]) -> Any:
        import numpy as np
        import orjson

        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = _json_body(kind, pieces)
        try:
            reply = orjson.loads(body)
            if isinstance(reply, dict) and reply.get("error"):
                return failure_of(body)
            data = sorted(enumerate(reply["data"]), key=lambda pair: pair[1].get("index", pair[0]))
            rows = [_vector(one["embedding"]) for _, one in data]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Unusable("it holds no vectors") from error
        if len(rows) != n_texts:
            raise Unusable(f"it holds {len(rows)} vectors for {n_texts} texts")
        if any(row.ndim != 1 or not len(row) or not np.isfinite(row).all() for row in rows):
            raise Unusable("its vectors are not finite numbers")
        usage = reply.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return rows, tokens if isinstance(tokens, int) else None

    return read


def _vector(value: object) -> NDArray[np.float32]:
    import numpy as np

    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), dtype="<f4")
    return np.asarray(value, dtype=np.float32)
