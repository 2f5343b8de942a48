"""The authors' systems on their test set, from their published log, as runs that have scores only.

A run of scores has Aspect Recalls by instance and no picks. The log holds them in the order of the dataset's file;
those of the Result tasks leave out the instances without result aspects.
"""

import io
import json
import re
from collections import defaultdict
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

    Of several experiments with one system and task the last counts. `DataError` if the file is no such log, or has not
    as many recalls as the dataset has instances.
    """
    info, runs = store.dataset(dataset), RunStore(store)
    content = file_content(path, _LARGEST, _REMEDY)
    ids: dict[Focus, list[str]] = {"all": [], "results": []}  # of the instances that have such aspects
    for name, evidence in store.evidence_sets(info):
        for focus, of_focus in ids.items():
            if evidence.optimal_for(focus):
                of_focus.append(name)
    log = _experiments(path, content)
    lengths = log["recalls"].map(len)
    here = log[lengths == log["task"].map(lambda task: len(ids[task.focus]))]
    if here.empty:
        counts = f"{len(ids['all']):,} instances, {len(ids['results']):,} of them with result aspects"
        listed = ", ".join(f"{n:,}" for n in lengths.value_counts().index[:3]) or "no"
        raise DataError(str(path), f"has {listed} recalls a system, and {info.name} {counts}", _REMEDY)
    kept = here.drop_duplicates(["system", "task"], keep="last")
    log_digest, infos = sha256(content).hexdigest()[:12], []
    for system, experiments in kept.groupby("system", sort=False):
        results: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
        for task, recalls in zip(experiments["task"], experiments["recalls"], strict=True):
            for instance, recall in zip(ids[task.focus], recalls, strict=True):
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
