"""What leaves a page: the tables of a report, in every format that the command has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from components.markdown import literal
from evidencebench_core.analyses import Report
from evidencebench_core.export.paper_table import TableFormat, table_text
from evidencebench_core.words import file_stem

_FORMATS: Final[dict[TableFormat, tuple[str, str]]] = {
    "latex": ("LaTeX", "tex"),
    "markdown": ("Markdown", "md"),
    "csv": ("CSV", "csv"),
    "json": ("JSON", "json"),
}


def draw_downloads(title: str, made: Callable[[], Report | pd.DataFrame], label: str = "Download") -> None:
    """A button beside a table; the report, or the one table of that title, is made once a format is clicked."""

    def text(form: TableFormat) -> str:
        report = made()
        return table_text(report if isinstance(report, Report) else Report(title, {"rows": report}), form)

    stem = file_stem(title)
    with st.popover(label, key=f"download-{stem}"):
        for form, (name, ending) in _FORMATS.items():
            st.download_button(
                name,
                partial(text, form),
                f"{stem}.{ending}",
                on_click="ignore",
                width="stretch",
                key=f"{ending}-{stem}",
            )


def report_end(report: Report) -> None:
    """What a report stands on, folded, and its tables to take along."""
    with st.container(horizontal=True, vertical_alignment="top"):
        draw_downloads(report.title, lambda: report)
        if report.notes:
            with st.expander("What this stands on"):
                st.markdown("\n".join(f"- {literal(note)}" for note in report.notes))
