"""How sure a number is: arrays only, and every draw takes a random generator."""

from evidencebench_core.stats.agreement import kendall_tau, overlap, rank_biased_overlap
from evidencebench_core.stats.bootstrap import (
    bootstrap_interval,
    difference_interval,
    percentile_interval,
    ratio_intervals,
    standard_error,
)
from evidencebench_core.stats.cells import resampled_tables
from evidencebench_core.stats.comparison import (
    MatrixComparison,
    PairedComparison,
    compare_matrix,
    compare_paired,
)
from evidencebench_core.stats.mixture import Mixture, fitted_mixture, mixture_from
from evidencebench_core.stats.randomisation import DECIMALS, holm, randomisation_p_value
from evidencebench_core.stats.raters import RaterAgreement, rater_agreement
from evidencebench_core.stats.resampling import (
    cluster_numbers,
    cluster_sums,
    resampled_groups,
    resampled_matrix,
)
from evidencebench_core.stats.thresholds import Threshold, best_threshold

__all__ = [
    "DECIMALS",
    "MatrixComparison",
    "Mixture",
    "PairedComparison",
    "RaterAgreement",
    "Threshold",
    "best_threshold",
    "bootstrap_interval",
    "cluster_numbers",
    "cluster_sums",
    "compare_matrix",
    "compare_paired",
    "difference_interval",
    "fitted_mixture",
    "holm",
    "kendall_tau",
    "mixture_from",
    "overlap",
    "percentile_interval",
    "randomisation_p_value",
    "rank_biased_overlap",
    "rater_agreement",
    "ratio_intervals",
    "resampled_groups",
    "resampled_matrix",
    "resampled_tables",
    "standard_error",
]
