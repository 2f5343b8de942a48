"""Every aspect that a run missed, with how near the miss was.

`aspect_outcomes` needs no paper (20,000 instances in a few seconds); what only their words can say is in
`missed_text`. Everything about one miss is `missed_context`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.arrays import IntegerArray

from evidencebench_core.data.gold import Gold, Numbers
from evidencebench_core.data.store import Store
from evidencebench_core.errors import EvidenceBenchError, UnknownNameError
from evidencebench_core.retrievers import retriever_entry
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task, task_named

_NEAREST: Final = np.dtype([("sentence", "<i4"), ("rank", "<i4"), ("score", "<f8")])  # of `packed_nearest`


def aspect_outcomes(store: Store, run_id: str, task: str | Task) -> pd.DataFrame:
    """Every aspect that a task asks a run for, found or missed: what shares of misses are shares of.

    Left out, and counted in ``frame.attrs``: aspects that no sentence covers (``n_uncoverable``: nobody can
    find them), instances without an answer (``n_unanswered``) and those with nothing to cover
    (``n_skipped``).

    Returns
    -------
    DataFrame
        One row an aspect, in the order of the dataset.

        - ``instance``, ``paper``: ids. ``number``: 0-based position of the aspect in its instance.
          ``aspect``, ``label``, ``text`` (``None`` where the data has none), ``is_result``.
        - ``missed``: whether no pick covers it.
        - ``covering``: tuple of the sentences that cover it; ``n_covering`` of them, 1 or more;
          ``n_sentences`` in the paper.
        - ``budget``: K of the instance, missing on the unconstrained task. ``picks``: tuple, in the order in
          which they were made; ``n_picks`` = ``n_adding`` (cover an asked aspect that no earlier pick covers)
          + ``n_repeating`` (cover only what earlier picks cover) + ``n_blank`` (cover nothing asked for).
        - ``sentence``: the nearest covering sentence, i.e. the best ranked; the first in the paper where the
          ranking reaches none of them. ``best_rank``: its rank, from 1; missing where it has none.
        - ``distance``: ``best_rank`` minus K (minus ``n_picks`` where there is no K): how many places too
          low; missing with the rank, or without picks to measure from.
        - ``gap``: score of the last pick minus that of ``sentence``, in the retriever's own unit; NaN where
          either has no score.
        - ``position``: where ``sentence`` stands, 0 (first sentence) to 1 (last).
        - ``found_by``: tuple of the ids of the other runs over the same instances that found it, out of
          ``n_others`` that answered; runs that see the gold, or of a model that was trained on instances of
          the dataset, do not count. For found aspects too.
    """
    chosen = task_named(task)
    runs = RunStore(store)
    run = runs.run(run_id)
    if not run.tasks.get(chosen.name):
        raise UnknownNameError(
            f"run {run.id}",
            f"has no answers for {chosen.name}",
            f"It has: {', '.join(run.tasks) or 'none'}. `evidencebench run` adds tasks to a run.",
        )
    gold = store.gold(run.dataset)
    ranked = _Ranked.of(store, run.id, chosen.name, gold)
    is_asked = gold.is_result if chosen.focus == "results" else np.ones(gold.instance.size, dtype=bool)
    is_there = ranked.answered[gold.instance] & is_asked
    some = gold.per_instance(is_asked) > 0
    kept = np.flatnonzero(is_there & (gold.n_covering > 0))
    instance = gold.instance[kept]
    is_kept = np.zeros(gold.instance.size, dtype=bool)
    is_kept[kept] = True
    n_sentences, n_covering = gold.n_sentences[instance], gold.n_covering[kept]
    n_picks, n_adding, n_repeating = (counts[instance] for counts in _kinds_of_picks(gold, is_asked, ranked))
    budget = chosen.budgets_for(gold)[instance]
    edge = np.where(budget < 0, n_picks, budget)
    nearest, rank, score = ranked.sentence[kept], ranked.rank[kept], ranked.score[kept]
    last = ranked.last_score[instance]
    names, texts = store.aspect_names(run.dataset)
    found_by, n_others = _others(gold, kept, runs, run, chosen)
    frame = pd.DataFrame(
        {
            "instance": pd.Series(gold.ids).array.take(instance),
            "paper": pd.Series(gold.paper_ids).array.take(instance),
            "number": gold.number[kept],
            "aspect": _taken(names, kept),
            "label": pd.Series([f"A{n + 1}" for n in range(gold.number.max(initial=0) + 1)]).array.take(
                gold.number[kept]
            ),
            "text": pd.Series(_taken(texts, kept), dtype=object),
            "is_result": gold.is_result[kept],
            "missed": ~gold.found(ranked.pick_row, ranked.pick)[kept],
            "covering": _tuples(gold.sentence[is_kept[gold.aspect]], n_covering),
            "n_covering": n_covering,
            "n_sentences": n_sentences,
            "budget": _integers(budget, budget >= 0),
            "picks": _taken(
                _tuples(ranked.pick, np.bincount(ranked.pick_row, minlength=len(gold.ids))), instance
            ),
            "n_picks": n_picks,
            "n_adding": n_adding,
            "n_repeating": n_repeating,
            "n_blank": n_picks - n_adding - n_repeating,
            "sentence": _integers(nearest),
            "best_rank": _integers(rank, rank > 0),
            "distance": _integers(rank - edge, (rank > 0) & (edge > 0)),
            "gap": last - score,
            "position": nearest / np.maximum(n_sentences - 1, 1),
            "found_by": found_by,
            "n_others": n_others,
        }
    )
    frame.attrs.update(
        run=run.id,
        dataset=run.dataset,
        task=chosen.name,
        n_uncoverable=int((is_there & (gold.n_covering == 0)).sum()),
        n_unanswered=int((some & ~ranked.answered).sum()),
        n_skipped=int((~some).sum()),
    )
    return frame


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """A run's picks, and where its rankings have the aspects.

    ``pick_row`` and ``pick`` have all picks in their order, instance by instance; ``sentence``, ``rank`` and
    ``score`` are those of `packed_nearest`, one an aspect of the gold.
    """

    answered: NDArray[np.bool_]
    pick_row: Numbers
    pick: Numbers
    last_score: NDArray[np.float64]
    sentence: Numbers
    rank: Numbers
    score: NDArray[np.float64]

    @classmethod
    def of(cls, store: Store, run_id: str, task: str, gold: Gold) -> _Ranked:
        row_of = {name: row for row, name in enumerate(gold.ids)}
        n_aspects = gold.per_instance()
        chosen = [b""] * len(gold.ids)
        nearest = [bytes((n + 1) * _NEAREST.itemsize) for n in n_aspects.tolist()]
        answered = np.zeros(len(gold.ids), dtype=bool)
        for name, selection, its_nearest in RunStore(store).nearest(run_id, task):
            row = row_of[name]
            chosen[row], nearest[row], answered[row] = selection, its_nearest, True
        entries = np.frombuffer(b"".join(nearest), dtype=_NEAREST)
        last = np.cumsum(n_aspects + 1) - 1
        n_picks = [len(selection) // 4 for selection in chosen]
        of_aspects = np.delete(entries, last)
        return cls(
            answered,
            np.repeat(np.arange(len(gold.ids)), n_picks),
            np.frombuffer(b"".join(chosen), dtype="<i4").astype(np.int64),
            entries["score"][last],
            of_aspects["sentence"].astype(np.int64),
            of_aspects["rank"].astype(np.int64),
            of_aspects["score"].astype(np.float64),
        )


def _runs(sizes: Sequence[int] | Numbers) -> tuple[Numbers, Numbers]:
    """For parts of these sizes, one after the other, the number of the part and the place in it."""
    counts = np.asarray(sizes, dtype=np.int64)
    which = np.repeat(np.arange(counts.size), counts)
    return which, np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)


def _kinds_of_picks(
    gold: Gold, is_asked: NDArray[np.bool_], ranked: _Ranked
) -> tuple[Numbers, Numbers, Numbers]:
    """How many picks each instance has, how many add an asked aspect, and how many only repeat some."""
    n, offset, pairs = len(gold.ids), gold.offset, is_asked[gold.aspect]
    n_picks = ranked.pick.size
    place = offset[ranked.pick_row] + ranked.pick
    order = np.argsort(place, kind="stable")
    places = np.append(place[order], -1)
    covered = (offset[gold.instance[gold.aspect]] + gold.sentence)[pairs]
    found = np.searchsorted(places[:-1], covered)
    hit = places[found] == covered
    first = order[found[hit]]  # the earliest pick of the sentence
    covers = np.zeros(n_picks, dtype=bool)
    covers[first] = True
    covers = covers[order[np.searchsorted(places[:-1], place)]]  # a sentence may be picked twice
    adds = np.full(gold.instance.size, n_picks)  # pick that is the first to cover each aspect
    np.minimum.at(adds, gold.aspect[pairs][hit], first)
    adding = np.zeros(n_picks + 1, dtype=bool)
    adding[adds] = True
    repeating = covers & ~adding[:-1]
    counts = (ranked.pick_row, ranked.pick_row[adding[:-1]], ranked.pick_row[repeating])
    all_picks, n_adding, n_repeating = (np.bincount(rows, minlength=n) for rows in counts)
    return all_picks, n_adding, n_repeating


def _others(
    gold: Gold, kept: Numbers, runs: RunStore, run: RunInfo, task: Task
) -> tuple[list[tuple[str, ...]], Numbers]:
    """Which other runs have found each of the aspects, and how many have answered its instance."""
    found_by: list[tuple[str, ...]] = [()] * kept.size
    n_others = np.zeros(len(gold.ids), dtype=np.int64)
    for other in other_runs(runs, run, task):
        if other.n_trained_on:
            continue
        selections = runs.selections(other.id, task.name)
        chosen = [selections.get(name, ()) for name in gold.ids]
        n_others += [name in selections for name in gold.ids]
        which, _ = _runs([len(picks) for picks in chosen])
        flat = np.fromiter(chain.from_iterable(chosen), dtype=np.int64, count=which.size)
        for place in np.flatnonzero(gold.found(which, flat)[kept]).tolist():
            found_by[place] = (*found_by[place], other.id)
    return found_by, n_others[gold.instance[kept]]


def _taken(values: Sequence[Any], places: Numbers) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array[places]


def _tuples(flat: Numbers, sizes: Numbers) -> list[tuple[int, ...]]:
    """The numbers, cut into tuples of these sizes."""
    values = iter(flat.tolist())
    return [tuple(islice(values, size)) for size in sizes.tolist()]


def _integers(values: Numbers, known: NDArray[np.bool_] | None = None) -> IntegerArray:
    """A column of integers, some of which may be missing."""
    return IntegerArray(values, np.zeros(values.size, dtype=bool) if known is None else ~known)


def other_runs(runs: RunStore, run: RunInfo, task: Task) -> list[RunInfo]:
    """The dataset's other runs over the original instances with answers to a task, that did not see gold."""
    return [
        other
        for other in runs.runs(run.dataset)
        if other.id != run.id and other.tasks.get(task.name) and not _sees_gold(other.retriever)
    ]


def _sees_gold(retriever: str) -> bool:
    try:
        return retriever_entry(retriever).sees_gold
    except EvidenceBenchError:  # an unknown one
        return False


def queue_of(outcomes: pd.DataFrame, results_only: bool = True) -> pd.DataFrame:
    """The missed rows, nearest miss first; result aspects only, or all.

    By ``distance``; those that the ranking does not reach come last; equals keep the order of the dataset.
    """
    missed = outcomes[outcomes["missed"] & (outcomes["is_result"] | (not results_only))]
    queue = missed.sort_values("distance", kind="stable", na_position="last")
    queue.attrs.update(outcomes.attrs)
    return queue
