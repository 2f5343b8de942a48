"""The authors' systems on their test set, from their published log, as runs that have scores only.

A run of scores has Aspect Recalls by instance and no picks. The log holds them in the order of the dataset's file;
those of the Result tasks leave out the instances without result aspects.
"""

import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import pandas as pd

from evidencebench_core.data.files import file_content
from evidencebench_core.data.model import Focus
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError, SettingError, shown
from evidencebench_core.retrievers import OFFICIAL
from evidencebench_core.runs.model import RunInfo, retrieval_spec
from evidencebench_core.runs.store import RunStore
from evidencebench_core.tasks import task_named

_REMEDY: Final = "Give the authors' logs.csv, and the dataset that it is about: their test set."
_COLUMNS: Final = frozenset({"Experiment Name", "Model", "Cov@", "Coverage List", "Recall List"})
_LARGEST: Final = 16 << 20  # bytes
_LEAST_FIT: Final = 0.8  # share of the recalls; 0.97 fit in the authors' order, 0.2 in another
_STRATEGIES: Final = {
    "original": "baseline",
    "ICL": "icl",
    "SBS": "sec-by-sec",
    "+O": "instruction",
    "-O": "no instruction",
}
"""What the tables of published results call a strategy, by the word for it in an experiment's name."""


def import_official(store: Store, dataset: str, path: Path) -> tuple[tuple[RunInfo, ...], tuple[str, ...]]:
    """Keep every system of the log as a run of scores; the runs, and notes on what was left out.

    Of several experiments with one system and task the last counts. `DataError` if the file is no such log, or its
    recalls are not of this dataset: there are as many as instances, and times the number of aspects they are whole,
    but where more than K sentences were picked.
    """
    info, runs = store.dataset(dataset), RunStore(store)
    content = file_content(path, _LARGEST, _REMEDY)
    gold = dict(store.evidence_sets(info))
    n_aspects: dict[Focus, dict[str, int]] = {"all": {}, "results": {}}  # by instance
    for focus, of_focus in n_aspects.items():
        for name, evidence in gold.items():
            if evidence.optimal_for(focus):
                of_focus[name] = len(evidence.focused(focus))
    log = _experiments(path, content)
    lengths = log["recalls"].map(len)
    here = log[lengths == log["task"].map(lambda task: len(n_aspects[task.focus]))]
    if here.empty:
        counts = f"{len(gold):,} instances, {len(n_aspects['results']):,} of them with result aspects"
        listed = ", ".join(f"{n:,}" for n in lengths.value_counts().index[:3]) or "no"
        raise DataError(str(path), f"has {listed} recalls a system, and {info.name} {counts}", _REMEDY)
    fits: list[bool] = []
    for task, recalls in zip(here["task"], here["recalls"], strict=True):
        fits += _fits(recalls, n_aspects[task.focus].values())
    if sum(fits) < _LEAST_FIT * len(fits):
        order = "other instances, or another order"
        problem = f"has recalls that are no shares of the aspects in {info.name}: {order}"
        raise DataError(str(path), problem, _REMEDY)
    kept = here.drop_duplicates(["system", "task"], keep="last")
    log_digest, infos = sha256(content).hexdigest()[:12], []
    for system, experiments in kept.groupby("system", sort=False):
        results: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
        for task, recalls in zip(experiments["task"], experiments["recalls"], strict=True):
            for instance, recall in zip(n_aspects[task.focus], recalls, strict=True):
                results[instance][task.name] = {"aspect_recall": recall}
        spec = retrieval_spec(info.sha256, OFFICIAL, {"name": str(system)}, {"log": log_digest})
        runs.create(spec, results=results)
        infos.append(runs.run(spec.id))
    notes = []
    if n_other := len(log) - len(here):
        notes.append(f"Left out: {n_other:,} experiments over other instances.")
    if n_again := len(here) - len(kept):
        notes.append(f"Left out: {n_again:,} experiments that were done again; the last counts.")
    return tuple(infos), tuple(notes)


def _fits(recalls: Iterable[float], n_aspects: Iterable[int]) -> list[bool]:
    """For each recall between 0 and 1 whether it is a share of that number of aspects."""
    products = [recall * n for recall, n in zip(recalls, n_aspects, strict=True) if 0 < recall < 1]
    return [abs(product - round(product)) < 1e-6 for product in products]


def _experiments(path: Path, content: bytes) -> pd.DataFrame:
    """Columns ``system, task, recalls``; experiments whose name does not say the task are left out."""
    try:
        log = pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except ValueError as error:  # pandas' errors, and those of decoding
        raise DataError(str(path), f"is no CSV in UTF-8: {error}", _REMEDY) from error
    if missing := _COLUMNS.difference(log.columns):
        raise DataError(str(path), f"has no column {shown(min(missing))}", _REMEDY)
    rows = []
    for number, row in enumerate(log.to_dict("records"), start=2):
        name, is_result = row["Experiment Name"], "result" in row["Experiment Name"]
        at = re.search(r"__(opt_k|[0-9]+)(?=_|$)", name)
        budget = row["Cov@"] or (at[1] if at else "unconstrained" if is_result else "")
        budget = {"-1": "optimal", "opt_k": "optimal"}.get(budget, budget)
        try:
            task = task_named(f"{'result-er' if is_result else 'er'}@{budget}")
        except SettingError:
            continue
        try:
            recalls = [float(recall) for recall in json.loads(row["Recall List"] or row["Coverage List"])]
            if not all(0 <= recall <= 1 for recall in recalls):
                raise ValueError("they are not all between 0 and 1")
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number}", f"has no list of recalls: {error}", _REMEDY) from error
        strategy = next((title for word, title in _STRATEGIES.items() if word in name), "")
        rows.append((", ".join(filter(None, (row["Model"], strategy))), task, recalls))
    return pd.DataFrame(rows, columns=["system", "task", "recalls"])
