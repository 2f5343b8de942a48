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
from evidencebench_core.stats.correlation import (
    RankCorrelation,
    kendall_tau_b,
    rank_correlation,
    spearman_rho,
)
from evidencebench_core.stats.labels import LabelAgreement, best_constant, label_agreement
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
    "LabelAgreement",
    "MatrixComparison",
    "Mixture",
    "PairedComparison",
    "RankCorrelation",
    "RaterAgreement",
    "Threshold",
    "best_constant",
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
    "kendall_tau_b",
    "label_agreement",
    "mixture_from",
    "overlap",
    "percentile_interval",
    "randomisation_p_value",
    "rank_biased_overlap",
    "rank_correlation",
    "rater_agreement",
    "ratio_intervals",
    "resampled_groups",
    "resampled_matrix",
    "resampled_tables",
    "spearman_rho",
    "standard_error",
]
