"""Stores with given gold and given answers, among them one whose every miss can be worked out by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from evidencebench_core.analyses.comparison import Systems
from evidencebench_core.data import Store
from evidencebench_core.retrievers import Retrieval, read_settings
from evidencebench_core.runs import RunStore, execute, plan, retrieval_spec
from evidencebench_core.tasks import task_named
from tests.factories import raw_instance, store_with


def run_of(
    store: Store,
    retriever: str,
    answers: Mapping[str, Mapping[str, Retrieval | str]],
    settings: Mapping[str, Any] = MappingProxyType({"k": 1}),
) -> str:
    """Id of a run with these answers, by instance and task, whatever its retriever would have answered."""
    (info,) = store.datasets()
    run = retrieval_spec(info.sha256, retriever, settings, {})
    RunStore(store).create(run, results=answers)
    return run.id


def given_run(
    store: Store, selections: Mapping[str, Sequence[int]], task: str, retriever: str = "lead"
) -> str:
    """Id of a run that picked this."""
    answers = {name: {task: ranked(tuple(picks), len(picks))} for name, picks in selections.items()}
    return run_of(store, retriever, answers, read_settings(retriever).values())


def complete_run(store: Store, dataset: str, retriever: str, **how: Any) -> str:
    """Id of a run of a retriever, executed as `plan` says."""
    *_, last = execute(plan(store, dataset, retriever, **how))
    return last.run_id


def ranked(ranking: tuple[int, ...], budget: int) -> Retrieval:
    """The first ``budget`` of a ranking, with scores that fall by one from the length of it."""
    scores = tuple(float(len(ranking) - place) for place in range(len(ranking)))
    return Retrieval(ranking, scores, budget)


def systems_of(recalls: Sequence[Sequence[float]], papers: Sequence[str] | None = None) -> Systems:
    """Runs A, B, ... with these recalls, on instances a, b, ... of a paper each or of these papers."""
    names, instances = "ABCDE"[: len(recalls)], range(len(recalls[0]))
    table = pd.DataFrame(np.array(recalls).T, columns=list(names), index=[f"i{n}" for n in instances])
    labels = dict(zip(names, names, strict=True))
    return Systems(
        task_named("er@optimal"), "tiny", labels, table, papers or list(map(str, instances)), ("a note",)
    )


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
PICKED = Retrieval((12, 1, 0, 9, 10), (8.0, 6.0, 4.0, 3.0, 1.5), 3)
"""12 covers effect and main, 1 repeats main, 0 covers nothing; harm (10) ranks fifth, design is not ranked."""


def missed_store(folder: Path) -> Store:
    """Dataset ``hand`` with ``tea`` (4 aspects, 3 results) and ``salt`` (1 aspect, no result)."""
    dataset = {
        "tea": raw_instance(PAPER, ASPECTS, RESULTS, hypothesis="Tea lowers blood pressure.", paper_id="p1"),
        "salt": raw_instance(OTHER, {"rise": [3]}, hypothesis="Salt raises pressure.", paper_id="p2"),
    }
    return store_with(dataset, folder, "hand")
