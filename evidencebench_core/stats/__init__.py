"""How sure a number is: arrays only, and every draw takes a random generator."""

from evidencebench_core.stats.bootstrap import bootstrap_interval, standard_error
from evidencebench_core.stats.correction import holm
from evidencebench_core.stats.effect import effect_size, smallest_detectable
from evidencebench_core.stats.independent import IndependentComparison, compare_independent
from evidencebench_core.stats.matrix import MatrixComparison, compare_matrix, matrix_intervals
from evidencebench_core.stats.paired import PairedComparison, compare_paired
from evidencebench_core.stats.ratio import ratio_intervals

__all__ = [
    "IndependentComparison",
    "MatrixComparison",
    "PairedComparison",
    "bootstrap_interval",
    "compare_independent",
    "compare_matrix",
    "compare_paired",
    "effect_size",
    "holm",
    "matrix_intervals",
    "ratio_intervals",
    "smallest_detectable",
    "standard_error",
]
