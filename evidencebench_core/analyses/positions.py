"""Where evidence can be found, where it must be found, where runs look, and what they miss there.

A run that finds little in the middle of papers may ignore the middle, or there may be little to find.
So every recall here stands beside its opportunity: how many aspects it is a share of, how many
sentences cover them, and what as many sentences drawn at random would find of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.buckets import (
    STANDS,
    Buckets,
    Stand,
    aspect_buckets,
    buckets_of,
    middle_buckets,
)
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import runs_over_one_dataset
from evidencebench_core.data.gold import Numbers
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunStore
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

Run = tuple[str, str, RunPicks]
"""Id, label and picks."""
Sums = NDArray[np.float64]
"""By paper (rows) and bucket (columns)."""
_INSTANCES: Final = 4096  # whose sentences are counted at a time


def positions(
    store: Store,
    dataset: str,
    runs: Sequence[str] = (),
    task: str | Task = "er@optimal",
    *,
    buckets: int = 10,
    by: str = "sentence",
    n_resamples: int = 10_000,
) -> Report:
    """Opportunity, picks and recall by position in the paper, as `position_report` has it.

    Without runs, the opportunity alone. For ``buckets`` and ``by`` see `buckets_of`.
    """
    chosen = task_named(task)
    infos = runs_over_one_dataset(store, runs, dataset)
    table = aspect_table(store, dataset, chosen)
    known = RunStore(store)
    report = position_report(
        table,
        buckets_of(store, dataset, table, buckets, by),
        buckets,
        [
            (info.id, info.label, run_picks(table, known.packed_selections(info.id, chosen.name)))
            for info in infos
        ],
        f"Positions: {dataset}, {chosen.title}, {buckets} buckets by {by}",
        n_resamples=n_resamples,
    )
    return replace(report, notes=(*report.notes, *store.dataset(dataset).gold_notes))


def position_report(
    table: AspectTable,
    bucket: Buckets,
    n_buckets: int,
    runs: Sequence[Run],
    title: str,
    *,
    n_resamples: int = 10_000,
    with_middle: bool = False,
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

        With ``with_middle`` a fourth, *middle*, one row a run and stand: ``from``, ``to``, the middle
        (`middle_buckets`) as shares of the paper; ``n_middle``, ``n_rest`` aspects that stand there, of
        ``n_papers``; ``difference``: recall in the middle - recall in the rest, -1 to 1 (``low``, ``high``; NaN
        where fewer than two papers have an aspect there); ``chance_difference``, that of as many random
        picks. Empty without a middle, or without runs.
    """
    kept = np.all([np.ones(len(table.ids), dtype=bool), *(picks.answered for _, _, picks in runs)], axis=0)
    sums = _BucketSums(table, bucket, n_buckets, kept)
    frames = {"opportunity": [sums.opportunity()]}
    if runs:
        frames["picks"] = [sums.picks(*run) for run in runs]
        frames["recall"] = [frame for run in runs for frame in sums.recalls(*run)]
    if with_middle:
        frames["middle"] = [sums.middle()]
    sums.add_intervals(np.random.default_rng(0), n_resamples)
    tables = {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}
    return Report(title, tables, tuple(_notes(sums, runs, n_resamples)))


class _BucketSums:
    """Sums by paper and bucket over the instances that are kept, so that papers can be resampled.

    ``ratios`` collects what wants an interval: the frame (one row a bucket), the prefix of the columns of the
    bounds, numerators, and denominators (which may have a single column); ``differences`` what of them is pooled.
    """

    def __init__(self, table: AspectTable, bucket: Buckets, n_buckets: int, kept: NDArray[np.bool_]) -> None:
        self.table, self.bucket, self.n_buckets, self.kept = table, bucket, n_buckets, kept
        there = np.bincount(table.paper[kept], minlength=1) > 0
        self.n_papers = int(there.sum())
        self.cluster = (np.cumsum(there) - 1)[np.where(kept, table.paper, 0)]  # rows are those of kept papers
        self.covers = np.zeros(bucket.size, dtype=bool)
        self.covers[table.covering_place] = True
        self.standing = {stand: aspect_buckets(table, bucket, stand) for stand in STANDS}
        self.n_aspects = {stand: self._of_aspects(stand) for stand in STANDS}
        self.ratios: list[tuple[pd.DataFrame, str, Sums, Sums]] = []
        self.differences: list[tuple[list[int], list[int]]] = []
        self.of_differences = pd.DataFrame()

    def opportunity(self) -> pd.DataFrame:
        """Where aspects can and where they must be found."""
        frame = self._edges()
        n_sentences = self._sentences()
        frame["n_instances"] = np.count_nonzero(n_sentences, axis=0)
        frame["n_sentences"] = n_sentences.sum(axis=0)
        covering = self._of_places(np.flatnonzero(self.covers))
        frame["n_covering"] = covering.sum(axis=0).astype(int)
        frame["share_covering"] = _share(covering)
        aspects = self.n_aspects["earliest"].sum(axis=1, keepdims=True)
        stands: tuple[tuple[str, Stand], ...] = (("can", "every"), ("must", "only"))
        for name, stand in stands:
            standing_there = self.n_aspects[stand]
            frame[f"n_{name}"] = standing_there.sum(axis=0).astype(int)
            frame[name] = _ratio(standing_there, aspects)
            self.ratios.append((frame, f"{name}_", standing_there, aspects))
        frame["n_aspects"] = int(aspects.sum())
        return frame

    def picks(self, run: str, label: str, picks: RunPicks) -> pd.DataFrame:
        """Where a run looked."""
        made = self._of_places(picks.place)
        frame = self._edges(run=run, label=label)
        frame["n_picks"] = made.sum(axis=0).astype(int)
        frame["share"] = _share(made)
        frame["n_hits"] = self._of_places(picks.place[self.covers[picks.place]]).sum(axis=0).astype(int)
        frame["share_covering"] = _share(self._of_places(np.flatnonzero(self.covers)))
        self.ratios.append((frame, "", made, made.sum(axis=1, keepdims=True)))
        return frame

    def recalls(self, run: str, label: str, picks: RunPicks) -> Iterator[pd.DataFrame]:
        """The recall of a run, by where the aspects stand: one frame a stand."""
        chance = self.table.chance
        n_covering = np.bincount(self.table.covering_aspect, minlength=self.table.instance.size)
        for stand, (aspect, where) in self.standing.items():
            n_aspects, found = self.n_aspects[stand], self._of_aspects(stand, picks.found)
            frame = self._edges(run=run, label=label, stand=stand)
            frame["n_instances"] = self._n_instances(self.table.instance[aspect], where)
            frame["n_aspects"] = n_aspects.sum(axis=0).astype(int)
            frame["found"] = found.sum(axis=0)
            frame["recall"] = _ratio(found, n_aspects)
            frame["chance"] = np.nan if chance is None else self._mean(stand, chance)
            frame["mean_covering"] = self._mean(stand, n_covering)
            self.ratios.append((frame, "", found, n_aspects))
            yield frame

    def middle(self) -> pd.DataFrame:
        """The middle against the rest, in the frames of `recalls`."""
        there = middle_buckets(self.n_buckets)
        inside = np.isin(np.arange(self.n_buckets), there)
        rows = []
        for number, (frame, _, _, n_aspects) in enumerate(self.ratios if there else ()):
            if "stand" in frame:
                columns = number * self.n_buckets + np.arange(self.n_buckets)
                self.differences.append((columns[inside].tolist(), columns[~inside].tolist()))
                rows.append(
                    {
                        **frame.loc[0, ["run", "label", "stand"]],
                        "from": there.start / self.n_buckets,
                        "to": there.stop / self.n_buckets,
                        "n_middle": int(n_aspects[:, inside].sum()),
                        "n_rest": int(n_aspects[:, ~inside].sum()),
                        "n_papers": int(n_aspects.any(axis=1).sum()),
                        "difference": _difference(frame["recall"], frame["n_aspects"], inside),
                        "chance_difference": _difference(frame["chance"], frame["n_aspects"], inside),
                    }
                )
        self.of_differences = pd.DataFrame(rows)
        return self.of_differences

    def add_intervals(self, rng: np.random.Generator, n_resamples: int) -> None:
        """Fill in all intervals, from the same resamples of the papers."""
        tops = np.concatenate([top for _, _, top, _ in self.ratios], axis=1)
        bottoms = list({id(bottom): bottom for _, _, _, bottom in self.ratios}.values())
        first = np.cumsum([0, *(bottom.shape[1] for bottom in bottoms)]).tolist()
        columns = {id(bottom): range(first[n], first[n + 1]) for n, bottom in enumerate(bottoms)}
        belongs = [
            columns[id(bottom)][column if bottom.shape[1] > 1 else 0]
            for _, _, top, bottom in self.ratios
            for column in range(top.shape[1])
        ]
        bounds = ratio_intervals(
            tops,
            np.concatenate(bottoms, axis=1),
            rng,
            n_resamples,
            belongs=belongs,
            differences=self.differences,
        )
        of_frames = bounds[: len(belongs)].reshape(len(self.ratios), -1, 2)
        for (frame, prefix, _, _), (low, high) in zip(self.ratios, of_frames.swapaxes(1, 2), strict=True):
            frame[f"{prefix}low"], frame[f"{prefix}high"] = low, high
        if self.differences:
            self.of_differences["low"], self.of_differences["high"] = bounds[len(belongs) :].T

    def _edges(self, **constants: str) -> pd.DataFrame:
        numbers = np.arange(self.n_buckets)
        edges = {"from": numbers / self.n_buckets, "to": (numbers + 1) / self.n_buckets}
        return pd.DataFrame({**constants, "bucket": numbers + 1, **edges})

    def _sentences(self) -> Numbers:
        """How many sentences each instance that is kept has in each bucket."""
        counts = np.zeros((len(self.table.ids), self.n_buckets), dtype=np.int64)
        for start in range(0, len(counts), _INSTANCES):
            part = counts[start : start + _INSTANCES]
            sizes = self.table.n_sentences[start : start + _INSTANCES]
            first = int(self.table.offset[start])
            bucket = self.bucket[first : first + int(sizes.sum())]
            cells = np.repeat(np.arange(len(part)), sizes) * self.n_buckets + bucket
            part[:] = np.bincount(cells, minlength=part.size).reshape(part.shape)
        return counts[self.kept]

    def _of_places(self, places: Numbers) -> Sums:
        """How many of these sentences each paper has in each bucket."""
        return self._cells(self.table.instance_at(places), self.bucket[places])

    def _of_aspects(self, stand: Stand, weights: NDArray[np.float64] | None = None) -> Sums:
        """How many aspects each paper has in each bucket, or the sum of their weights."""
        aspect, where = self.standing[stand]
        return self._cells(self.table.instance[aspect], where, None if weights is None else weights[aspect])

    def _mean(self, stand: Stand, values: NDArray[Any]) -> NDArray[np.float64]:
        """Of the aspects that stand in each bucket."""
        aspect, where = self.standing[stand]
        kept = self.kept[self.table.instance[aspect]]
        sums = np.bincount(where[kept], values[aspect[kept]], self.n_buckets).astype(np.float64)
        return _ratio(sums[None, :], self.n_aspects[stand])

    def _cells(
        self, instance: Numbers, bucket: Buckets | Numbers, weights: NDArray[np.float64] | None = None
    ) -> Sums:
        kept = self.kept[instance]
        cells = self.cluster[instance[kept]] * self.n_buckets + bucket[kept]
        sums = np.bincount(
            cells,
            weights=None if weights is None else weights[kept],
            minlength=self.n_papers * self.n_buckets,
        )
        return sums.astype(np.float64).reshape(self.n_papers, self.n_buckets)

    def _n_instances(self, instance: Numbers, bucket: Numbers) -> Numbers:
        """How many different instances are in each bucket."""
        kept = self.kept[instance]
        n_cells = len(self.table.ids) * self.n_buckets
        counts = np.bincount(instance[kept] * self.n_buckets + bucket[kept], minlength=n_cells)
        present: Numbers = np.count_nonzero(counts.reshape(-1, self.n_buckets), axis=0)
        return present


def _share(sums: Sums) -> NDArray[np.float64]:
    """Of each bucket in the sum of all."""
    return _ratio(sums, sums.sum(axis=1, keepdims=True))


def _ratio(top: Sums, bottom: Sums) -> NDArray[np.float64]:
    """Ratio of the sums over papers, NaN where there is nothing to divide by."""
    above = top.sum(axis=0)
    below = np.broadcast_to(bottom.sum(axis=0), above.shape)
    return np.asarray(above / np.where(below != 0, below, np.nan), dtype=np.float64)


def _difference(shares: pd.Series[float], n: pd.Series[int], inside: NDArray[np.bool_]) -> float:
    """The share of all in the buckets ``inside`` minus that of all in the others; NaN where one has none."""
    sums, sizes = np.where(n > 0, shares * n, 0.0), n.to_numpy().astype(np.float64)
    one, other = (_ratio(sums[some, None], sizes[some, None])[0] for some in (inside, ~inside))
    return float(one - other)


def _notes(sums: _BucketSums, runs: Sequence[Run], n_resamples: int) -> Iterator[str]:
    table, kept = sums.table, sums.kept
    yield (
        f"{int(kept.sum())} instances from {sums.n_papers} papers, {int(kept[table.instance].sum())} aspects; "
        f"intervals: 95%, {n_resamples:,} bootstrap resamples of papers."
    )
    if table.skipped:
        reasons = ", ".join(dict.fromkeys(table.skipped.values()))
        yield f"{len(table.skipped)} instances are skipped, they have nothing to cover: {reasons}."
    if table.n_uncovered:
        yield f"{table.n_uncovered} aspects that no sentence covers stand nowhere and are left out."
    for _, label, picks in runs:
        if missing := int((~picks.answered).sum()):
            yield f"{missing} instances are left out for all runs: {label} has not answered them."
        if picks.n_over_budget:
            yield (
                f"{label} picked more than the budget in {picks.n_over_budget} instances: an aspect counts "
                "there with the probability that a random part of the picks of the budget's size finds it."
            )
    if short := int((table.n_sentences[kept] < sums.n_buckets).sum()):
        yield f"{short} papers have fewer sentences than buckets: some of their buckets are empty."
    yield (
        "Where a run found none or all of the aspects the interval has no width, which is no certainty: look "
        "at how many they are."
    )
    yield (
        "Aspects in different buckets are different aspects: compare recall with chance, the recall that as "
        "many sentences drawn at random would reach there, before you blame the position."
    )
