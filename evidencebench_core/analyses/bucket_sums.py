"""The tables of `positions`: sums by paper and bucket, so that papers can be resampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks
from evidencebench_core.analyses.buckets import STANDS, Stand, standing
from evidencebench_core.stats import ratio_intervals

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["BucketSums", "Part", "add_intervals"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One row a bucket, and the ratios in it that want an interval.

    Attributes
    ----------
    frame : DataFrame
    ratios : mapping of str to (numerators, denominators)
        By the prefix of their columns ``<prefix>low`` and ``<prefix>high``: arrays with one row a paper
        and one column a bucket (denominators may have a single column).
    """

    frame: pd.DataFrame
    ratios: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def add_intervals(parts: Sequence[Part], rng: np.random.Generator, n_resamples: int) -> None:
    """Fill in the intervals of all parts, from the same resamples of the papers."""
    import numpy as np

    tops = [top for part in parts for top, _ in part.ratios.values()]
    bottoms = [np.broadcast_to(b, t.shape) for part in parts for t, b in part.ratios.values()]
    bounds = ratio_intervals(np.concatenate(tops, 1), np.concatenate(bottoms, 1), rng, n_resamples)
    start = 0
    for part in parts:
        for prefix, (top, _) in part.ratios.items():
            end = start + top.shape[1]
            part.frame[f"{prefix}low"], part.frame[f"{prefix}high"] = bounds[start:end].T
            start = end


class BucketSums:
    """Sums over the instances that are kept.

    Parameters
    ----------
    table : AspectTable
    bucket : array of int, shape (n_places,)
    n_buckets : int
    kept : array of bool, shape (n,)
    """

    def __init__(
        self, table: AspectTable, bucket: NDArray[np.int64], n_buckets: int, kept: NDArray[np.bool_]
    ) -> None:
        import numpy as np

        self.table, self.bucket, self.n_buckets, self.kept = table, bucket, n_buckets, kept
        there = np.bincount(table.paper[kept], minlength=1) > 0
        self.n_papers = int(there.sum())
        self.cluster = (np.cumsum(there) - 1)[np.where(kept, table.paper, 0)]  # rows are those of kept papers
        self.sentence_instance = table.sentence_instance()
        self.covers = np.zeros(bucket.size, dtype=bool)
        self.covers[table.covering_place] = True
        self.covering = np.flatnonzero(self.covers)
        self.standing = {stand: standing(table, bucket, stand) for stand in STANDS}
        n_covering = np.bincount(table.covering_aspect, minlength=table.instance.size)
        self.n_covering = n_covering.astype(np.float64)

    def opportunity(self) -> Part:
        """Where aspects can and where they must be found."""
        import numpy as np

        every = np.arange(self.bucket.size)
        sentences = self._of_places(every)
        covering = self._of_places(self.covering)
        can, must = self._of_aspects("every"), self._of_aspects("only")
        aspects = self._of_aspects("earliest").sum(axis=1, keepdims=True)
        frame = self._edges()
        frame["n_instances"] = self._instances(self.sentence_instance, self.bucket)
        frame["n_sentences"] = sentences.sum(axis=0).astype(int)
        frame["n_covering"] = covering.sum(axis=0).astype(int)
        frame["share_covering"] = _ratio(covering, covering.sum(axis=1, keepdims=True))
        for name, cells in (("can", can), ("must", must)):
            frame[f"n_{name}"] = cells.sum(axis=0).astype(int)
            frame[name] = _ratio(cells, aspects)
        frame["n_aspects"] = int(aspects.sum())
        return Part(frame, {"can_": (can, aspects), "must_": (must, aspects)})

    def picks(self, picks: RunPicks) -> Part:
        """Where a run looked."""
        made = self._of_places(picks.place)
        covering = self._of_places(self.covering)
        total = made.sum(axis=1, keepdims=True)
        frame = self._edges()
        frame["n_picks"] = made.sum(axis=0).astype(int)
        frame["share"] = _ratio(made, total)
        frame["n_hits"] = self._of_places(picks.place[self.covers[picks.place]]).sum(axis=0).astype(int)
        frame["share_covering"] = _ratio(covering, covering.sum(axis=1, keepdims=True))
        return Part(frame, {"": (made, total)})

    def recalls(self, picks: RunPicks) -> Iterator[Part]:
        """What a run found, by where the aspects stand: one part a stand."""
        for stand in STANDS:
            aspect, where = self.standing[stand]
            n_aspects = self._of_aspects(stand)
            found = self._of_aspects(stand, picks.found)
            frame = self._edges()
            frame.insert(0, "stand", stand)
            frame["n_instances"] = self._instances(self.table.instance[aspect], where)
            frame["n_aspects"] = n_aspects.sum(axis=0).astype(int)
            frame["found"] = found.sum(axis=0)
            frame["recall"] = _ratio(found, n_aspects)
            chance = self.table.chance
            frame["chance"] = (
                float("nan") if chance is None else _ratio(self._of_aspects(stand, chance), n_aspects)
            )
            frame["mean_covering"] = _ratio(self._of_aspects(stand, self.n_covering), n_aspects)
            yield Part(frame, {"": (found, n_aspects)})

    def _edges(self) -> pd.DataFrame:
        import pandas as pd

        numbers = range(self.n_buckets)
        return pd.DataFrame(
            {
                "bucket": [number + 1 for number in numbers],
                "from": [number / self.n_buckets for number in numbers],
                "to": [(number + 1) / self.n_buckets for number in numbers],
            }
        )

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
        import numpy as np

        kept = self.kept[instance]
        cells = self.cluster[instance[kept]] * self.n_buckets + bucket[kept]
        sums = np.bincount(
            cells,
            weights=None if weights is None else weights[kept],
            minlength=self.n_papers * self.n_buckets,
        )
        return sums.astype(np.float64).reshape(self.n_papers, self.n_buckets)

    def _instances(self, instance: NDArray[np.int64], bucket: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many different instances are in each bucket."""
        import numpy as np

        kept = self.kept[instance]
        n_cells = len(self.table.ids) * self.n_buckets
        counts = np.bincount(instance[kept] * self.n_buckets + bucket[kept], minlength=n_cells)
        present = counts.reshape(-1, self.n_buckets) > 0
        return np.asarray(present.sum(axis=0), dtype=np.int64)


def _ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratio of the sums over papers, NaN where there is nothing to divide by."""
    import numpy as np

    above = top.sum(axis=0)
    below = np.broadcast_to(bottom.sum(axis=0), above.shape)
    return np.asarray(above / np.where(below != 0, below, np.nan), dtype=np.float64)
