"""One-file HTML reports: offline, printable, everything escaped."""

from __future__ import annotations

from evidencebench_core.export.report.input import ReportInput
from evidencebench_core.export.report.pages import left_out_text, report_html

__all__ = ["ReportInput", "left_out_text", "report_html", "run_html"]
