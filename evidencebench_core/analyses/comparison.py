"""Which of several systems is better, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import Systems, systems
from evidencebench_core.data.store import Store
from evidencebench_core.stats import MatrixComparison, compare_matrix, standard_error
from evidencebench_core.tasks import Task

_FLIPS: Final = 10_000  # quick, and what a correction for many pairs needs


def compare(
    store: Store,
    runs: Sequence[str],
    task: str | Task = "er@optimal",
    *,
    n_resamples: int = 10_000,
) -> Report:
    """Compare any number of runs over one dataset; see `comparison`."""
    return comparison(systems(store, runs, task), n_resamples=n_resamples)


def comparison(compared: Systems, *, n_resamples: int = 10_000) -> Report:
    """The same for systems at hand; the randomisation test draws 10,000 times, if it is not exact.

    Returns
    -------
    Report
        *systems*, one row a system: ``system`` (run id or name), ``label``, ``n`` instances, ``n_papers``
        (NaN where not known), ``recall`` (mean, 0 to 1; ``low``, ``high``: 95%), ``standard_error``.

        *pairs*, one row a pair, in the order of the systems: ``a``, ``b``, ``label_a``, ``label_b``, ``n``,
        ``difference`` of a and b (-1 to 1; ``low``, ``high``: 95%, paired), ``p`` (two-sided paired
        randomisation), ``p_holm`` (for all pairs), ``effect`` (d_z; NaN where all differences are alike),
        ``wins``, ``ties``, ``losses`` of a, ``smallest_detectable`` difference at 5% and 80% power.
    """
    found = compare_matrix(
        compared.values, np.random.default_rng(0), n_resamples, clusters=compared.papers, n_flips=_FLIPS
    )
    overview = pd.DataFrame(
        {
            "system": compared.keys,
            "label": compared.labels,
            "n": found.n,
            "n_papers": np.nan if compared.papers is None else len(set(compared.papers)),
            "recall": found.mean,
            "low": found.interval[:, 0],
            "high": found.interval[:, 1],
            "standard_error": np.array([standard_error(row) for row in compared.values], dtype=float),
        }
    )
    return Report(
        f"Comparison: {compared.where}, {compared.task.title}",
        {"systems": overview, "pairs": _pairs(compared, found)},
        _notes(compared, found, n_resamples),
    )


def _pairs(compared: Systems, found: MatrixComparison) -> pd.DataFrame:
    a, b = np.triu_indices(len(compared.keys), 1)
    keys, labels = np.array(compared.keys, dtype=object), np.array(compared.labels, dtype=object)
    return pd.DataFrame(
        {
            "a": keys[a],
            "b": keys[b],
            "label_a": labels[a],
            "label_b": labels[b],
            "n": found.n,
            "difference": found.difference[a, b],
            "low": found.low[a, b],
            "high": found.high[a, b],
            "p": found.p_value[a, b],
            "p_holm": found.p_holm[a, b],
            "effect": found.effect[a, b],
            "wins": found.wins[a, b],
            "ties": found.ties[a, b],
            "losses": found.wins[b, a],
            "smallest_detectable": found.smallest_detectable[a, b],
        }
    )


def _notes(compared: Systems, found: MatrixComparison, n_resamples: int) -> tuple[str, ...]:
    n_pairs = len(compared.keys) * (len(compared.keys) - 1) // 2
    notes = [f"{found.n:,} instances that every system is scored on."]
    if compared.papers is not None:
        drawn = "papers are drawn whole" if found.n_clusters < found.n else "each from a paper of its own"
        notes.append(f"They come from {found.n_clusters:,} papers; {drawn} in bootstrap and randomisation.")
    notes += [*compared.notes, f"Intervals: 95%, {n_resamples:,} bootstrap resamples."]
    if not n_pairs:
        return (*notes, "One system has nothing to be compared with.")
    return (
        *notes,
        f"p by paired randomisation; p_holm corrects it for the {n_pairs:,} "
        f"{'pair' if n_pairs == 1 else 'pairs'} compared here (Holm), and is the one to judge by.",
        "Effect size: the mean difference over the standard deviation of the differences. "
        "smallest_detectable is (1.96 + 0.84) standard errors: a true difference of that size would be found "
        "(5%, two-sided, for one pair alone) in 80% of such samples; a smaller one often not.",
    )
