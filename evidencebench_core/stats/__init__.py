"""How sure a number is: arrays only, and every draw takes a random generator."""

from evidencebench_core.stats.bootstrap import bootstrap_interval, standard_error
from evidencebench_core.stats.paired import PairedComparison, compare_paired

__all__ = ["PairedComparison", "bootstrap_interval", "compare_paired", "standard_error"]
