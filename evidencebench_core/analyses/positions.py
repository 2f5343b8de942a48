"""Where evidence can be found, where it must be found, where runs look, and what they miss there.

A run that finds little in the middle of papers may ignore the middle, or there may be little to find.
So every recall here stands beside its opportunity: how many aspects it is a share of, how many
sentences cover them, and what as many sentences drawn at random would find of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.buckets import STANDS, Stand, buckets_of, standing
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import runs_over_one_dataset
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunStore
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

Run = tuple[str, str, RunPicks]
"""Id, label and picks."""


def positions(  # noqa: PLR0913 - one question, all its knobs by name
    store: Store,
    dataset: str,
    runs: Sequence[str] = (),
    task: str | Task = "er@optimal",
    *,
    buckets: int = 10,
    by: str = "sentence",
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Opportunity, picks and recall by position in the paper, as `position_report` has it.

    Without runs, the opportunity alone. For ``buckets`` and ``by`` see `buckets_of`.
    """
    chosen = task if isinstance(task, Task) else task_named(task)
    infos = runs_over_one_dataset(store, runs, dataset)
    table = aspect_table(store, dataset, chosen)
    known = RunStore(store)
    return position_report(
        table,
        buckets_of(store, dataset, table, buckets, by),
        buckets,
        [(info.id, info.label, run_picks(table, known.selections(info.id, chosen.name))) for info in infos],
        f"Positions: {dataset}, {chosen.title}, {buckets} buckets by {by}",
        n_resamples=n_resamples,
        seed=seed,
    )


def position_report(
    table: AspectTable,
    bucket: NDArray[np.int64],
    n_buckets: int,
    runs: Sequence[Run],
    title: str,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """The same from arrays: `positions` reads them from a store.

    Everything stands on the instances that *all* the runs have answered, so that opportunity, picks and
    recall are about the same aspects. Intervals are 95% percentile bootstrap intervals over papers.

    Returns
    -------
    Report
        Three tables. In all of them ``bucket`` counts from 1, and ``from`` and ``to`` are its edges as
        shares of the paper, 0 to 1; undefined shares are NaN.

        *opportunity*, one row a bucket: ``n_instances`` with a sentence there; ``n_sentences``;
        ``n_covering`` sentences that cover at least one aspect, ``share_covering`` of all that do;
        ``n_can`` aspects that a sentence there covers, ``can`` (``can_low``, ``can_high``) as a share of
        all aspects; ``n_must`` aspects that only sentences there cover, ``must`` likewise; ``n_aspects``
        in all.

        *picks*, one row a run and bucket: ``run`` (id), ``label``, ``n_picks``, ``share`` of the run's
        picks (``low``, ``high``), ``n_hits`` picks that cover an aspect, ``share_covering`` as above.

        *recall*, one row a run, stand and bucket: ``stand`` says where an aspect stands (`STANDS`);
        ``n_aspects`` that stand there, in ``n_instances``; ``found`` of them (a sum of probabilities where
        a run picked more than its budget); ``recall`` = found / n_aspects (``low``, ``high``); ``chance``,
        the recall expected of as many sentences drawn at random (NaN without a budget);
        ``mean_covering``, sentences that cover such an aspect.
    """
    kept = np.ones(len(table.ids), dtype=bool)
    for _, _, picks in runs:
        kept &= picks.answered
    sums = _BucketSums(table, bucket, n_buckets, kept)
    opportunity = sums.opportunity()
    picked = [sums.picks(*run) for run in runs]
    recalled = [part for run in runs for part in sums.recalls(*run)]
    _add_intervals([opportunity, *picked, *recalled], np.random.default_rng(seed), n_resamples)
    tables = {"opportunity": opportunity.frame}
    if runs:
        tables["picks"] = pd.concat([part.frame for part in picked], ignore_index=True)
        tables["recall"] = pd.concat([part.frame for part in recalled], ignore_index=True)
    return Report(title, tables, _notes(sums, runs, n_resamples))


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One row a bucket, and the ratios that want an interval.

    ``ratios`` holds numerators and denominators by the prefix of their columns ``<prefix>low`` and
    ``<prefix>high``: one row a paper and one column a bucket (denominators may have a single column).
    """

    frame: pd.DataFrame
    ratios: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def _add_intervals(parts: Sequence[_Part], rng: np.random.Generator, n_resamples: int) -> None:
    """Fill in the intervals of all parts, from the same resamples of the papers."""
    ratios = [(part, prefix, *ratio) for part in parts for prefix, ratio in part.ratios.items()]
    tops = np.concatenate([top for _, _, top, _ in ratios], axis=1)
    bottoms = np.concatenate([np.broadcast_to(below, top.shape) for _, _, top, below in ratios], axis=1)
    bounds = ratio_intervals(tops, bottoms, rng, n_resamples).reshape(len(ratios), -1, 2)
    for (part, prefix, _, _), (low, high) in zip(ratios, bounds.swapaxes(1, 2), strict=True):
        part.frame[f"{prefix}low"], part.frame[f"{prefix}high"] = low, high


class _BucketSums:
    """Sums by paper and bucket over the instances that are kept, so that papers can be resampled."""

    def __init__(
        self, table: AspectTable, bucket: NDArray[np.int64], n_buckets: int, kept: NDArray[np.bool_]
    ) -> None:
        self.table, self.bucket, self.n_buckets, self.kept = table, bucket, n_buckets, kept
        there = np.bincount(table.paper[kept], minlength=1) > 0
        self.n_papers = int(there.sum())
        self.cluster = (np.cumsum(there) - 1)[np.where(kept, table.paper, 0)]  # rows are those of kept papers
        self.sentence_instance = table.sentence_instance()
        self.covers = np.zeros(bucket.size, dtype=bool)
        self.covers[table.covering_place] = True
        self.standing = {stand: standing(table, bucket, stand) for stand in STANDS}
        n_covering = np.bincount(table.covering_aspect, minlength=table.instance.size)
        self.n_covering = n_covering.astype(np.float64)

    def opportunity(self) -> _Part:
        """Where aspects can and where they must be found."""
        covering = self._of_places(np.flatnonzero(self.covers))
        cells = {"can": self._of_aspects("every"), "must": self._of_aspects("only")}
        aspects = self._of_aspects("earliest").sum(axis=1, keepdims=True)
        frame = self._edges()
        frame["n_instances"] = self._n_instances(self.sentence_instance, self.bucket)
        frame["n_sentences"] = self._of_places(np.arange(self.bucket.size)).sum(axis=0).astype(int)
        frame["n_covering"] = covering.sum(axis=0).astype(int)
        frame["share_covering"] = _ratio(covering, covering.sum(axis=1, keepdims=True))
        for name, found in cells.items():
            frame[f"n_{name}"] = found.sum(axis=0).astype(int)
            frame[name] = _ratio(found, aspects)
        frame["n_aspects"] = int(aspects.sum())
        return _Part(frame, {f"{name}_": (found, aspects) for name, found in cells.items()})

    def picks(self, run: str, label: str, picks: RunPicks) -> _Part:
        """Where a run looked."""
        made = self._of_places(picks.place)
        covering = self._of_places(np.flatnonzero(self.covers))
        total = made.sum(axis=1, keepdims=True)
        frame = self._edges(run=run, label=label)
        frame["n_picks"] = made.sum(axis=0).astype(int)
        frame["share"] = _ratio(made, total)
        frame["n_hits"] = self._of_places(picks.place[self.covers[picks.place]]).sum(axis=0).astype(int)
        frame["share_covering"] = _ratio(covering, covering.sum(axis=1, keepdims=True))
        return _Part(frame, {"": (made, total)})

    def recalls(self, run: str, label: str, picks: RunPicks) -> Iterator[_Part]:
        """What a run found, by where the aspects stand: one part a stand."""
        for stand in STANDS:
            aspect, where = self.standing[stand]
            n_aspects = self._of_aspects(stand)
            found = self._of_aspects(stand, picks.found)
            chance = self.table.chance
            frame = self._edges(run=run, label=label, stand=stand)
            frame["n_instances"] = self._n_instances(self.table.instance[aspect], where)
            frame["n_aspects"] = n_aspects.sum(axis=0).astype(int)
            frame["found"] = found.sum(axis=0)
            frame["recall"] = _ratio(found, n_aspects)
            frame["chance"] = np.nan if chance is None else _ratio(self._of_aspects(stand, chance), n_aspects)
            frame["mean_covering"] = _ratio(self._of_aspects(stand, self.n_covering), n_aspects)
            yield _Part(frame, {"": (found, n_aspects)})

    def _edges(self, **constants: str) -> pd.DataFrame:
        numbers = np.arange(self.n_buckets)
        edges = {
            "bucket": numbers + 1,
            "from": numbers / self.n_buckets,
            "to": (numbers + 1) / self.n_buckets,
        }
        return pd.DataFrame({**constants, **edges})

    def _of_places(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many of these sentences each paper has in each bucket."""
        return self._cells(self.sentence_instance[places], self.bucket[places])

    def _of_aspects(self, stand: Stand, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """How many aspects each paper has in each bucket, or the sum of their weights."""
        aspect, where = self.standing[stand]
        return self._cells(self.table.instance[aspect], where, None if weights is None else weights[aspect])

    def _cells(
        self,
        instance: NDArray[np.int64],
        bucket: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Sums by paper (rows) and bucket (columns)."""
        kept = self.kept[instance]
        cells = self.cluster[instance[kept]] * self.n_buckets + bucket[kept]
        sums = np.bincount(
            cells,
            weights=None if weights is None else weights[kept],
            minlength=self.n_papers * self.n_buckets,
        )
        return sums.astype(np.float64).reshape(self.n_papers, self.n_buckets)

    def _n_instances(self, instance: NDArray[np.int64], bucket: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many different instances are in each bucket."""
        kept = self.kept[instance]
        n_cells = len(self.table.ids) * self.n_buckets
        counts = np.bincount(instance[kept] * self.n_buckets + bucket[kept], minlength=n_cells)
        present: NDArray[np.int64] = np.count_nonzero(counts.reshape(-1, self.n_buckets), axis=0)
        return present


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratio of the sums over papers, NaN where there is nothing to divide by."""
    above = top.sum(axis=0)
    below = np.broadcast_to(bottom.sum(axis=0), above.shape)
    return np.asarray(above / np.where(below != 0, below, np.nan), dtype=np.float64)


def _notes(sums: _BucketSums, runs: Sequence[Run], n_resamples: int) -> tuple[str, ...]:
    table, kept = sums.table, sums.kept
    n_aspects = int(kept[table.instance].sum())
    notes = [
        f"{int(kept.sum())} instances from {sums.n_papers} papers, {n_aspects} aspects; intervals: 95%, "
        f"{n_resamples:,} bootstrap resamples of papers."
    ]
    if table.skipped:
        reasons = ", ".join(dict.fromkeys(table.skipped.values()))
        notes.append(f"{len(table.skipped)} instances are skipped, they have nothing to cover: {reasons}.")
    if table.n_uncovered:
        notes.append(f"{table.n_uncovered} aspects that no sentence covers stand nowhere and are left out.")
    for _, label, picks in runs:
        if missing := int((~picks.answered).sum()):
            notes.append(f"{missing} instances are left out for all runs: {label} has not answered them.")
        if picks.n_over_budget:
            notes.append(
                f"{label} picked more than the budget in {picks.n_over_budget} instances: an aspect counts "
                "there with the probability that a random part of the picks of the budget's size finds it."
            )
    short = int((table.n_sentences[kept] < sums.n_buckets).sum())
    if short:
        notes.append(f"{short} papers have fewer sentences than buckets: some of their buckets are empty.")
    return (
        *notes,
        "Where a run found none or all of the aspects the interval has no width, which is no certainty: look "
        "at how many they are.",
        "Aspects in different buckets are different aspects: compare recall with chance, the recall that as "
        "many sentences drawn at random would reach there, before you blame the position.",
    )
