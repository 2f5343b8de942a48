"""What a run's answers say: results in, tables out. One file for each question; import the one you need."""

from __future__ import annotations

from evidencebench_core.analyses.report import Report

__all__ = ["Report"]
