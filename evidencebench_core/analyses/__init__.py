"""What a run's answers say: results in, tables out. One file a question; import the file you need.

Every analysis gives a `Report`: pandas tables, and notes that say what they stand on and what was left
out.
"""

from __future__ import annotations

from evidencebench_core.analyses.report import Report

__all__ = ["Report"]
