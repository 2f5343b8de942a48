"""How sure a number is: estimates with intervals, papers drawn whole; paired comparisons; agreement."""

from evidencebench_core.stats.intervals import (
    FEW_PAPERS,
    Estimate,
    bootstrap,
    interval,
    interval_note,
    quotient,
    ratios,
    standard_error,
)
from evidencebench_core.stats.pairs import Paired, holm, paired
from evidencebench_core.stats.ranks import kendall_tau, rank_agreement, spearman_rho
from evidencebench_core.stats.shares import cochran_q, share
from evidencebench_core.stats.tables import (
    accuracy,
    cohen_kappa,
    coincidences,
    krippendorff_alpha,
    label_f1,
    label_units,
    macro_f1,
    phi,
    weighted_f1,
)
