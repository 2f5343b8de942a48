"""Which of several runs is better, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import estimate_columns
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import Systems, systems
from evidencebench_core.data.store import Store
from evidencebench_core.stats import holm, interval, paired, standard_error
from evidencebench_core.tasks import Task


def compare(store: Store, runs: Sequence[str], task: str | Task = "er@optimal") -> Report:
    """Compare any number of runs over one dataset; see `comparison`."""
    return comparison(systems(store, runs, task))


def comparison(compared: Systems) -> Report:
    """The same for systems at hand.

    Returns
    -------
    Report
        *systems*, one row a run: ``system`` (run id), ``label``, ``n`` instances, ``n_papers``, ``recall`` (mean, 0 to
        1; ``low``, ``high``), ``standard_error``.

        *pairs*, one row a pair, in the order of the runs: ``a``, ``b``, ``label_a``, ``label_b``, ``n``,
        ``difference`` of a and b (-1 to 1; ``low``, ``high``), ``p`` (two-sided sign flips of papers), ``p_holm``
        (corrected for all pairs), ``wins``, ``ties``, ``losses`` of a.
    """
    papers = list(compared.papers)
    overview = pd.DataFrame(
        {
            "system": compared.keys,
            "label": compared.labels,
            "n": len(compared.ids),
            "n_papers": len(set(papers)),
            **estimate_columns([interval(values, papers) for values in compared.values], "recall"),
            "standard_error": [standard_error(values) for values in compared.values],
        }
    ).astype({"standard_error": float})
    rows = []
    for a, b in combinations(range(len(compared.keys)), 2):
        pair = paired(compared.values[a], compared.values[b], papers).as_dict()
        names = {"a": compared.keys[a], "b": compared.keys[b]}
        labels = {"label_a": compared.labels[a], "label_b": compared.labels[b]}
        rows.append({**names, **labels, **{name: pair[name] for name in _OF_PAIR}})
    pairs = pd.DataFrame(rows, columns=["a", "b", "label_a", "label_b", *_OF_PAIR])
    p_holm = holm([None if p is None or np.isnan(p) else p for p in pairs["p"]])
    pairs.insert(9, "p_holm", pd.Series(p_holm, dtype=float))
    return Report(
        f"Comparison: {compared.where}, {compared.task.title}",
        {"systems": overview, "pairs": pairs},
        (
            f"{len(compared.ids):,} instances from {len(set(papers)):,} papers that every run is scored on.",
            *compared.notes,
            "Intervals: 95%, papers drawn whole. p by flipping the signs of whole papers; p_holm corrects it for the "
            f"{len(pairs):,} pairs compared here (Holm), and is the one to judge by.",
        ),
    )


_OF_PAIR = ("n", "difference", "low", "high", "p", "wins", "ties", "losses")
