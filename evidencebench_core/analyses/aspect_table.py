"""A dataset's gold and a run's picks as flat arrays, so that questions of place are sums over them."""

from __future__ import annotations

from collections.abc import Mapping
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

    def instance_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row of the instance of each of these places."""
        return np.searchsorted(self.offset, places, side="right") - 1


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
    gold = store.gold(dataset).focused(task.focus)
    is_coverable = gold.n_covering > 0
    answerable = gold.per_instance(is_coverable) > 0
    n_aspects = gold.per_instance()
    part = gold.part(answerable, is_coverable)
    numbers = {paper: number for number, paper in enumerate(dict.fromkeys(part.paper_ids))}
    budgets = task.budgets_for(part)
    chances = None
    if task.budget is not None:
        columns = (part.n_sentences[part.instance], part.n_covering, budgets[part.instance])
        chances = np.array(list(map(_chance, *(column.tolist() for column in columns))), dtype=np.float64)
    return AspectTable(
        ids=part.ids,
        paper=_frozen([numbers[paper] for paper in part.paper_ids]),
        n_sentences=_frozen(part.n_sentences),
        offset=_frozen(part.offset),
        budget=tuple([None if budget < 0 else budget for budget in budgets.tolist()]),
        instance=_frozen(part.instance),
        covering_aspect=_frozen(part.aspect),
        covering_place=_frozen(part.offset[part.instance[part.aspect]] + part.sentence),
        chance=chances,
        n_uncovered=int((~is_coverable & answerable[gold.instance]).sum()),
        skipped=MappingProxyType(
            {gold.ids[row]: task.skip_reason(n_aspects[row] > 0) for row in np.flatnonzero(~answerable)}
        ),
    )


def run_picks(table: AspectTable, selections: Mapping[str, bytes]) -> RunPicks:
    """The picks and finds of `RunStore.packed_selections`; instances not in them are unanswered."""
    answered = np.array([instance_id in selections for instance_id in table.ids], dtype=bool)
    packed = [selections.get(instance_id, b"") for instance_id in table.ids]
    counts = np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)) // 4
    rows = np.repeat(np.arange(len(table.ids)), counts)
    indices = np.frombuffer(b"".join(packed), dtype="<i4").astype(np.int64)
    wrong = np.flatnonzero((indices < 0) | (indices >= table.n_sentences[rows]))
    if wrong.size:
        where, index = table.ids[rows[wrong[0]]], int(indices[wrong[0]])
        raise SelectionError(where, f"sentence {index} is not in its paper", "Run the retriever again.")
    picked = np.zeros(int(table.n_sentences.sum()), dtype=bool)
    picked[table.offset[rows] + indices] = True
    hits = np.bincount(table.covering_aspect[picked[table.covering_place]], minlength=table.instance.size)
    found = (hits > 0).astype(np.float64)
    over: dict[int, list[int]] = {}
    for row, (count, budget) in enumerate(zip(counts.tolist(), table.budget, strict=True)):
        if budget is not None and count > budget:
            picks = np.frombuffer(packed[row], dtype="<i4").tolist()
            if len(set(picks)) > budget:
                over[row] = picks
    for row, picks in over.items():
        first, end = np.searchsorted(table.instance, [row, row + 1])
        starts = np.searchsorted(table.covering_aspect, range(first, end + 1))
        for aspect, start, stop in zip(range(first, end), starts[:-1], starts[1:], strict=True):
            places = table.covering_place[start:stop] - table.offset[row]
            share = expected_recall(picks, (frozenset(places.tolist()),), table.budget[row])
            found[aspect] = share or 0.0
    return RunPicks(answered=answered, place=np.flatnonzero(picked), found=found, n_over_budget=len(over))


@lru_cache(maxsize=1 << 16)
def _chance(n_sentences: int, n_covering: int, budget: int | None) -> float | None:
    return random_expectation(n_sentences, (frozenset(range(n_covering)),), budget)


def _frozen(values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values, dtype=np.int64)
    array.setflags(write=False)
    return array
