"""Which of several runs is better, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import estimate_columns
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import Systems, further_measures, systems
from evidencebench_core.data.store import Store
from evidencebench_core.metrics import MEASURES
from evidencebench_core.runs import RunLike
from evidencebench_core.stats import holm, interval, interval_note, paired, standard_error
from evidencebench_core.tasks import Task
from evidencebench_core.words import quantity


def compare(store: Store, runs: Sequence[RunLike], task: str | Task = "er@optimal") -> Report:
    """Compare any number of runs over one dataset; see `comparison`."""
    compared = systems(store, runs, task)
    return comparison(compared, further_measures(store, compared))


def comparison(compared: Systems, measures: pd.DataFrame | None = None) -> Report:
    """The same for systems at hand, with their means of further measures: a row a run, by id.

    Returns
    -------
    Report
        *systems*, one row a run: ``system`` (run id), ``label``, ``n`` instances, ``n_papers``, ``recall`` (mean, 0 to
        1; ``low``, ``high``), ``standard_error``, and the columns of ``measures``.

        *pairs*, one row a pair, in the order of the runs: ``a``, ``b``, ``label_a``, ``label_b``, ``n``,
        ``difference`` of a and b (-1 to 1; ``low``, ``high``), ``p`` (two-sided sign flips of papers), ``p_holm``
        (corrected for all pairs), ``wins``, ``ties``, ``losses`` of a.
    """
    table, labels, papers = compared.recalls, compared.labels, compared.papers
    overview = pd.DataFrame(
        {
            "system": list(labels),
            "label": list(labels.values()),
            "n": len(table),
            "n_papers": len(set(papers)),
            **estimate_columns([interval(table[run], papers) for run in labels], "recall"),
            "standard_error": [standard_error(table[run]) for run in labels],
        }
    ).astype({"standard_error": float})
    if measures is not None:
        overview = overview.join(measures, on="system")
    rows = []
    for a, b in combinations(labels, 2):
        pair = paired(table[a], table[b], papers).as_dict()
        names = {"a": a, "b": b, "label_a": labels[a], "label_b": labels[b]}
        rows.append(names | {column: pair[column] for column in _OF_PAIR})
    pairs = pd.DataFrame(rows, columns=["a", "b", "label_a", "label_b", *_OF_PAIR])
    p_holm = holm([None if p is None or np.isnan(p) else p for p in pairs["p"]])
    pairs.insert(9, "p_holm", pd.Series(p_holm, dtype=float))
    return Report(
        f"Comparison: {compared.dataset}, {compared.task.title}",
        {"systems": overview, "pairs": pairs},
        (
            f"{len(table):,} instances from {len(set(papers)):,} papers that every run is scored on, "
            f"{compared.task.budget_text}.",
            *compared.notes,
            f"{interval_note(len(set(papers)))}. p by flipping the signs of whole papers; p_holm corrects it for the "
            f"{quantity(len(pairs), 'pair')} compared here (Holm), and is the one to judge by.",
        ),
        shares=[measure.name for measure in MEASURES if measure.is_share],
    )


_OF_PAIR = ("n", "difference", "low", "high", "p", "wins", "ties", "losses")
