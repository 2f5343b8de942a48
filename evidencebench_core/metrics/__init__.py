"""The worth of a selection of sentences: sets and integers only, no text, no files.

``covers`` is everywhere a sequence with one set of sentence indices per study aspect.
"""

from evidencebench_core.metrics.cover import best_cover, ceiling_range, optimal_cover
from evidencebench_core.metrics.coverage import Gain, marginal_gains, marks, overlap
from evidencebench_core.metrics.measures import MEASURES, aspect_recall, expected_recall, random_expectation
