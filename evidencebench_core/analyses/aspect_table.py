"""A dataset's gold and a run's picks as flat arrays, so that questions of place are sums over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evidencebench_core.data.store import Store
from evidencebench_core.errors import SelectionError
from evidencebench_core.metrics import expected_recall, random_expectation
from evidencebench_core.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class AspectTable:
    """The gold of a task over a dataset; arrays are read-only.

    Every sentence of the dataset has a *place*: its index plus the number of sentences of all
    instances before its own.

    Attributes
    ----------
    ids : tuple of str, length n
        Instances with something to cover, in the order of the file.
    paper : array of int, shape (n,)
        Number of the paper: instances of one paper share it.
    n_sentences, offset : arrays of int, shape (n,)
        ``offset`` is the place of the instance's first sentence.
    budget : tuple of (int or None), length n
    instance : array of int, shape (n_aspects,)
        Row of the instance of every aspect that at least one sentence covers.
    covering_aspect, covering_place : arrays of int, shape (n_pairs,)
        One pair for every aspect and every sentence that covers it, ascending by aspect, then place.
    chance : array of float, shape (n_aspects,), or None
        Probability that as many sentences drawn at random find the aspect; ``None`` without a budget.
    n_uncovered : int
        Aspects of these instances that no sentence covers: they stand nowhere and are left out.
    skipped : mapping of str to str
        Instances without anything to cover, with the reason.
    """

    ids: tuple[str, ...]
    paper: NDArray[np.int64]
    n_sentences: NDArray[np.int64]
    offset: NDArray[np.int64]
    budget: tuple[int | None, ...]
    instance: NDArray[np.int64]
    covering_aspect: NDArray[np.int64]
    covering_place: NDArray[np.int64]
    chance: NDArray[np.float64] | None
    n_uncovered: int
    skipped: Mapping[str, str]

    @property
    def n_papers(self) -> int:
        return int(self.paper.max()) + 1 if self.paper.size else 0

    def sentence_instance(self) -> NDArray[np.int64]:
        """Row of the instance of every place."""
        return np.repeat(np.arange(len(self.ids)), self.n_sentences)


@dataclass(frozen=True, slots=True, eq=False)
class RunPicks:
    """Where one run looked, and which aspects of an `AspectTable` it found.

    Attributes
    ----------
    answered : array of bool, shape (n,)
        Whether the run has an answer for the instance.
    place : array of int
        Places of the picks, each once, ascending.
    found : array of float, shape (n_aspects,)
        1 found, 0 missed; between, where more sentences were picked than the budget allows: the
        probability that the budget's share of them finds it (spec rule 10).
    n_over_budget : int
        Instances with more picks than the budget.
    """

    answered: NDArray[np.bool_]
    place: NDArray[np.int64]
    found: NDArray[np.float64]
    n_over_budget: int


def aspect_table(store: Store, dataset: str, task: Task) -> AspectTable:
    """The gold of a task as arrays."""
    ids: list[str] = []
    sizes: list[int] = []
    budgets: list[int | None] = []
    instance: list[int] = []
    covering_aspect: list[int] = []
    covering_place: list[int] = []
    chances: list[float | None] = []
    skipped: dict[str, str] = {}
    n_uncovered = offset = 0
    for instance_id, evidence in store.evidence_sets(dataset):
        aspects = [aspect.sentence_indices for aspect in evidence.focused(task.focus)]
        coverable = [indices for indices in aspects if indices]
        if not coverable:
            skipped[instance_id] = task.skip_reason(bool(aspects))
            continue
        budget = task.budget_for(evidence)
        for indices in coverable:
            covering_aspect += [len(instance)] * len(indices)
            covering_place += [offset + index for index in indices]
            instance.append(len(ids))
            chances.append(_chance(evidence.n_sentences, len(indices), budget))
        n_uncovered += len(aspects) - len(coverable)
        offset += evidence.n_sentences
        ids.append(instance_id)
        sizes.append(evidence.n_sentences)
        budgets.append(budget)
    n_sentences = np.array(sizes, dtype=np.int64)
    papers = [row.paper_id for row in store.rows(dataset, ids)]
    numbers = {paper: number for number, paper in enumerate(dict.fromkeys(papers))}
    return AspectTable(
        ids=tuple(ids),
        paper=_frozen([numbers[paper] for paper in papers]),
        n_sentences=_frozen(n_sentences),
        offset=_frozen(np.cumsum(n_sentences) - n_sentences),
        budget=tuple(budgets),
        instance=_frozen(instance),
        covering_aspect=_frozen(covering_aspect),
        covering_place=_frozen(covering_place),
        chance=None if task.budget is None else np.array(chances, dtype=np.float64),
        n_uncovered=n_uncovered,
        skipped=MappingProxyType(skipped),
    )


def run_picks(table: AspectTable, selections: Mapping[str, Sequence[int]]) -> RunPicks:
    """The picks and finds of a run's selections (by instance id); instances not in them are unanswered."""
    answered = np.array([instance_id in selections for instance_id in table.ids], dtype=bool)
    chosen = [selections.get(instance_id, ()) for instance_id in table.ids]
    counts = np.array([len(picks) for picks in chosen], dtype=np.int64)
    rows = np.repeat(np.arange(len(table.ids)), counts)
    indices = np.array([index for picks in chosen for index in picks], dtype=np.int64)
    wrong = np.flatnonzero((indices < 0) | (indices >= table.n_sentences[rows]))
    if wrong.size:
        where, index = table.ids[rows[wrong[0]]], int(indices[wrong[0]])
        raise SelectionError(where, f"sentence {index} is not in its paper", "Run the retriever again.")
    picked = np.zeros(int(table.n_sentences.sum()), dtype=bool)
    picked[table.offset[rows] + indices] = True
    hits = np.bincount(table.covering_aspect[picked[table.covering_place]], minlength=table.instance.size)
    found = (hits > 0).astype(np.float64)
    over = [
        row
        for row, (picks, budget) in enumerate(zip(chosen, table.budget, strict=True))
        if budget is not None and len(picks) > budget and len(set(picks)) > budget
    ]
    for row in over:
        first, end = np.searchsorted(table.instance, [row, row + 1])
        starts = np.searchsorted(table.covering_aspect, range(first, end + 1))
        for aspect, start, stop in zip(range(first, end), starts[:-1], starts[1:], strict=True):
            places = table.covering_place[start:stop] - table.offset[row]
            share = expected_recall(chosen[row], (frozenset(places.tolist()),), table.budget[row])
            found[aspect] = share or 0.0
    return RunPicks(answered=answered, place=np.flatnonzero(picked), found=found, n_over_budget=len(over))


@lru_cache(maxsize=1 << 16)
def _chance(n_sentences: int, n_covering: int, budget: int | None) -> float | None:
    return random_expectation(n_sentences, (frozenset(range(n_covering)),), budget)


def _frozen(values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values, dtype=np.int64)
    array.setflags(write=False)
    return array
