"""A store with two papers and two runs whose every number can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunSpec, RunStore
from tests.factories import raw_instance, written

__all__ = ["missed_store", "run_of"]

PAPER = [
    "# Tea and blood pressure",  # 0
    "> Tea lowers blood pressure in adults.",  # 1
    "> We enrolled 20 adults.",  # 2
    "Hypertension is common.",  # 3
    "# 2. Materials and Methods",  # 4
    "Adults drank tea daily.",  # 5
    "# Statistics",  # 6
    "We used a t test.",  # 7
    "# RESULTS",  # 8
    "Systolic values fell by 5 mmHg.",  # 9
    "No harm was seen.",  # 10
    "# Discussion",  # 11
    "Tea lowers systolic values.",  # 12
]
ASPECTS = {"design": [2, 5], "effect": [9, 12], "harm": [10], "main": [1, 12]}
RESULTS = ["effect", "harm", "main"]
OTHER = ["# Salt", "> Salt raises pressure.", "# Results", "It rose by 3 mmHg.", "Nobody died."]


def missed_store(folder: Path) -> Store:
    """Dataset ``hand`` with ``tea`` (4 aspects, 3 results) and ``salt`` (1 aspect, no result)."""
    store = open_store(folder / "missed.sqlite")
    dataset = {
        "tea": raw_instance(PAPER, ASPECTS, RESULTS, hypothesis="Tea lowers blood pressure.", paper_id="p1"),
        "salt": raw_instance(OTHER, {"rise": [3]}, hypothesis="Salt raises pressure.", paper_id="p2"),
    }
    ingest(store, written(dataset, folder / "hand.json"), name="hand")
    return store


def run_of(store: Store, retriever: str, answers: dict[str, dict[str, Retrieval | str]]) -> str:
    """The id of a run with these answers, by instance and task."""
    info = store.dataset("hand")
    run = RunStore(store).create(RunSpec(info.sha256, retriever, {"k": 1}), info)
    for instance_id, by_task in answers.items():
        RunStore(store).add(run.id, instance_id, by_task)
    return run.id


def ranked(ranking: tuple[int, ...], budget: int) -> Retrieval:
    """The first ``budget`` of a ranking, with scores that fall by one from the length of it."""
    scores = tuple(float(len(ranking) - place) for place in range(len(ranking)))
    return Retrieval(ranking, scores, ranking[:budget])
