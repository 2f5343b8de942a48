"""The Ray engine on a cluster of two nodes inside this machine. Skipped where Ray is not installed."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunStore, execute, plan
from evidencebench_core.runs.engines.ray import _QUIET, RayEngine
from tests.factories import raw_dataset, store_with

N_INSTANCES = 60
TASKS = ("er@optimal", "er@10")


def test_what_the_engine_cannot_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    served = plan(store, "tiny", "llm", {"model": "m"}, llm=LLM(Connection("http://h/v1")))
    with pytest.raises(SettingError):
        execute(served, RayEngine())
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(RetrieverError):
        execute(plan(store, "tiny", "bm25"), RayEngine())


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head and another node, with this process connected."""
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    os.environ.update(_QUIET)
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    made.add_node(**node)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


def answers(store: Store) -> dict[tuple[str, str], Retrieval]:
    """All that the run holds, but for the seconds; the store forgets it."""
    runs = RunStore(store)
    (run,) = runs.runs()
    held = {
        (task, unit): replace(answer, seconds=0.0)
        for task in TASKS
        for unit, answer in runs.retrievals(run.id, task).items()
    }
    runs.delete(run)
    return held


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_answers_are_those_of_the_local_engine_even_if_a_node_dies(cluster: Any, tmp_path: Path) -> None:
    store = store_with(raw_dataset(N_INSTANCES), tmp_path)
    for retriever in ("bm25", "oracle"):
        list(execute(plan(store, "tiny", retriever, tasks=TASKS)))
        expected = answers(store)
        reports = execute(plan(store, "tiny", retriever, tasks=TASKS), RayEngine())
        report = next(reports)
        while not report.done:
            report = next(reports)
        if retriever == "oracle":
            (other,) = cluster.worker_nodes
            cluster.remove_node(other)
        *_, last = reports
        assert (last.done, last.failed) == (N_INSTANCES, 0)
        assert answers(store) == expected
