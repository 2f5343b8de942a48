"""The instances behind a mark of a chart by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidencebench_core.analyses.buckets import Stand, standing

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks

__all__ = ["behind_bucket"]


def behind_bucket(
    table: AspectTable,
    bucket: NDArray[np.int64],
    wanted: int,
    stand: Stand,
    picks: RunPicks | None = None,
    kept: NDArray[np.bool_] | None = None,
) -> pd.DataFrame:
    """The instances behind a mark: those with an aspect that stands in a bucket, or a pick there.

    Parameters
    ----------
    wanted : int
        The bucket, from 1.
    stand : {"earliest", "latest", "every", "only"}
        Where an aspect stands.
    picks : RunPicks, optional
        With it ``n_found`` and ``n_picks`` are of this run.
    kept : array of bool, shape (n,), optional
        Only these instances.

    Returns
    -------
    DataFrame
        ``id``, ``n_aspects`` that stand there, ``n_found`` of them and ``n_missed`` (NaN without a run),
        ``n_picks`` there. Most missed first (without a run: most aspects first), then in the order of the
        file.
    """
    import numpy as np
    import pandas as pd

    n = len(table.ids)
    aspect, where = standing(table, bucket, stand)
    there = aspect[where == wanted - 1]
    n_aspects = np.bincount(table.instance[there], minlength=n)
    n_found = np.full(n, np.nan)
    n_picks = np.zeros(n, dtype=np.int64)
    if picks is not None:
        n_found = np.bincount(table.instance[there], weights=picks.found[there], minlength=n)
        rows = table.sentence_instance()[picks.place]
        n_picks = np.bincount(rows[bucket[picks.place] == wanted - 1], minlength=n)
    frame = pd.DataFrame(
        {
            "id": table.ids,
            "n_aspects": n_aspects,
            "n_found": n_found,
            "n_missed": n_aspects - n_found,
            "n_picks": n_picks,
        }
    )
    shown_rows = (n_aspects + n_picks > 0) & (True if kept is None else kept)
    order = ["n_aspects"] if picks is None else ["n_missed", "n_picks"]
    return frame[shown_rows].sort_values(order, ascending=False, kind="stable", ignore_index=True)
