"""How sure a number is: arrays only, and every draw takes a random generator."""

from evidencebench_core.stats.bootstrap import (
    bootstrap_interval,
    difference_interval,
    percentile_interval,
    ratio_intervals,
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
from evidencebench_core.stats.estimate import Estimate
from evidencebench_core.stats.intervals import bootstrap, interval, quotient, ratios, standard_error
from evidencebench_core.stats.labels import LabelAgreement, best_constant, label_agreement
from evidencebench_core.stats.mixture import Mixture, fitted_mixture, mixture_from
from evidencebench_core.stats.pairs import Paired, holm, paired
from evidencebench_core.stats.randomisation import DECIMALS, randomisation_p_value
from evidencebench_core.stats.rankings import kendall_tau, overlap, rank_biased_overlap
from evidencebench_core.stats.raters import RaterAgreement, rater_agreement
from evidencebench_core.stats.resampling import (
    cluster_numbers,
    cluster_sums,
    resampled_groups,
    resampled_matrix,
)
from evidencebench_core.stats.tables import (
    accuracy,
    cohen_kappa,
    confusion,
    label_f1,
    label_units,
    macro_f1,
    phi,
    weighted_f1,
)
from evidencebench_core.stats.thresholds import Threshold, best_threshold

__all__ = [
    "DECIMALS",
    "Estimate",
    "LabelAgreement",
    "MatrixComparison",
    "Mixture",
    "Paired",
    "PairedComparison",
    "RankCorrelation",
    "RaterAgreement",
    "Threshold",
    "accuracy",
    "best_constant",
    "best_threshold",
    "bootstrap",
    "bootstrap_interval",
    "cluster_numbers",
    "cluster_sums",
    "cohen_kappa",
    "compare_matrix",
    "compare_paired",
    "confusion",
    "difference_interval",
    "fitted_mixture",
    "holm",
    "interval",
    "kendall_tau",
    "kendall_tau_b",
    "label_agreement",
    "label_f1",
    "label_units",
    "macro_f1",
    "mixture_from",
    "overlap",
    "paired",
    "percentile_interval",
    "phi",
    "quotient",
    "randomisation_p_value",
    "rank_biased_overlap",
    "rank_correlation",
    "rater_agreement",
    "ratio_intervals",
    "ratios",
    "resampled_groups",
    "resampled_matrix",
    "resampled_tables",
    "spearman_rho",
    "standard_error",
    "weighted_f1",
]
