"""The authors' systems on their test set, from the log that they publish: each a run of scores.

A run of scores has Aspect Recalls by instance and no picks. The log holds them in the order of the dataset's file;
those of the Result tasks leave out the instances without result aspects.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from evidencebench_core.data.files import file_content
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SettingError, shown
from evidencebench_core.retrievers import OFFICIAL
from evidencebench_core.runs.store import RunInfo, RunStore, retrieval_spec
from evidencebench_core.tasks import Task, task_named

_REMEDY: Final = "Give the authors' logs.csv, and the dataset that it is about: their test set."
_COLUMNS: Final = frozenset({"Experiment Name", "Model", "Cov@", "Coverage List", "Recall List"})
_LARGEST: Final = 16 << 20  # bytes
_LEAST_FIT: Final = 0.8  # of the recalls; 0.97 fit in the authors' order, 0.2 in another
_STRATEGIES: Final = {
    "original": "baseline",
    "ICL": "icl",
    "SBS": "sec-by-sec",
    "+O": "instruction",
    "-O": "no instruction",
}
"""By the word in the name of an experiment, what the tables of published results call it."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """A line of the log."""

    system: str
    task: Task
    recalls: tuple[float, ...]


def import_official(store: Store, dataset: str, path: Path) -> tuple[tuple[RunInfo, ...], tuple[str, ...]]:
    """Keep every system of the log as a run of scores; the runs, and notes on what was left out.

    Of several experiments with one system and task the last counts. `DataError` if the file is no such log, or its
    recalls are not of this dataset: there are as many as instances, and times the number of aspects they are whole,
    but where more than K sentences were picked.
    """
    info, runs = store.dataset(dataset), RunStore(store)
    content = file_content(path, _LARGEST, _REMEDY)
    gold = dict(store.evidence_sets(info))
    n_aspects = {
        focus: {
            name: len(evidence.focused(focus))
            for name, evidence in gold.items()
            if evidence.optimal_for(focus)
        }
        for focus in ("all", "results")
    }
    results: dict[str, dict[Task, dict[str, float]]] = {}
    lengths: Counter[int] = Counter()
    n_read, fits = 0, []
    for experiment in _experiments(path, content):
        asked, recalls = n_aspects[experiment.task.focus], experiment.recalls
        lengths[len(recalls)] += 1
        if len(recalls) == len(asked):
            n_read += 1
            results.setdefault(experiment.system, {})[experiment.task] = dict(
                zip(asked, recalls, strict=True)
            )
            fits += _fits(recalls, list(asked.values()))
    if not results:
        counts = f"{len(gold):,} instances, {len(n_aspects['results']):,} of them with result aspects"
        listed = ", ".join(f"{n:,}" for n, _ in lengths.most_common(3))
        raise DataError(
            str(path), f"has {listed or 'no'} recalls a system, and {info.name} {counts}", _REMEDY
        )
    if sum(fits) < _LEAST_FIT * len(fits):
        problem = (
            f"has recalls that are no shares of the aspects in {info.name}: other instances, or another order"
        )
        raise DataError(str(path), problem, _REMEDY)
    infos = []
    log = sha256(content).hexdigest()[:12]
    for system, by_task in results.items():
        spec = retrieval_spec(info.sha256, OFFICIAL, {"name": system}, {"log": log})
        runs.create(spec, results=_by_instance(by_task))
        infos.append(runs.run(spec.id))
    n_kept = sum(map(len, results.values()))
    notes = []
    if n_other := lengths.total() - n_read:
        notes.append(f"Left out: {n_other:,} experiments over other instances.")
    if n_read > n_kept:
        notes.append(f"Left out: {n_read - n_kept:,} experiments that were done again; the last counts.")
    return tuple(infos), tuple(notes)


def _by_instance(by_task: Mapping[Task, Mapping[str, float]]) -> dict[str, dict[str, dict[str, float]]]:
    results: dict[str, dict[str, dict[str, float]]] = {}
    for task, recalls in by_task.items():
        for instance, recall in recalls.items():
            results.setdefault(instance, {})[task.name] = {"aspect_recall": recall}
    return results


def _fits(recalls: Sequence[float], n_aspects: Sequence[int]) -> list[bool]:
    """Of each recall between 0 and 1 whether it is a share of so many aspects."""
    products = [recall * n for recall, n in zip(recalls, n_aspects, strict=True) if 0 < recall < 1]
    return [abs(product - round(product)) < 1e-6 for product in products]


def _experiments(path: Path, content: bytes) -> Iterator[Experiment]:
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        missing = _COLUMNS.difference(reader.fieldnames or ())
        if missing:
            raise DataError(str(path), f"has no column {shown(min(missing))}", _REMEDY)
        for row in reader:
            yield from _experiment(f"{path}, line {reader.line_num}", row)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(str(path), f"is no CSV in UTF-8: {error}", _REMEDY) from error


def _experiment(place: str, row: Mapping[str, str]) -> Iterator[Experiment]:
    """The experiment of a line; none where its name does not say the task."""
    name, is_result = row["Experiment Name"], "result" in row["Experiment Name"]
    at = re.search(r"__(opt_k|[0-9]+)(?=_|$)", name)
    budget = row["Cov@"] or (at[1] if at else "unconstrained" if is_result else "")
    budget = {"-1": "optimal", "opt_k": "optimal"}.get(budget, budget)
    try:
        task = task_named(f"{'result-er' if is_result else 'er'}@{budget}")
    except SettingError:
        return
    try:
        recalls = tuple(map(float, json.loads(row["Recall List"] or row["Coverage List"])))
        if not all(0 <= recall <= 1 for recall in recalls):
            raise ValueError("they are not all between 0 and 1")
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(place, f"has no list of recalls: {error}", _REMEDY) from error
    strategy = next((title for word, title in _STRATEGIES.items() if word in name), "")
    yield Experiment(", ".join(filter(None, (row["Model"], strategy))), task, recalls)
