"""The worth of a selection of sentences, and of labels: sets and integers only, no text, no files.

``covers`` is everywhere a sequence with one set of sentence indices per study aspect.
"""

from evidencebench_core.metrics.change import Change, selection_change
from evidencebench_core.metrics.cover import best_cover, ceiling_range, greedy_cover, optimal_cover
from evidencebench_core.metrics.coverage import (
    Gain,
    Mark,
    aspect_recall,
    marginal_gains,
    marks,
    times_covered,
)
from evidencebench_core.metrics.expectation import expected_recall, random_expectation
from evidencebench_core.metrics.labels import (
    accuracy,
    answered_f1,
    bias,
    confusion,
    consistency,
    corrected_share,
    coverage,
    label_shares,
    macro_f1,
    place_contrast,
    relative_change,
    share_of_yes,
    signed_bias,
    weighted_f1,
)

__all__ = [
    "Change",
    "Gain",
    "Mark",
    "accuracy",
    "answered_f1",
    "aspect_recall",
    "best_cover",
    "bias",
    "ceiling_range",
    "confusion",
    "consistency",
    "corrected_share",
    "coverage",
    "expected_recall",
    "greedy_cover",
    "label_shares",
    "macro_f1",
    "marginal_gains",
    "marks",
    "optimal_cover",
    "place_contrast",
    "random_expectation",
    "relative_change",
    "selection_change",
    "share_of_yes",
    "signed_bias",
    "times_covered",
    "weighted_f1",
]
