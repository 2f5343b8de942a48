"""The worth of a selection of sentences: sets and integers only, no text, no files.

``covers`` is everywhere a sequence with one set of sentence indices per study aspect.
"""

from evidencebench_core.metrics.change import Change, overlap, selection_change
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
from evidencebench_core.metrics.measures import MEASURES, Measure
