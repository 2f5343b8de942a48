"""Answers computed on a Ray cluster; the store stays with this process, its one writer.

Actors make the retriever once; units go in, retrievals come out. What was with a worker or node that dies is given
to another; if this process dies, what it has stored is not asked again.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.retrievers import Retrieval, make_retriever, retriever_entry
from evidencebench_core.runs.engines import compute
from evidencebench_core.runs.plan import Plan, RetrievalPlan, Unit

if TYPE_CHECKING:
    from evidencebench_core.runs.store import Results

_SHARD: Final = 16  # units that go to a worker together
_AHEAD: Final = 2  # shards a worker
_MEMORY: Final = 256 << 20  # bytes of the object store of a cluster that is started here
_QUIET: Final = {  # nothing is sent to Ray's makers, and what it logs stays in its files
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


@dataclass
class RayEngine:
    """Answers on a cluster, of retrievers that ask no server."""

    address: str | None = None  # HOST:PORT, or auto; without it RAY_ADDRESS, else this machine alone
    workers: int | None = None  # without it one for each processor
    note: str = field(default="", init=False)

    def check(self, plan: Plan) -> None:
        if plan.llm is not None or not isinstance(plan, RetrievalPlan):
            remedy = "Leave out --engine ray; --concurrency asks more at once."
            raise SettingError("Ray engine", "the run asks a server, which one machine can do", remedy)
        if importlib.util.find_spec("ray") is None:
            remedy = "Install it: pip install 'evidencebench-explorer[ray]'."
            raise RetrieverError("Ray engine", "is not installed", remedy)

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        if not plan.missing:
            return
        self.note = "waiting for Ray and its workers"
        yield {}
        with cluster(self.address, self.workers) as ray:
            try:
                yield from self._computed(ray, cast("RetrievalPlan", plan), stopped)
            except ray.exceptions.RayError as error:
                cause = str(getattr(error, "cause", "") or error).strip()
                line = next(iter(cause.splitlines()), "no reason given")[:300].rstrip(".")
                remedy = "Check that every node has the same evidencebench-explorer, and the files of the settings."
                raise RetrieverError("Ray engine", f"a worker failed ({line})", remedy) from error

    def _computed(self, ray: Any, plan: RetrievalPlan, stopped: Callable[[], bool]) -> Iterator[Results]:
        n_cpus = max(1, int(ray.cluster_resources().get("CPU", 1)))
        n_workers = self.workers or n_cpus
        kind = ray.remote(num_cpus=1)(Worker)
        settings = dict(plan.spec.settings["settings"])
        n_threads = max(1, n_cpus // n_workers)
        workers = [
            kind.remote(plan.retriever_name, settings, n_threads, _blas_threads()) for _ in range(n_workers)
        ]
        units = iter(plan.units())
        shards = iter(lambda: list(islice(units, _SHARD)), [])
        returned: list[list[Unit]] = []  # shards of workers that died
        under_way: dict[Any, Any] = {}  # worker and shard by what it computes
        idle = workers * _AHEAD
        try:
            while True:
                for worker in tuple(idle):
                    shard = returned.pop() if returned else next(shards, None)
                    if shard is None:
                        break
                    idle.remove(worker)
                    under_way[worker.answers.remote(shard)] = worker, shard
                if not under_way:
                    return
                ready, _ = ray.wait(list(under_way), timeout=0.5)
                for reference in ready:
                    worker, shard = under_way.pop(reference)
                    try:
                        computed = ray.get(reference)
                    except ray.exceptions.RayActorError:  # its process or node died: another takes the shard
                        idle = [other for other in idle if other != worker]
                        returned.append(shard)
                        if not idle and not under_way:
                            raise
                        continue
                    idle.append(worker)
                    self.note = ""
                    yield computed
                if stopped():
                    return
                if not ready:
                    yield {}
        finally:
            for worker in workers:
                ray.kill(worker)


class Worker:
    """Answers units with a retriever that it makes once."""

    def __init__(self, name: str, settings: dict[str, Any], n_threads: int, n_blas_threads: int) -> None:
        from threadpoolctl import threadpool_limits

        os.environ["OMP_NUM_THREADS"] = str(n_threads)
        # a product's last digits depend on how it is divided: as the local engine divides it
        threadpool_limits(n_blas_threads, "blas")
        sees_gold = retriever_entry(name).sees_gold
        self._make = partial(make_retriever, name, settings)
        self._retriever = None if sees_gold else self._make()

    def answers(self, units: Sequence[Unit]) -> Results:
        return {unit.id: self._answers(unit) for unit in units}

    def _answers(self, unit: Unit) -> dict[str, Retrieval | str]:
        answers = compute(self._retriever or self._make(evidence=unit.evidence), unit)
        return {  # a mapping proxy cannot be pickled
            task: answer if isinstance(answer, str) else replace(answer, details=dict(answer.details))
            for task, answer in answers.items()
        }


@contextmanager
def cluster(address: str | None, workers: int | None) -> Iterator[Any]:
    """Ray, connected; a connection that was there before is used, and stays."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    own: dict[str, Any] = {}
    if address == "local":
        own = {"num_cpus": workers, "object_store_memory": _MEMORY, "include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        problem = f"does not answer ({' '.join(str(error).split())[:200].rstrip('.')})"
        remedy = "Start Ray there (ray start --head), and here too (ray start --address=HOST:6379)."
        raise SettingError(f"Ray address {shown(address)}", problem, remedy) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _blas_threads() -> int:
    """How many threads numpy's products are divided among in this process."""
    from threadpoolctl import threadpool_info

    threads = [int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(threads, default=1)
