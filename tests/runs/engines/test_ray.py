"""The Ray engine on a cluster of two nodes inside this machine. Skipped where Ray is not installed."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import BudgetReachedError, RetrieverError, SettingError
from evidencebench_core.llm import LLM, AnswerCache, Budget, Connection, Limits
from evidencebench_core.runs import Progress, RunStore, drive, execute, plan, train_ranker
from evidencebench_core.runs.engines.ray import RayEngine
from tests.factories import raw_dataset, written
from tests.llm.server import answering, reply, scripted

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own
N_INSTANCES = 60
TASKS = ("er@optimal", "er@10")


def test_an_engine_that_is_not_installed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        RetrieverError, match=r"is not installed\. Install it: pip install 'evidencebench-explorer"
    ):
        list(execute(plan(store, "tiny", "bm25"), RayEngine()))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and another node, with one processor each."""
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    from ray.cluster_utils import Cluster

    from evidencebench_core.runs.engines.ray_cluster import _QUIET

    os.environ.update(_QUIET)
    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    made.add_node(**node)
    yield made
    made.shutdown()


@pytest.fixture
def connected(cluster: Any) -> Iterator[Any]:
    """The cluster, with this process connected to it."""
    import ray

    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()


@pytest.fixture
def many(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "many.sqlite")
    ingest(store, written(raw_dataset(N_INSTANCES), tmp_path / "many.json"), name="tiny")
    return store


def answers(store: Store, run_id: str) -> dict[str, Any]:
    """All that is kept of a run but seconds and moments."""
    with store.read() as db:
        rows = db.execute(
            "SELECT task, instance_id, ranking, scores, selection, details, error FROM retrievals WHERE run_id = ?",
            (run_id,),
        ).fetchall()
    return {f"{task} {instance_id}": rest for task, instance_id, *rest in rows}


def forget(store: Store) -> None:
    with store.write() as db:
        db.execute("DELETE FROM retrievals")


def finished(reports: Iterator[Progress]) -> Progress:
    *_, last = reports
    return last


def local(store: Store, retriever: str, **how: Any) -> dict[str, Any]:
    last = finished(execute(plan(store, "tiny", retriever, tasks=TASKS, **how)))
    found = answers(store, last.run_id)
    forget(store)
    return found


@pytest.mark.parametrize("retriever", ["bm25", "oracle"])
def test_answers_are_those_of_the_local_engine(connected: Any, many: Store, retriever: str) -> None:
    expected = local(many, retriever)
    last = finished(execute(plan(many, "tiny", retriever, tasks=TASKS), RayEngine()))
    assert (last.done, last.failed) == (N_INSTANCES, 0)
    assert answers(many, last.run_id) == expected


@pytest.mark.model
@pytest.mark.realdata
@pytest.mark.parametrize("retriever", ["structure", "evidence-ranker"])
def test_answers_about_long_papers_are_equal_to_the_last_digit(
    connected: Any, store: Store, train_path: Path, tmp_path: Path, retriever: str
) -> None:
    few = dict(itertools.islice(json.loads(train_path.read_text()).items(), 8))
    ingest(store, written(few, tmp_path / "few.json"), name="few")
    settings = {}
    if retriever == "evidence-ranker":
        settings["model"] = str(tmp_path / "model.json")
        drive(train_ranker(store, "few", folds=0, out=Path(settings["model"])), lambda _: None)
    both = []
    for engine in (None, RayEngine()):
        last = finished(execute(plan(store, "few", retriever, settings, TASKS), engine))
        both.append(answers(store, last.run_id))
        forget(store)
    assert len(both[0]) == 16
    assert both[0] == both[1]


def test_a_finished_run_starts_no_cluster(store: Store) -> None:
    local_one = finished(execute(plan(store, "tiny", "bm25")))
    again = list(execute(plan(store, "tiny", "bm25"), RayEngine("nowhere:1")))
    assert [(one.run_id, one.done) for one in again] == [(local_one.run_id, 6)]


def test_settings_that_a_node_cannot_use_are_told(connected: Any, store: Store) -> None:
    planned = plan(store, "tiny", "bm25", tasks=TASKS)
    broken = replace(planned, spec=replace(planned.spec, settings={"none such": 1}))
    with pytest.raises(RetrieverError, match=r"Ray engine: a worker failed .*none such"):
        finished(execute(broken, RayEngine()))


def test_a_node_killed_in_mid_run_loses_nothing(connected: Any, many: Store) -> None:
    expected = local(many, "bm25")
    node = connected.add_node(num_cpus=1, object_store_memory=80 << 20)
    connected.wait_for_nodes()
    reports = execute(plan(many, "tiny", "bm25", tasks=TASKS), RayEngine(workers=3))
    done = 0
    for last in reports:
        done += last.instance_id is not None
        if done == 1 and last.instance_id is not None:
            connected.remove_node(node, allow_graceful=False)
    assert (last.done, last.failed, done) == (N_INSTANCES, 0, N_INSTANCES)
    assert answers(many, last.run_id) == expected


def test_a_driver_killed_in_mid_run_goes_on(cluster: Any, many: Store) -> None:
    command = [sys.executable, "-c", _DRIVER, str(many.path), cluster.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert "1\n" in driver.stdout  # reads up to that line
        driver.send_signal(signal.SIGKILL)
    planned = plan(many, "tiny", "bm25", tasks=TASKS)
    assert 0 < len(planned.missing) < N_INSTANCES
    last = finished(execute(planned, RayEngine(cluster.address)))
    assert last.done == N_INSTANCES
    found = answers(many, last.run_id)
    forget(many)
    assert local(many, "bm25") == found


_DRIVER = """
import sys, time
from pathlib import Path
from evidencebench_core.data.store import open_store
from evidencebench_core.runs import execute, plan
from evidencebench_core.runs.engines.ray import RayEngine
planned = plan(open_store(Path(sys.argv[1])), "tiny", "bm25", tasks=("er@optimal", "er@10"))
for report in execute(planned, RayEngine(sys.argv[2])):
    print(report.done, flush=True)
    if report.done:
        time.sleep(60)  # until it is killed
"""


def test_stopped_it_keeps_what_came(connected: Any, many: Store) -> None:
    reports = execute(plan(many, "tiny", "bm25", tasks=TASKS), RayEngine(), lambda: bool(came))
    came: list[Progress] = []
    for report in reports:
        if report.instance_id is not None:
            came.append(report)  # noqa: PERF401 - the list is what stops it
    assert 0 < len(came) < N_INSTANCES
    assert RunStore(many).run(came[0].run_id).tasks["er@10"] == len(came)
    assert not [one for one in threading.enumerate() if one.name.startswith("StreamingExecutor")]


def test_a_model_is_asked_from_the_nodes_within_one_cap(connected: Any, store: Store) -> None:
    def say(request: dict[str, Any]) -> Callable[..., None]:
        cohort = re.search(r"in cohort (\d+)\.", request["messages"][-1]["content"])
        assert cohort
        return reply(f"DECISION: [{cohort[1]}]")

    def planned(url: str, budget: Budget | None = None) -> Any:
        llm = LLM(Connection(url, "secret"), AnswerCache(store), budget, Limits(4))
        return plan(store, "tiny", "llm", {"model": "m", "strategy": "cot"}, ["er@10"], llm=llm)

    with scripted(answering(say)) as server:
        with pytest.raises(BudgetReachedError):
            finished(execute(planned(server.url, Budget(calls=2)), RayEngine(workers=2)))
        assert len(server.requests) == 2
        last = finished(execute(planned(server.url), RayEngine(workers=2)))
        assert (last.done, len(server.requests)) == (6, 6)
    selections = RunStore(store).selections(last.run_id, "er@10")
    assert selections == {f"tiny_{number}": (number,) for number in range(6)}


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "is not of the form HOST:PORT"),
        ("ray://127.0.0.1:10001", "is not of the form HOST:PORT"),
        ("closed", r"does not answer \(\[Errno \d+\] Connection refused\)"),
        ("other", r"does not answer \(what listens there is no Ray cluster\)"),
    ],
)
def test_an_address_that_does_not_answer(
    store: Store, address: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidencebench_core.runs.engines.ray_cluster._ANSWERS_WITHIN", 3.0)
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        if address in ("closed", "other"):
            kind, address = address, f"127.0.0.1:{server.getsockname()[1]}"
            if kind == "closed":
                server.close()
        with pytest.raises(SettingError, match=words):
            list(execute(plan(store, "tiny", "bm25"), RayEngine(address)))
