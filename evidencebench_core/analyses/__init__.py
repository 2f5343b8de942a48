"""Analyses of runs and datasets: results in, tables out. One file for each question; import the one you need.

Datasets and imported systems go by name, runs by id or its beginning; one that is not there, or does not fit
the others, raises an `EvidenceBenchError` that says what there is. Shares and recalls are 0 to 1, intervals
95% percentile bootstraps over papers of ``n_resamples`` draws, whose seed is fixed: they give the same numbers
again.
"""

from __future__ import annotations

from evidencebench_core.analyses.report import Report

__all__ = ["Report"]
