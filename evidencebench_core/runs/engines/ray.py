"""Answers computed on a Ray cluster; only this process writes to the store.

Units go in, retrievals come out. What was with a worker or node that dies is given to another; if this process dies,
what it has stored is not asked again.
"""

import importlib.util
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any, Final

from evidencebench_core.errors import RetrieverError, SettingError, shown
from evidencebench_core.retrievers import OWN, Retriever, make_retriever
from evidencebench_core.runs.execution import compute
from evidencebench_core.runs.model import Results
from evidencebench_core.runs.planning import Plan, Unit
from evidencebench_core.words import clipped_text

_SHARD: Final = 16  # units in one task
_MEMORY: Final = 256 << 20  # bytes for the object store of a local cluster
_QUIET: Final = {  # no usage statistics, and logs stay in Ray's files
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


@dataclass
class RayEngine:
    """Answers on a cluster, for retrievers that ask no server."""

    workers: int | None = None  # None: one for each processor
    note: str = field(default="", init=False)

    def check(self, plan: Plan) -> None:
        if plan.llm is not None or plan.spec.settings["retriever"] == OWN:
            problem = "cannot do a run that asks a server, or a system of one's own"
            raise SettingError("the Ray engine", problem, "Leave out --engine ray.")
        if importlib.util.find_spec("ray") is None:
            remedy = "Install it: .venv/bin/pip install -c constraints.txt -e '.[ray]'."
            raise RetrieverError("the Ray engine", "is not installed", remedy)

    def answers(self, plan: Plan, stopped: Callable[[], bool]) -> Iterator[Results]:
        if not plan.missing:
            return
        self.note = "waiting for Ray and its workers"
        yield {}
        with _cluster(self.workers) as ray:
            task = ray.remote(num_cpus=1, max_retries=5)(answers_of)
            name, settings = plan.spec.settings["retriever"], json.dumps(plan.spec.settings["settings"])
            made = plan.units(plan.missing)
            # A worker makes its own retriever; the oracle goes with its gold.
            units = (replace(unit, retriever=None) if plan.retriever else unit for unit in made)
            shards = iter(lambda: list(islice(units, _SHARD)), [])
            most_under_way = self.workers or 2 * int(ray.cluster_resources().get("CPU", 1))
            under_way: list[Any] = []
            try:
                while not stopped():
                    free = most_under_way - len(under_way)
                    under_way += [task.remote(name, settings, shard) for shard in islice(shards, free)]
                    if not under_way:
                        return
                    ready, under_way = ray.wait(under_way, timeout=0.5)
                    self.note = "" if ready else self.note
                    yield from ray.get(ready)
            except ray.exceptions.RayError as error:
                line = clipped_text(str(getattr(error, "cause", "") or error).strip().partition("\n")[0], 300)
                remedy = "Check that every node has the same evidencebench-explorer, and the files of the settings."
                raise RetrieverError(
                    "the Ray engine", f"had a worker that failed ({line})", remedy
                ) from error
            finally:
                for reference in under_way:
                    ray.cancel(reference, force=True)


def answers_of(name: str, settings: str, units: Sequence[Unit]) -> Results:
    """The answers to units, computed in a worker."""
    results: dict[str, dict[str, Any]] = {}
    for unit in units:
        retriever = unit.retriever or _worker_retriever(name, settings)
        results[unit.id] = compute(replace(unit, retriever=retriever))
    return results


@cache
def _worker_retriever(name: str, settings: str) -> Retriever:
    return make_retriever(name, json.loads(settings))


@contextmanager
def _cluster(workers: int | None) -> Iterator[Any]:
    """Ray at ``RAY_ADDRESS`` (HOST:PORT, or auto), else on this machine; an existing connection stays open."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield ray
        return
    address = os.environ.get("RAY_ADDRESS") or "local"
    options: dict[str, Any] = {}
    if address == "local":
        options = {"num_cpus": workers, "object_store_memory": _MEMORY, "include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        problem = f"does not answer ({clipped_text(' '.join(str(error).split()), 200)})"
        remedy = "Start Ray there (ray start --head), and here too (ray start --address=HOST:6379)."
        raise SettingError(f"Ray address {shown(address)}", problem, remedy) from error
    try:
        yield ray
    finally:
        ray.shutdown()
