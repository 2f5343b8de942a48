"""Runs compared on parts of a dataset: which instances make the difference?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.slicing import slices_of
from evidencebench_core.analyses.systems import Systems, run_systems
from evidencebench_core.stats import cluster_numbers, resampled_groups
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

__all__ = ["FEW", "slice_report", "slices"]

FEW: Final = 20  # a slice of fewer instances is marked
_LARGE: Final = 5_000  # instances, from which on fewer resamples are as good
_FEWER: Final = 1_000


def slices(
    store: Store,
    runs: Sequence[str],
    task: str | Task = "er@optimal",
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Recall and paired differences of runs over one dataset, slice by slice.

    Parameters
    ----------
    store : Store
    runs : sequence of str
        Ids of runs, or their beginnings; the others are compared with the first.
    task : str or Task
    n_resamples, seed : int
        Of the bootstrap; 1,000 at most from 5,000 instances on.

    Returns
    -------
    Report
        See `slice_report`.

    Raises
    ------
    UnknownNameError, SettingError
        No such run or task; runs over different datasets, or none.
    """
    chosen = task if isinstance(task, Task) else task_named(task)
    compared = run_systems(store, runs, chosen)
    families, notes = slices_of(store, compared.where, compared.ids, chosen)
    return slice_report(compared, families, notes, n_resamples=n_resamples, seed=seed)


def slice_report(
    compared: Systems,
    families: Mapping[str, Mapping[str, NDArray[np.bool_]]],
    notes: Sequence[str] = (),
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
    instances: bool = False,
) -> Report:
    """The same for systems and slices at hand.

    Parameters
    ----------
    compared : Systems
    families : mapping of str to (mapping of str to array of bool, shape (n,))
        Which instances are in each slice, by the family of slices; see `slices_of`.
    instances : bool
        Whether the instances of the slices are listed as well.

    Returns
    -------
    Report
        *recall*, one row a slice and run: ``family``, ``slice``, ``n`` instances, ``few`` (fewer than 20),
        ``run``, ``label``, ``recall`` (mean, 0 to 1; ``low``, ``high``: 95%, papers being drawn).

        *difference*, one row a slice and run but the first: ``family``, ``slice``, ``n``, ``few``, ``a``,
        ``b`` (ids; b is the first run), ``label_a``, ``label_b``, ``difference`` of a and b (-1 to 1;
        ``low``, ``high``: 95%, paired), ``wins``, ``ties``, ``losses`` of a.

        *instances*, where asked for, one row a slice and instance: ``family``, ``slice``, ``instance``, and
        the recall of every run under its id.
    """
    import numpy as np
    import pandas as pd

    named = [
        (family, name, members)
        for family, of_family in families.items()
        for name, members in of_family.items()
    ]
    recalls: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    if compared.ids and named:
        n_resamples = min(n_resamples, _FEWER) if len(compared.ids) >= _LARGE else n_resamples
        groups = np.array([members for _, _, members in named])
        numbers = cluster_numbers(compared.papers, len(compared.ids))
        drawn = resampled_groups(compared.values, groups, numbers, np.random.default_rng(seed), n_resamples)
        for place, (family, name, members) in enumerate(named):
            n = int(members.sum())
            head = {"family": family, "slice": name, "n": n, "few": n < FEW}
            known = drawn[:, place]
            if compared.papers is not None and len(set(np.array(compared.papers)[members])) < 2:
                known = np.full_like(known, np.nan)  # one paper says nothing about others
            recalls += _recalls(compared, members, known, head)
            differences += _differences(compared, members, known, head)
    head_columns = ["family", "slice", "n", "few"]
    tables = {
        "recall": pd.DataFrame(recalls, columns=[*head_columns, "run", "label", "recall", "low", "high"]),
        "difference": pd.DataFrame(
            differences,
            columns=[
                *head_columns,
                *("a", "b", "label_a", "label_b", "difference", "low", "high", "wins", "ties", "losses"),
            ],
        ),
    }
    if instances:
        tables["instances"] = _instances(compared, named)
    return Report(
        f"Slices: {compared.where}, {compared.task.title}",
        tables,
        (
            f"{len(compared.ids):,} instances that every run is scored on; slices of one family do not overlap.",
            *compared.notes,
            *notes,
            f"Intervals: 95%, {n_resamples:,} bootstrap resamples of papers. Slices under {FEW} instances are "
            "marked: their intervals are too short. With many slices some difference shows by chance: take one "
            "as a question to new data.",
        ),
    )


def _instances(compared: Systems, named: Sequence[tuple[str, str, NDArray[np.bool_]]]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    ids = np.array(compared.ids, dtype=object)
    frames = [
        pd.DataFrame(
            {"family": family, "slice": name, "instance": ids[members]}
            | {key: row[members] for key, row in zip(compared.keys, compared.values, strict=True)}
        )
        for family, name, members in named
    ]
    columns = ["family", "slice", "instance", *compared.keys]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _recalls(
    compared: Systems, members: NDArray[np.bool_], drawn: NDArray[np.float64], head: Mapping[str, Any]
) -> list[dict[str, Any]]:
    rows = []
    for place, (key, label) in enumerate(zip(compared.keys, compared.labels, strict=True)):
        low, high = _interval(drawn[:, place])
        mean = float(compared.values[place, members].mean())
        rows.append({**head, "run": key, "label": label, "recall": mean, "low": low, "high": high})
    return rows


def _differences(
    compared: Systems, members: NDArray[np.bool_], drawn: NDArray[np.float64], head: Mapping[str, Any]
) -> list[dict[str, Any]]:
    import numpy as np

    rows = []
    for place in range(1, len(compared.keys)):
        low, high = _interval(drawn[:, place] - drawn[:, 0])
        each = np.round(compared.values[place, members] - compared.values[0, members], 12)
        rows.append(
            {
                **head,
                "a": compared.keys[place],
                "b": compared.keys[0],
                "label_a": compared.labels[place],
                "label_b": compared.labels[0],
                "difference": float(each.mean()),
                "low": low,
                "high": high,
                "wins": int((each > 0).sum()),
                "ties": int((each == 0).sum()),
                "losses": int((each < 0).sum()),
            }
        )
    return rows


def _interval(drawn: NDArray[np.float64]) -> tuple[float, float]:
    import numpy as np

    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
