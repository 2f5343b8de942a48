"""The threshold of a score that tells two classes apart best (bioace spec rules 19 and 36)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.bootstrap import finite_values


@dataclass(frozen=True, slots=True)
class Threshold:
    """A score counts as positive from ``value`` on; the figures are those on the scores it was chosen with."""

    value: float
    precision: float
    recall: float
    f1: float
    accuracy: float


def best_threshold(scores: ArrayLike, is_positive: ArrayLike) -> Threshold | None:
    """The threshold of the best F1: every distinct score is tried; of several the highest.

    Parameters
    ----------
    scores, is_positive : arrays of shape (n,)
        ``None`` where nothing is positive: F1 says nothing then.
    """
    values, truth = finite_values(scores, "scores"), np.asarray(is_positive, dtype=bool)
    if values.shape != truth.shape:
        raise SettingError("scores", f"are {values.size} for {truth.size} labels", "Give one score a label.")
    if not truth.any():
        return None
    order = np.argsort(-values, kind="stable")
    last = np.append(np.flatnonzero(np.diff(values[order])), values.size - 1)  # of each distinct score
    hits, taken = np.cumsum(truth[order])[last], last + 1
    f1 = 2 * hits / (taken + truth.sum())
    best = int(np.argmax(f1))
    right = hits[best] + (~truth).sum() - (taken[best] - hits[best])
    return Threshold(
        float(values[order][last[best]]),
        float(hits[best] / taken[best]),
        float(hits[best] / truth.sum()),
        float(f1[best]),
        float(right / values.size),
    )
