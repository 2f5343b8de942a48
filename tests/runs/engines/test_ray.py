"""The Ray engine on a cluster of this machine. Skipped where Ray is not installed."""

from dataclasses import replace
from pathlib import Path

import pytest

from evidencebench_core.data.store import Store
from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.llm import LLM, Connection
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import LocalEngine, RunStore, execute, plan
from evidencebench_core.runs.engines.ray import RayEngine
from tests.factories import raw_dataset, store_with

TASKS = ("er@optimal", "er@10")


def test_what_the_engine_cannot_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    served = plan(store, "tiny", "llm", {"model": "m"}, llm=LLM(Connection("http://h/v1")))
    with pytest.raises(SettingError):
        execute(served, RayEngine())
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(RetrieverError):
        execute(plan(store, "tiny", "bm25"), RayEngine())


def answers(store: Store, retriever: str, engine: LocalEngine | RayEngine) -> list[Retrieval]:
    """All that a run comes to, but for the seconds; the store forgets it."""
    list(execute(plan(store, "tiny", retriever, tasks=TASKS), engine))
    runs = RunStore(store)
    (run,) = runs.runs()
    held = [answer for task in TASKS for answer in runs.retrievals(run.id, task).values()]
    runs.delete(run)
    return [replace(answer, seconds=0.0) for answer in held]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.parametrize("retriever", ["bm25", "oracle"])
def test_answers_are_those_of_the_local_engine(retriever: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra [ray] is not installed")
    store = store_with(raw_dataset(40), tmp_path)
    local = answers(store, retriever, LocalEngine())
    assert len(local) == 80
    assert answers(store, retriever, RayEngine()) == local
