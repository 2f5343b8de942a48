"""Answers computed on a Ray cluster, or asked of a server from its nodes; the store stays with this process.

Questions are read here, and go out in shards of some instances to a pool of Ray Data's actors, each of which has made
the retriever once. What comes back is yielded here, to the one writer of the store. A shard whose worker or node dies
is answered by another; if this process dies, what it has stored is not asked again.
"""

from __future__ import annotations

import itertools
import pickle
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.errors import EvidenceBenchError, RetrieverError
from evidencebench_core.llm.limiter import Timeouts
from evidencebench_core.llm.replies import RawReply, Setback
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs.engines.ray_cluster import check_cluster, cluster
from evidencebench_core.runs.engines.ray_workers import Feed, Packed, SendingWorker, Worker, blas_threads

if TYPE_CHECKING:
    from evidencebench_core.runs.engines import Answered
    from evidencebench_core.runs.plan import Plan, Question

_LARGEST: Final = 32  # instances of a shard
_AHEAD: Final = 4  # shards for each worker that are read before they are answered
_THREADS_END_WITHIN: Final = 60.0  # seconds; they take long on a busy machine only
_AVOIDED: Final = 5.0  # seconds for which a worker that broke off is not asked to send


@dataclass
class RayEngine:
    """Answers on a cluster.

    Attributes
    ----------
    address : str, optional
        ``"10.0.0.1:6379"``, or ``"auto"`` for the cluster that this machine is part of; without it
        ``RAY_ADDRESS``, else a cluster of this machine alone that ends with the run.
    workers : int, optional
        Without it one for each processor; of retrievers that ask a server, one for each node.
    keep_embeddings : bool
        Whether the embeddings that workers compute come back into the cache of this machine: 1.5 kB for every
        sentence, some ten times the questions.
    note : str
        What it waits for, in a line for people.
    """

    address: str | None = None
    workers: int | None = None
    keep_embeddings: bool = False
    note: str = field(default="", init=False)

    def check(self, plan: Plan) -> None:
        if plan.missing:
            check_cluster(self.address)

    def answers(
        self, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        """As `Engine.answers`."""
        if not plan.missing:
            return
        self.note = "waiting for Ray and its workers"
        yield []
        with cluster(self.address, self.workers) as ray:
            if plan.llm is not None:
                yield from self._asked(ray, plan, questions, stopped)
            else:
                yield from self._computed(ray, plan, questions, stopped)

    # -- retrievers that compute ----------------------------------------------------------------

    def _computed(
        self, ray: Any, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        n_cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        n_workers = self.workers or n_cpus
        size = max(1, min(_LARGEST, len(plan.missing) // (8 * n_workers)))
        n_shards = -(-len(plan.missing) // size)
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        feed = ray.remote(Feed).options(num_cpus=0, scheduling_strategy=here).remote()
        work = {
            "feed": feed,
            "made_of": (plan.spec.retriever, dict(plan.spec.settings)),
            "n_threads": max(1, n_cpus // n_workers),
            "n_blas_threads": blas_threads(),
            "keep_embeddings": self.keep_embeddings,
        }
        pool = ray.data.ActorPoolStrategy(min_size=1, max_size=n_workers, initial_size=min(n_workers, n_cpus))
        results = ray.data.from_items(list(range(n_shards)), override_num_blocks=n_shards).map_batches(
            Worker, fn_constructor_kwargs=work, compute=pool, batch_size=None, num_cpus=1
        )
        feeding = _Feeding(ray, feed, questions, size, _AHEAD * n_workers + 4, stopped)
        batches = iter(results.iter_batches(batch_size=None, prefetch_batches=0))
        feeding.start()
        try:
            for batch in batches:
                for number, content in zip(batch["number"], batch["answers"], strict=True):
                    packed, vectors = pickle.loads(content)  # noqa: S301 - of our own workers
                    if isinstance(packed, str):
                        raise _failed(packed)
                    asked, self.note = feeding.answered(int(number)), ""
                    if vectors:
                        _add_vectors(vectors)
                    if asked:
                        yield [(one, _unpacked(answer)) for one, answer in zip(asked, packed, strict=True)]
                if feeding.done:
                    break
        except ray.exceptions.RayError as error:
            raise _failed(str(error)) from error
        finally:
            feeding.stop()
            batches.close()
            _await_ray_data()
            with suppress(Exception):
                ray.kill(feed)
        if feeding.error is not None:
            raise feeding.error

    # -- retrievers that ask a server -----------------------------------------------------------

    def _asked(
        self, ray: Any, plan: Plan, questions: Iterable[Question], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        from evidencebench_core.llm.conversation import results

        llm, served = plan.served
        n_senders = self.workers or sum(node["Alive"] for node in ray.nodes())
        kind = ray.remote(num_cpus=0, max_restarts=-1, scheduling_strategy="SPREAD")(SendingWorker)
        senders = [kind.remote(llm.connection) for _ in range(n_senders)]
        conversations = ((one, served.conversation(one.query)) for one in questions)
        before, llm.sender = llm.sender, _RaySender(ray, senders)
        try:
            self.note = ""
            yield from results(llm, conversations, fresh=plan.fresh, stopped=stopped)
        finally:
            llm.sender = before
            for one in senders:
                with suppress(Exception):
                    ray.kill(one)


class _Feeding(threading.Thread):
    """Reads questions, cuts them into shards of some instances, and stays a few shards ahead of the answers."""

    def __init__(
        self,
        ray: Any,
        feed: Any,
        questions: Iterable[Question],
        size: int,
        ahead: int,
        stopped: Callable[[], bool],
    ) -> None:
        super().__init__(name="evidencebench-ray-feed", daemon=True)
        self._ray, self._feed, self._size, self._stopped = ray, feed, size, stopped
        self._questions = questions
        self._room = threading.Semaphore(ahead)
        self._out: dict[int, tuple[Sequence[Question], Any]] = {}
        self._ended = False
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for number, shard in enumerate(_shards(self._questions, self._size)):
                while not self._room.acquire(timeout=0.1):
                    if self._ended or self._stopped():
                        return
                if self._ended or self._stopped():
                    return
                reference = self._ray.put(shard)
                self._out[number] = (shard, reference)
                self._ray.get(self._feed.add.remote(number, [reference]))
        except BaseException as error:  # noqa: BLE001 - raised again by the reader
            self.error = self.error or (None if self._ended else error)
        finally:
            self._ended = True
            with suppress(Exception):
                self._feed.end.remote()

    @property
    def done(self) -> bool:
        """Whether everything that was sent has come back, and nothing more will be sent."""
        return self._ended and not self._out

    def answered(self, number: int) -> Sequence[Question]:
        """The questions of a shard that has come back; none if it was empty, or has come back before."""
        shard, _ = self._out.pop(number, ((), None))
        if shard:
            self._feed.drop.remote(number)
            self._room.release()
        return shard

    def stop(self) -> None:
        self._ended = True
        self.join()


def _await_ray_data() -> None:
    """Wait for Ray Data's threads, as one that speaks to Ray after a disconnection ends the process."""
    for thread in threading.enumerate():
        if thread.name.startswith(("StreamingExecutor", "ray-data", "iter_threaded")):
            thread.join(_THREADS_END_WITHIN)


def _shards(questions: Iterable[Question], size: int) -> Generator[list[Question], None, None]:
    """The questions of so many instances together."""
    by_instance = itertools.groupby(questions, key=lambda one: one.instance_id)
    while several := [list(group) for _, group in itertools.islice(by_instance, size)]:
        yield [one for group in several for one in group]


def _unpacked(answer: Packed | RetrieverError) -> Retrieval | EvidenceBenchError:
    if isinstance(answer, RetrieverError):
        return answer
    *rest, details = answer
    return Retrieval(*cast("tuple[Any, Any, Any, Any]", tuple(rest)), MappingProxyType(details))


def _add_vectors(rows: list[tuple[bytes, bytes, bytes]]) -> None:
    from evidencebench_core.retrievers.encoding import EmbeddingCache

    EmbeddingCache().add_rows(rows)


class _RaySender:
    """Gives each call to the worker with the fewest; limits, caps and the store are those of the driver."""

    def __init__(self, ray: Any, workers: Sequence[Any]) -> None:
        self._ray, self._workers = ray, workers
        self._under_way = [0] * len(workers)
        self._avoided = [0.0] * len(workers)

    async def send(
        self,
        path: str,
        body: bytes | None,
        *,
        timeouts: Timeouts,
        on_event: Callable[[dict[str, Any]], None] | None = None,
    ) -> RawReply:
        """As `Sender.send`; the reply comes whole."""
        now = time.monotonic()
        number = min(
            range(len(self._workers)),
            key=lambda one: (self._avoided[one] > now, self._under_way[one]),
        )
        self._under_way[number] += 1
        try:
            reply = await self._workers[number].send.remote(path, body, timeouts)
        except self._ray.exceptions.RayError as error:
            self._avoided[number] = time.monotonic() + _AVOIDED
            raise Setback("the Ray worker that sent it is gone", perhaps_billed=True) from error
        finally:
            self._under_way[number] -= 1
        if isinstance(reply, Exception):
            raise reply
        sent: RawReply = reply
        return sent

    async def close(self) -> None:
        """The workers end with the engine."""


def _failed(reason: str) -> RetrieverError:
    line = next(iter(reason.strip().splitlines()), "for no reason that it tells").strip().rstrip(".")
    return RetrieverError(
        "Ray engine",
        f"a worker failed ({line[:300]})",
        "Check that every node has the same evidencebench-explorer, and the files that the settings name.",
    )
