"""Runs with given answers, and systems with given recalls."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evidencebench_core.analyses.comparison import Systems
from evidencebench_core.data import Store
from evidencebench_core.retrievers import Retrieval, read_settings
from evidencebench_core.runs import RunStore, execute, plan, retrieval_spec
from evidencebench_core.tasks import task_named

Answers = Mapping[str, Mapping[str, Retrieval | str]]


def run_of(store: Store, retriever: str, answers: Answers, **settings: Any) -> str:
    """Id of a run with these answers, by instance and task, whatever its retriever would have answered."""
    (info,) = store.datasets()
    run = retrieval_spec(info.sha256, retriever, settings, {})
    RunStore(store).create(run, results=answers)
    return run.id


def given_run(store: Store, picked: Mapping[str, Sequence[int]], task: str, retriever: str = "lead") -> str:
    """Id of a run that picked this."""
    answers = {name: {task: ranked(tuple(picks), len(picks))} for name, picks in picked.items()}
    return run_of(store, retriever, answers, **read_settings(retriever).values())


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
    papers = papers or list(map(str, instances))
    return Systems(task_named("er@optimal"), "tiny", labels, table, papers, ("a note",))
