"""The rows of `needle`, from arrays: the same aspects of the same instances, moved and as they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.analyses.arrangements import Place
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks
from evidencebench_core.stats import ratio_intervals

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["SCOPES", "behind_place", "has_part", "needle_rows"]

SCOPES: Final[Mapping[str, str]] = {
    "part": "aspects that a sentence of the moved part covers",
    "rest": "aspects that only other sentences cover",
    "all": "all aspects",
}


def needle_rows(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    original: RunPicks,
    moved: Mapping[Place, RunPicks],
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """One run and one part, from arrays.

    Parameters
    ----------
    table : AspectTable
    in_part : array of bool, shape (n_places,)
        Whether the sentence belongs to the part.
    original : RunPicks
        On the papers as they stand.
    moved : mapping of Place to RunPicks
        On the arranged papers, in original indices.

    Returns
    -------
    DataFrame
        One row a place and scope, the places as they are in ``moved``: ``place``; ``scope``
        (`SCOPES`); ``n_instances`` that have the part, an answer both ways and an aspect of the scope;
        ``n_aspects`` counted in them; ``n_left_out`` aspects that only removed sentences cover;
        ``recall``, mean over instances of the share of the counted aspects found, 0 to 1 (``low``,
        ``high``); ``original``, the same with the papers as they stand, over the same instances and
        aspects (``original_low``, ``original_high``); ``difference`` = recall - original
        (``difference_low``, ``difference_high``); ``picks_in_part``, share of the picks in these
        instances that stand in the part, and ``original_picks_in_part``. Intervals: 95%, bootstrap over
        papers. NaN where there is nothing to divide by.
    """
    import numpy as np
    import pandas as pd

    rows_of = table.sentence_instance()
    rows: list[dict[str, Any]] = []
    sums: list[NDArray[np.float64]] = []
    for place, picks in moved.items():
        for scope in SCOPES:
            counted, gone = _counted(table, in_part, original.answered & picks.answered, place, scope)
            row, of_papers = _compared(table, counted, original, picks)
            chosen = np.zeros(len(table.ids), dtype=bool)
            chosen[table.instance[counted]] = True
            row |= {
                "place": place,
                "scope": scope,
                "n_left_out": int(gone.sum()),
                "picks_in_part": _share_inside(picks, in_part, chosen[rows_of]),
                "original_picks_in_part": _share_inside(original, in_part, chosen[rows_of]),
            }
            rows.append(row)
            sums.append(of_papers)
    if sums:
        together = np.stack(sums)  # rows of the table, papers, (recall, original, difference, instances)
        top = together[:, :, :3].transpose(1, 0, 2).reshape(table.n_papers, -1)
        bottom = np.repeat(together[:, :, 3].T, 3, axis=1)
        bounds = ratio_intervals(top, bottom, np.random.default_rng(seed), n_resamples).reshape(-1, 3, 2)
        for row, of_row in zip(rows, bounds, strict=True):
            for prefix, (low, high) in zip(("", "original_", "difference_"), of_row, strict=True):
                row[f"{prefix}low"], row[f"{prefix}high"] = float(low), float(high)
    columns = ["place", "scope", "n_instances", "n_aspects", "n_left_out"]
    columns += [f"{name}{end}" for name in ("", "original_", "difference_") for end in ("", "low", "high")]
    names = {"": "recall", "original_": "original", "difference_": "difference"}
    columns = [names.get(column, column) for column in columns]
    return pd.DataFrame(rows, columns=[*columns, "picks_in_part", "original_picks_in_part"])


def has_part(table: AspectTable, in_part: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each instance has the part, and something besides: shape (n,)."""
    import numpy as np

    n_part = np.bincount(table.sentence_instance()[in_part], minlength=len(table.ids))
    return (n_part > 0) & (n_part < table.n_sentences)


def _compared(
    table: AspectTable, counted: NDArray[np.bool_], original: RunPicks, picks: RunPicks
) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Mean recall over instances of the counted aspects, moved and original, and their difference.

    Beside them the sums by paper, shape (n_papers, 4): the three, and the number of instances.
    """
    import numpy as np

    rows, (recall, before), _ = _per_instance(table, counted, (picks, original))
    values = np.stack([recall, before, recall - before, np.ones(rows.size)], axis=1)
    sums = np.zeros((table.n_papers, 4))
    np.add.at(sums, table.paper[rows], values)
    means = values.mean(axis=0) if rows.size else np.full(4, np.nan)
    row: dict[str, Any] = {"n_instances": int(rows.size), "n_aspects": int(counted.sum())}
    row |= {name: float(means[column]) for column, name in enumerate(("recall", "original", "difference"))}
    return row, sums


def _per_instance(
    table: AspectTable, counted: NDArray[np.bool_], runs: Sequence[RunPicks]
) -> tuple[NDArray[np.int64], list[NDArray[np.float64]], NDArray[np.int64]]:
    """Rows of the instances with a counted aspect, the recall of each run there, how many are counted."""
    import numpy as np

    of_instance = table.instance[counted]
    n = len(table.ids)
    counts = np.bincount(of_instance, minlength=n)
    rows = np.flatnonzero(counts)
    recalls = [
        np.bincount(of_instance, weights=run.found[counted], minlength=n)[rows] / counts[rows] for run in runs
    ]
    return rows, recalls, counts[rows]


def _counted(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    answered: NDArray[np.bool_],
    place: Place,
    scope: str,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Aspects of a scope that count, and those that do not because all their sentences were removed."""
    import numpy as np

    n_aspects = table.instance.size
    n_inside = np.bincount(table.covering_aspect[in_part[table.covering_place]], minlength=n_aspects)
    wanted = (has_part(table, in_part) & answered)[table.instance]
    if scope != "all":
        wanted &= (n_inside > 0) == (scope == "part")
    gone = np.zeros(n_aspects, dtype=bool)
    if place == "removed":
        gone = n_inside == np.bincount(table.covering_aspect, minlength=n_aspects)
    return wanted & ~gone, wanted & gone


def behind_place(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    original: RunPicks,
    picks: RunPicks,
    place: Place,
    scope: str,
) -> pd.DataFrame:
    """The instances behind a row of `needle_rows`.

    Returns
    -------
    DataFrame
        ``id``, ``n_aspects`` counted, ``recall`` with the part moved, ``original``, ``difference``; the
        largest differences first, then in the order of the file.
    """
    import pandas as pd

    counted, _ = _counted(table, in_part, original.answered & picks.answered, place, scope)
    rows, (recall, before), n_aspects = _per_instance(table, counted, (picks, original))
    frame = pd.DataFrame(
        {
            "id": [table.ids[row] for row in rows],
            "n_aspects": n_aspects,
            "recall": recall,
            "original": before,
            "difference": recall - before,
        }
    )
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def _share_inside(picks: RunPicks, in_part: NDArray[np.bool_], counted: NDArray[np.bool_]) -> float:
    """Share of the picks at counted places that stand in the part; NaN without picks."""
    places = picks.place[counted[picks.place]]
    return float(in_part[places].mean()) if places.size else float("nan")
