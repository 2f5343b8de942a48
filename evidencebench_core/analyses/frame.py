"""Gold and picks as long frames: an analysis is a group-by over them.

The frames are cached by the dataset's version and the number of a run's answers; nobody may change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from evidencebench_core.data.store import DatasetInfo, Store
from evidencebench_core.errors import SelectionError, SettingError, shown
from evidencebench_core.metrics import random_expectation
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.runs.results import papers_of
from evidencebench_core.stats import Estimate
from evidencebench_core.tasks import Task, task_named


def instance_frame(store: Store, dataset: str) -> pd.DataFrame:
    """Every instance, in the order of the file.

    Returns
    -------
    DataFrame
        ``instance``, ``paper`` (ids), ``n_sentences``, ``n_aspects``, ``n_results`` (result aspects), ``optimal`` and
        ``results_optimal`` (K; -1 without anything to cover).
    """
    return _gold(store, store.dataset(dataset))[0]


def gold_frame(store: Store, dataset: str) -> pd.DataFrame:
    """Every aspect with every sentence that covers it.

    Returns
    -------
    DataFrame
        ``row`` (of `instance_frame`), ``instance``, ``paper``, ``number`` (0-based position of the aspect in its
        instance), ``aspect`` (id), ``is_result``, ``sentence`` (-1 where none covers the aspect), ``n_sentences`` of
        the paper; in the order of the file, then of sentences.
    """
    return _gold(store, store.dataset(dataset))[1]


@lru_cache(maxsize=4)
def _gold(store: Store, info: DatasetInfo) -> tuple[pd.DataFrame, pd.DataFrame]:
    papers = papers_of(store, info.name)
    instances: list[tuple[object, ...]] = []
    pairs: list[tuple[object, ...]] = []
    for row, (name, evidence) in enumerate(store.evidence_sets(info.name)):
        n_results = sum(aspect.is_result for aspect in evidence.aspects)
        results_optimal = -1 if evidence.results_optimal is None else evidence.results_optimal
        counts = (evidence.n_sentences, len(evidence.aspects), n_results, evidence.optimal, results_optimal)
        instances.append((name, papers[name], *counts))
        for number, aspect in enumerate(evidence.aspects):
            head = (row, number, aspect.id, aspect.is_result)
            pairs.extend((*head, sentence) for sentence in aspect.sentence_indices or (-1,))
    columns = ["instance", "paper", "n_sentences", "n_aspects", "n_results", "optimal", "results_optimal"]
    frame = pd.DataFrame(instances, columns=columns)
    gold = pd.DataFrame(pairs, columns=["row", "number", "aspect", "is_result", "sentence"])
    gold = gold.astype({"row": int, "number": int, "sentence": int, "is_result": bool})
    for place, name in enumerate(("instance", "paper", "n_sentences"), start=1):
        gold.insert(
            place if place < 3 else len(gold.columns), name, frame[name].array[gold["row"].to_numpy()]
        )
    return frame, gold


@dataclass(frozen=True, slots=True, eq=False)
class Aspects:
    """The aspects that a task asks for and that a sentence covers.

    Attributes
    ----------
    frame : DataFrame
        One row an aspect: ``row``, ``instance``, ``paper``, ``number``, ``aspect``, ``is_result``, ``n_sentences``,
        ``n_covering`` (1 or more), ``first``, ``last`` (sentences), ``budget`` (-1 without a limit), ``chance``:
        probability that as many random sentences cover it (NaN without a budget).
    pairs : DataFrame
        ``place`` in ``frame``, and each covering ``sentence``.
    n_uncovered : int
        Aspects that no sentence covers: they are left out.
    n_skipped : int
        Instances without anything to cover.
    """

    task: Task
    frame: pd.DataFrame
    pairs: pd.DataFrame
    n_uncovered: int
    n_skipped: int

    @property
    def clusters(self) -> np.ndarray:
        """The paper of each aspect as a number, in the order of the file."""
        return pd.factorize(self.frame["paper"])[0]


def aspects(store: Store, dataset: str, task: str | Task) -> Aspects:
    """The aspects of a task, and where they stand."""
    return _aspects(store, store.dataset(dataset), task_named(task))


@lru_cache(maxsize=8)
def _aspects(store: Store, info: DatasetInfo, task: Task) -> Aspects:
    instances, gold = _gold(store, info)
    if task.focus == "results":
        gold = gold[gold["is_result"]]
    is_covered = gold["sentence"] >= 0
    covered = gold[is_covered]
    keys = covered["row"] * (gold["number"].max() + 1 if len(gold) else 1) + covered["number"]
    place = pd.factorize(keys)[0]
    frame = covered[~keys.duplicated()].drop(columns="sentence").reset_index(drop=True)
    by_aspect = covered["sentence"].groupby(place)
    frame["n_covering"] = by_aspect.size().to_numpy()
    frame["first"], frame["last"] = by_aspect.min().to_numpy(), by_aspect.max().to_numpy()
    frame["budget"] = _budgets(instances, task)[frame["row"].to_numpy()]
    columns = zip(frame["n_sentences"], frame["n_covering"], frame["budget"], strict=True)
    frame["chance"] = np.array([_chance(*column) for column in columns], dtype=float)
    pairs = pd.DataFrame({"place": place, "sentence": covered["sentence"].to_numpy()})
    n_asked = (instances["n_aspects"] if task.focus == "all" else instances["n_results"]).to_numpy()
    has_covered = np.zeros(len(instances), dtype=bool)
    has_covered[frame["row"].to_numpy()] = True
    n_uncovered = int((~is_covered & has_covered[gold["row"].to_numpy()]).sum())
    return Aspects(task, frame, pairs, n_uncovered, int((n_asked == 0).sum()))


def _budgets(instances: pd.DataFrame, task: Task) -> np.ndarray:
    if task.budget == "optimal":
        column = "optimal" if task.focus == "all" else "results_optimal"
        return np.asarray(instances[column].to_numpy())
    return np.full(len(instances), -1 if task.budget is None else task.budget)


@lru_cache(maxsize=1 << 16)
def _chance(n: int, n_covering: int, budget: int) -> float:
    """Probability that ``budget`` of n sentences hit one of ``n_covering``; NaN without a budget."""
    share = random_expectation(n, (frozenset(range(n_covering)),), None if budget < 0 else budget)
    return np.nan if share is None else share


@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """What one run selected on a task.

    Attributes
    ----------
    answered : array of bool
        By row of `instance_frame`.
    frame : DataFrame
        One row a pick: ``row``, ``sentence``, ``covers`` (whether it covers an aspect that the task asks for).
    found : array of float
        By place of `Aspects.frame`: 1 covered, 0 missed or unanswered; between, where more sentences were picked than
        the budget allows: the probability that a part of them of the budget's size covers it.
    n_over_budget : int
        Instances with more picks than the budget.
    """

    run: RunInfo
    answered: np.ndarray
    frame: pd.DataFrame
    found: np.ndarray
    n_over_budget: int


def picks(store: Store, run: RunInfo, task: str | Task) -> Picks:
    """The picks of a run, beside the aspects of the task over its dataset."""
    chosen = task_named(task)
    return _picks(store, run.id, chosen, run.tasks.get(chosen.name, 0), store.dataset(run.dataset))


@lru_cache(maxsize=64)
def _picks(store: Store, run_id: str, task: Task, n_answers: int, info: DatasetInfo) -> Picks:
    run = RunStore(store).run(run_id)
    instances, of_task = _gold(store, info)[0], _aspects(store, info, task)
    selections = RunStore(store).selections(run.id, task.name)
    unique = [tuple(dict.fromkeys(selections.get(name, ()))) for name in instances["instance"]]
    sizes = np.array([len(selection) for selection in unique], dtype=np.int64)
    rows = np.repeat(np.arange(len(unique)), sizes)
    sentences = np.array([sentence for selection in unique for sentence in selection], dtype=np.int64)
    _check_sentences(instances, rows, sentences)
    width = int(instances["n_sentences"].max()) if len(instances) else 1
    keys = rows * width + sentences
    gold_keys = (
        of_task.frame["row"].to_numpy()[of_task.pairs["place"]] * width + of_task.pairs["sentence"].to_numpy()
    )
    n_hits = np.bincount(
        of_task.pairs["place"], weights=np.isin(gold_keys, keys), minlength=len(of_task.frame)
    )
    found = (n_hits > 0).astype(float)
    budgets = of_task.frame["budget"].to_numpy()
    n_picks = sizes[of_task.frame["row"].to_numpy()]
    over = np.flatnonzero((budgets >= 0) & (n_picks > budgets) & (found > 0))
    for place in over:
        found[place] = _chance(int(n_picks[place]), int(n_hits[place]), int(budgets[place]))
    frame = pd.DataFrame({"row": rows, "sentence": sentences, "covers": np.isin(keys, gold_keys)})
    of_instances = _budgets(instances, task)
    return Picks(
        run,
        instances["instance"].isin(selections.keys()).to_numpy(),
        frame,
        found,
        int(((of_instances >= 0) & (sizes > of_instances)).sum()),
    )


def _check_sentences(instances: pd.DataFrame, rows: np.ndarray, sentences: np.ndarray) -> None:
    wrong = np.flatnonzero((sentences < 0) | (sentences >= instances["n_sentences"].to_numpy()[rows]))
    if wrong.size:
        place = str(instances["instance"].iloc[rows[wrong[0]]])
        problem = f"sentence {sentences[wrong[0]]} is not in its paper"
        raise SelectionError(place, problem, "Run the retriever again.")


def runs_named(store: Store, runs: Sequence[str], dataset: str | None = None) -> tuple[RunInfo, ...]:
    """Runs over one dataset by id, each once; where no dataset is named, that of the first is meant."""
    infos = [RunStore(store).run(run) for run in runs]
    for run in infos:
        wanted = dataset or infos[0].dataset
        if run.dataset != wanted:
            raise SettingError(
                f"run {run.id}",
                f"is over dataset {shown(run.dataset)}, not {shown(wanted)}",
                "Take runs over one dataset.",
            )
    return tuple({run.id: run for run in infos}.values())


def estimate_columns(estimates: Iterable[Estimate], name: str, prefix: str = "") -> dict[str, list[float]]:
    """Columns of a table: the values, and their bounds as ``low`` and ``high`` behind the prefix; NaN if undefined."""
    rows = [
        [np.nan if value is None else value for value in (estimate.value, estimate.low, estimate.high)]
        for estimate in estimates
    ]
    values, lows, highs = zip(*rows, strict=True) if rows else ((), (), ())
    return {name: list(values), f"{prefix}low": list(lows), f"{prefix}high": list(highs)}
