"""Gold and picks as long frames: an analysis is a group-by over them.

The frames are cached by the stamps of dataset and run; nobody may change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from evidencebench_core.data.store import DatasetInfo, InstanceRow, Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.metrics import random_expectation
from evidencebench_core.runs import RunInfo, RunLike, RunStore
from evidencebench_core.stats import Estimate, quotient
from evidencebench_core.tasks import Task, task_named, validated_selection
from evidencebench_core.words import quantity, signed_points


def instance_frame(store: Store, dataset: str) -> pd.DataFrame:
    """Every instance, in the order of the file.

    Returns
    -------
    DataFrame
        ``instance``, ``paper`` (ids), ``n_sentences``, ``n_aspects``, ``n_results`` (result aspects), ``optimal`` and
        ``results_optimal`` (K; -1 without anything to cover).
    """
    return _instances(store, store.dataset(dataset))


@lru_cache(maxsize=4)
def _instances(store: Store, info: DatasetInfo) -> pd.DataFrame:
    frame = pd.DataFrame(store.rows(info.name, store.ids(info.name)), columns=InstanceRow._fields)
    frame = frame.rename(columns={"id": "instance", "paper_id": "paper", "n_result_aspects": "n_results"})
    frame["results_optimal"] = frame["results_optimal"].fillna(-1).astype(int)
    return frame.drop(columns=["hypothesis", "position"])


def gold_frame(store: Store, dataset: str) -> pd.DataFrame:
    """Every aspect with every sentence that covers it.

    Returns
    -------
    DataFrame
        ``row`` (of `instance_frame`), ``number`` (0-based position of the aspect in its instance), ``aspect`` (id),
        ``is_result``, ``sentence`` (-1 where none covers the aspect), ``n_sentences`` of the paper; in the order of
        the file, then of sentences.
    """
    return _gold(store, store.dataset(dataset))


@lru_cache(maxsize=4)
def _gold(store: Store, info: DatasetInfo) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    sentences: list[int] = []
    for row, (_, evidence) in enumerate(store.evidence_sets(info.name)):
        for number, aspect in enumerate(evidence.aspects):
            covering = aspect.sentence_indices or (-1,)
            rows.append((row, number, aspect.id, aspect.is_result, len(covering)))
            sentences += covering
    of_aspects = pd.DataFrame(rows, columns=["row", "number", "aspect", "is_result", "n"])
    of_aspects = of_aspects.astype({"row": int, "number": int, "is_result": bool, "n": int})
    repeated = of_aspects.index.repeat(of_aspects.pop("n"))
    gold = of_aspects.loc[repeated].reset_index(drop=True).assign(sentence=np.array(sentences, dtype=int))
    gold["n_sentences"] = _instances(store, info)["n_sentences"].to_numpy()[gold["row"]]
    return gold


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
    n_asked : array of int
        How many aspects the task asks for, by row of `instance_frame`; those that no sentence covers count.
    """

    task: Task
    frame: pd.DataFrame
    pairs: pd.DataFrame
    n_asked: np.ndarray

    @property
    def left_out(self) -> dict[str, int]:
        """How many of what there are in the dataset and not here."""
        return {
            "instances without anything to cover": int((self.n_asked == 0).sum()),
            "aspects that no sentence covers": int(self.n_asked.sum()) - len(self.frame),
        }


def aspects(store: Store, dataset: str, task: str | Task) -> Aspects:
    """The aspects of a task, and where they stand."""
    return _aspects(store, store.dataset(dataset), task_named(task))


@lru_cache(maxsize=8)
def _aspects(store: Store, info: DatasetInfo, task: Task) -> Aspects:
    instances, gold = _instances(store, info), _gold(store, info)
    if task.focus == "results":
        gold = gold[gold["is_result"]]
    covered = gold[gold["sentence"] >= 0]
    place, _ = pd.factorize(covered["row"] * 2**20 + covered["number"])
    frame = covered.groupby(place).agg(
        row=("row", "first"),
        number=("number", "first"),
        aspect=("aspect", "first"),
        is_result=("is_result", "first"),
        n_sentences=("n_sentences", "first"),
        n_covering=("sentence", "size"),
        first=("sentence", "min"),
        last=("sentence", "max"),
    )
    rows = frame["row"].to_numpy()
    for name in ("instance", "paper"):
        frame[name] = instances[name].to_numpy()[rows]
    frame["budget"] = _budgets(instances, task)[rows]
    columns = zip(frame["n_sentences"], frame["n_covering"], frame["budget"], strict=True)
    frame["chance"] = np.array([_chance(*column) for column in columns], dtype=float)
    pairs = pd.DataFrame({"place": place, "sentence": covered["sentence"].to_numpy()})
    return Aspects(task, frame, pairs, asked_aspects(instances, task).to_numpy())


def asked_aspects(instances: pd.DataFrame, task: Task) -> pd.Series[int]:
    """How many aspects a task asks about, by row of `instance_frame`."""
    return instances["n_aspects" if task.focus == "all" else "n_results"]


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
    return _picks(store, run, task_named(task), store.dataset(run.dataset))


@lru_cache(maxsize=64)
def _picks(store: Store, run: RunInfo, task: Task, info: DatasetInfo) -> Picks:
    instances, of_task = _instances(store, info), _aspects(store, info, task)
    selections = RunStore(store).selections(run, task)
    papers = zip(instances["instance"], instances["n_sentences"], strict=True)
    unique = [validated_selection(selections.get(name, ()), n, name) for name, n in papers]
    sizes = np.array([len(selection) for selection in unique], dtype=np.int64)
    rows = np.repeat(np.arange(len(unique)), sizes)
    sentences = np.array([sentence for selection in unique for sentence in selection], dtype=np.int64)
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


def recalls(store: Store, run: RunInfo, task: str | Task) -> pd.Series[float]:
    """Aspect Recall, 0 to 1, by instance in the order of the file; NaN without an answer or anything to cover."""
    instances = instance_frame(store, run.dataset)["instance"]
    if not run.has_picks:
        return pd.Series(RunStore(store).recalls(run, task), dtype=float).reindex(instances)
    of_task, answer = aspects(store, run.dataset, task), picks(store, run, task)
    n_found = np.bincount(of_task.frame["row"], answer.found, minlength=len(of_task.n_asked))
    values = np.where(answer.answered, quotient(n_found, of_task.n_asked), np.nan)
    return pd.Series(values, index=instances)


def runs_named(store: Store, runs: Sequence[RunLike], dataset: str | None = None) -> tuple[RunInfo, ...]:
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


def left_out_notes(counts: Mapping[str, int]) -> list[str]:
    """A note for each kind of thing that is left out: ``{"instances without an answer": 1}``."""
    notes = []
    for name, n in counts.items():
        noun, _, which = name.partition("s ")
        if n:
            notes.append(f"Left out: {quantity(n, noun)} {which}.")
    return notes


def estimate_columns(estimates: Iterable[Estimate], name: str, prefix: str = "") -> dict[str, list[float]]:
    """Columns of a table: the values, and their bounds as ``low`` and ``high`` behind the prefix; NaN if undefined."""
    rows = [(estimate.value, estimate.low, estimate.high) for estimate in estimates]
    table = np.array(rows, dtype=float).reshape(-1, 3)
    return dict(zip((name, f"{prefix}low", f"{prefix}high"), table.T.tolist(), strict=True))


def chance_text(low: float, high: float) -> str:
    """How sure a difference is, in points: ``−5.1 to −0.2``, ``−1.0 to +2.0, no more than chance``."""
    if np.isnan(low):
        return "no interval: too few papers, or all alike"
    bounds = f"{signed_points(low)} to {signed_points(high)}"
    return f"{bounds}, no more than chance" if low <= 0 <= high else bounds


def effects_text(differences: pd.DataFrame) -> str:
    """What each run's difference is, in points, how sure that is, and what random picks differ by."""
    rows = differences.fillna(np.nan).to_dict("records")
    chances = [points_text(row["chance_difference"]) for row in rows]
    is_common = len(set(chances)) == 1
    parts = []
    for row, chance in zip(rows, chances, strict=True):
        sure = chance_text(row["low"], row["high"])
        beside = "" if is_common else f"; random picks: {chance}"
        parts.append(f"{row['label']} finds {points_text(row['difference'])} ({sure}{beside})")
    return "; ".join([*parts, f"random picks: {chances[0]}"] if is_common else parts)


def points_text(difference: float) -> str:
    """``11.8 points less``, of an undefined difference ``an unknown number of points more or less``."""
    if np.isnan(difference):
        return "an unknown number of points more or less"
    return f"{abs(100 * difference):.1f} points {'less' if difference < 0 else 'more'}"
