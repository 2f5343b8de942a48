"""Analyses of runs and datasets: results in, a `Report` out. One file for each question; import the one you need."""

from evidencebench_core.analyses.report import Report
