"""The part of the Ray engine that runs on the nodes: actors that answer shards of questions, or send calls."""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from evidencebench_core.errors import RetrieverError
from evidencebench_core.llm.limiter import Timeouts
from evidencebench_core.llm.replies import RawReply
from evidencebench_core.llm.sender import OpenAISender
from evidencebench_core.retrievers import Retriever, make_retriever
from evidencebench_core.runs.engines.local import answer_of

if TYPE_CHECKING:
    from evidencebench_core.llm.connection import Connection
    from evidencebench_core.retrievers.encoding import EmbeddingCache
    from evidencebench_core.runs.plan import Question

Packed: TypeAlias = tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...], float, dict[str, str]]
"""A retrieval on its way: ranking, scores, selection, seconds, details."""


def blas_threads() -> int:
    """How many threads numpy's products are divided among in this process."""
    from threadpoolctl import threadpool_info

    return max((int(one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas"), default=1)


class Feed:
    """An actor beside the driver that knows where the shards are; workers ask it for theirs."""

    def __init__(self) -> None:
        self._shards: dict[int, list[Any]] = {}
        self._ended = False
        self._changed = asyncio.Condition()

    async def add(self, number: int, boxed: list[Any]) -> None:
        async with self._changed:
            self._shards[number] = boxed
            self._changed.notify_all()

    async def drop(self, number: int) -> None:
        self._shards.pop(number, None)

    async def end(self) -> None:
        """There will be no others."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()

    async def shard(self, number: int) -> list[Any] | None:
        """A reference to a shard's questions, once it is there; ``None``: it never will be."""
        async with self._changed:
            await self._changed.wait_for(lambda: number in self._shards or self._ended)
            return self._shards.get(number)


class Worker:
    """Answers shards with a retriever that it makes once; one of Ray Data's actors."""

    def __init__(
        self,
        feed: Any,
        made_of: tuple[str, dict[str, Any]],
        n_threads: int,
        n_blas_threads: int,
        keep_embeddings: bool,
    ) -> None:
        from threadpoolctl import threadpool_limits

        os.environ["OMP_NUM_THREADS"] = str(n_threads)
        # a product's last digits depend on how it is divided: as the local engine divides it
        threadpool_limits(n_blas_threads, "blas")
        self._feed, self._made_of = feed, made_of
        self._retriever: Retriever | None = None
        self._cache_folder = TemporaryDirectory(prefix="evidencebench-ray-") if keep_embeddings else None
        self._vectors = _own_cache(self._cache_folder.name) if self._cache_folder else None
        self._n_sent = 0

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        import ray

        numbers = [int(number) for number in batch["item"]]
        contents = []
        for number in numbers:
            boxed = ray.get(self._feed.shard.remote(number))
            questions = ray.get(boxed[0]) if boxed else ()
            try:
                content: Any = [self._answer(one) for one in questions], self._new_vectors()
            except Exception as error:  # noqa: BLE001 - told by the driver, in one line
                content = f"{type(error).__name__}: {error}", []
            contents.append(pickle.dumps(content))
        return {"number": numbers, "answers": contents}

    def _answer(self, question: Question) -> Packed | RetrieverError:
        name, settings = self._made_of
        try:
            if question.evidence is not None:
                retriever = make_retriever(name, settings, evidence=question.evidence)
            else:
                retriever = self._retriever = self._retriever or make_retriever(name, settings)
            answer = answer_of(retriever, question)
        except RetrieverError as error:
            return error
        return answer.ranking, answer.scores, answer.selection, answer.seconds, dict(answer.details)

    def _new_vectors(self) -> list[tuple[bytes, bytes, bytes]]:
        if self._vectors is None:
            return []
        self._n_sent, rows = self._vectors.rows_after(self._n_sent)
        return rows


def _own_cache(folder: str) -> EmbeddingCache:
    """A cache of embeddings for this worker alone, so that what is new in it is what it computed."""
    from evidencebench_core.retrievers.encoding import EmbeddingCache

    os.environ["EVIDENCEBENCH_CACHE"] = folder
    return EmbeddingCache()


class SendingWorker:
    """Sends calls from a node; an actor."""

    def __init__(self, connection: Connection) -> None:
        self._sender = OpenAISender(connection)

    async def send(self, path: str, body: bytes | None, timeouts: Timeouts) -> RawReply | Exception:
        try:
            return await self._sender.send(path, body, timeouts=timeouts)
        except Exception as error:  # noqa: BLE001 - raised again by the driver
            error.__cause__ = error.__context__ = None  # what they hold cannot always be pickled
            return error
