"""Answers computed on a Ray cluster, or asked of a server from its nodes; the store stays with this process.

A pipeline of Ray Data: an actor on this machine reads the questions of some instances at a time, a pool of actors, each
of which has made the retriever once, answers them, and what comes out is yielded here, to the one writer of the store.
What was with a worker or node that dies is answered by another; if this process dies, what it has stored is not asked
again.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.data.store import open_store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.llm.limiter import Timeouts
from evidencebench_core.llm.replies import RawReply, Setback
from evidencebench_core.llm.sender import OpenAISender
from evidencebench_core.retrievers import Query, Retrieval, Retriever, make_retriever
from evidencebench_core.retrievers.ranking import timed
from evidencebench_core.runs.engines.ray_cluster import check_cluster, cluster
from evidencebench_core.runs.plan import AnyPlan, AnyQuestion, Plan, Question

if TYPE_CHECKING:
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.llm.connection import Connection
    from evidencebench_core.runs.engines import Answered

_LARGEST: Final = 32  # instances of a shard
_THREADS_END_WITHIN: Final = 60.0  # seconds; they take long on a busy machine only
_AVOIDED: Final = 5.0  # seconds for which a worker that broke off is not asked to send
_READ: Final = Query("", (), (), ())  # in the place of one that need not come back


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
    note : str
        What it waits for, in a line for people.
    """

    address: str | None = None
    workers: int | None = None
    note: str = field(default="", init=False)

    def check(self, plan: AnyPlan) -> None:
        if plan.missing:
            check_cluster(self.address)

    def answers(
        self, plan: AnyPlan, questions: Iterable[AnyQuestion], stopped: Callable[[], bool]
    ) -> Iterator[Sequence[Answered]]:
        """As `Engine.answers`; of a retriever that computes, the questions are read elsewhere."""
        if not plan.missing:
            return
        self.note = "waiting for Ray and its workers"
        yield []
        with cluster(self.address, self.workers) as ray:
            if plan.llm is None:
                yield from self._computed(ray, cast("Plan", plan), stopped)
            else:
                yield from self._asked(ray, plan, plan.llm, questions, stopped)

    def _computed(self, ray: Any, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Sequence[Answered]]:
        n_cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        n_workers = self.workers or n_cpus
        size = max(1, min(_LARGEST, len(plan.missing) // (8 * n_workers)))
        n_shards = -(-len(plan.missing) // size)
        here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
        pool = ray.data.ActorPoolStrategy
        reading = {"plan": replace(plan, store=None, retriever=None, trained={}), "path": plan.store.path}  # type: ignore[arg-type]
        answering = {
            "made_of": (plan.spec.retriever, dict(plan.spec.settings)),
            "n_threads": max(1, n_cpus // n_workers),
            "n_blas_threads": _blas_threads(),
        }
        results = (
            ray.data.from_items(list(range(n_shards)), override_num_blocks=n_shards)
            .map_batches(
                Reader,
                fn_constructor_kwargs={**reading, "size": size},
                compute=pool(size=1),
                batch_size=None,
                num_cpus=0,
                label_selector=here,
            )
            .map_batches(
                Worker,
                fn_constructor_kwargs=answering,
                compute=pool(min_size=1, max_size=n_workers, initial_size=min(n_workers, n_cpus)),
                batch_size=None,
                num_cpus=1,
            )
        )
        batches, came = iter(results.iter_batches(batch_size=None, prefetch_batches=0)), set[int]()
        try:
            for batch in batches:
                self.note = ""
                for number, content in zip(batch["number"], batch["content"], strict=True):
                    answers = pickle.loads(content)  # noqa: S301 - of our own workers
                    if isinstance(answers, str):
                        raise _failure(answers)
                    if number not in came:
                        came.add(number)
                        yield answers
                if stopped():
                    return
        except ray.exceptions.RayError as error:
            raise _failure(str(error)) from error
        finally:
            batches.close()
            # one of Ray Data's threads that speaks to Ray after a disconnection ends the process
            for thread in threading.enumerate():
                if thread.name.startswith(("StreamingExecutor", "ray-data", "iter_threaded")):
                    thread.join(_THREADS_END_WITHIN)

    def _asked(
        self,
        ray: Any,
        plan: AnyPlan,
        llm: LLM,
        questions: Iterable[AnyQuestion],
        stopped: Callable[[], bool],
    ) -> Iterator[Sequence[Answered]]:
        from evidencebench_core.llm.conversation import results

        n_senders = self.workers or sum(node["Alive"] for node in ray.nodes())
        kind = ray.remote(num_cpus=0, max_restarts=-1, scheduling_strategy="SPREAD")(SendingWorker)
        senders = [kind.remote(llm.connection) for _ in range(n_senders)]
        conversations = ((one, plan.conversation(one)) for one in questions)
        before, llm.sender = llm.sender, _RaySender(ray, senders)
        try:
            self.note = ""
            yield from results(llm, conversations, fresh=plan.fresh, stopped=stopped)
        finally:
            llm.sender = before
            for one in senders:
                with suppress(Exception):
                    ray.kill(one)


class Reader:
    """Reads the questions of some instances at a time from the store; an actor of Ray Data on its machine."""

    def __init__(self, plan: Plan, path: Path, size: int) -> None:
        self._plan, self._size = replace(plan, store=open_store(path)), size
        self._ids = tuple(plan.missing)

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        numbers = [int(number) for number in batch["item"]]
        return {"number": numbers, "content": [pickle.dumps(self._questions(number)) for number in numbers]}

    def _questions(self, number: int) -> list[tuple[str, tuple[Question, ...]]] | str:
        try:
            return list(self._plan.questions(self._ids[number * self._size : (number + 1) * self._size]))
        except Exception as error:  # noqa: BLE001 - raised again by the engine, in one line
            return f"{type(error).__name__}: {error}"


class Worker:
    """Answers questions with a retriever that it makes once; one of a pool of Ray Data's actors."""

    def __init__(
        self,
        made_of: tuple[str, dict[str, Any]],
        n_threads: int,
        n_blas_threads: int,
    ) -> None:
        from threadpoolctl import threadpool_limits

        os.environ["OMP_NUM_THREADS"] = str(n_threads)
        # a product's last digits depend on how it is divided: as the local engine divides it
        threadpool_limits(n_blas_threads, "blas")
        self._made_of = made_of
        self._retriever: Retriever | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        numbers = [int(number) for number in batch["number"]]
        return {"number": numbers, "content": [self._answers(content) for content in batch["content"]]}

    def _answers(self, content: bytes) -> bytes:
        read = pickle.loads(content)  # noqa: S301 - of our own reader
        try:
            answers = read if isinstance(read, str) else [one for of in read for one in self._answered(*of)]
            return pickle.dumps(answers)
        except Exception as error:  # noqa: BLE001 - raised again by the engine, in one line
            return pickle.dumps(f"{type(error).__name__}: {error}")

    def _answered(self, instance_id: str, questions: Sequence[Question]) -> Iterator[Answered]:
        if not questions:
            yield Question(instance_id, "", _READ), None
        for question in questions:
            answer: Retrieval | RetrieverError
            try:
                answer = timed(self._retriever_for(question).retrieve)(question.query)
                answer = replace(answer, details=dict(answer.details))  # a mapping that can be pickled
            except RetrieverError as error:
                answer = error
            yield replace(question, query=_READ, evidence=None), answer

    def _retriever_for(self, question: Question) -> Retriever:
        name, settings = self._made_of
        if question.evidence is not None:
            return make_retriever(name, settings, evidence=question.evidence)
        self._retriever = self._retriever or make_retriever(name, settings)
        return self._retriever


def _blas_threads() -> int:
    """How many threads numpy's products are divided among in this process."""
    from threadpoolctl import threadpool_info

    return max((int(one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas"), default=1)


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


class _RaySender:
    """Gives each call to the worker with the fewest; limits, caps and the store are those of the driver."""

    def __init__(self, ray: Any, workers: Sequence[Any]) -> None:
        self._ray, self._workers = ray, workers
        self._under_way, self._avoided = [0] * len(workers), [0.0] * len(workers)

    async def send(
        self,
        path: str,
        body: bytes | None,
        *,
        timeouts: Timeouts,
        on_event: Callable[[dict[str, Any]], None] | None = None,
    ) -> RawReply:
        """As `Sender.send`; the reply comes whole."""
        now, every = time.monotonic(), range(len(self._workers))
        number = min(every, key=lambda one: (self._avoided[one] > now, self._under_way[one]))
        self._under_way[number] += 1
        try:
            reply: RawReply | Exception = await self._workers[number].send.remote(path, body, timeouts)
        except self._ray.exceptions.RayError as error:
            self._avoided[number] = time.monotonic() + _AVOIDED
            raise Setback("the Ray worker that sent it is gone", perhaps_billed=True) from error
        finally:
            self._under_way[number] -= 1
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def close(self) -> None:
        """The workers end with the engine."""


def _failure(reason: str) -> RetrieverError:
    line = next(iter(reason.strip().splitlines()), "no reason given").strip().rstrip(".")
    return RetrieverError(
        "Ray engine",
        f"a worker failed ({line[:300]})",
        "Check that every node has the same evidencebench-explorer, and the files that the settings name.",
    )
