"""How sure a number is: arrays only, and every draw takes a random generator."""

from evidencebench_core.stats.bootstrap import (
    bootstrap_interval,
    difference_interval,
    percentile_interval,
    ratio_intervals,
)
from evidencebench_core.stats.comparison import (
    MatrixComparison,
    PairedComparison,
    compare_matrix,
    compare_paired,
)
from evidencebench_core.stats.estimate import Estimate
from evidencebench_core.stats.intervals import bootstrap, interval, quotient, ratios, standard_error
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

__all__ = [
    "DECIMALS",
    "Estimate",
    "MatrixComparison",
    "Paired",
    "PairedComparison",
    "RaterAgreement",
    "accuracy",
    "bootstrap",
    "bootstrap_interval",
    "cluster_numbers",
    "cluster_sums",
    "cohen_kappa",
    "compare_matrix",
    "compare_paired",
    "confusion",
    "difference_interval",
    "holm",
    "interval",
    "kendall_tau",
    "label_f1",
    "label_units",
    "macro_f1",
    "overlap",
    "paired",
    "percentile_interval",
    "phi",
    "quotient",
    "randomisation_p_value",
    "rank_biased_overlap",
    "rater_agreement",
    "ratio_intervals",
    "ratios",
    "resampled_groups",
    "resampled_matrix",
    "standard_error",
    "weighted_f1",
]
