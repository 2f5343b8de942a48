"""The paper's own figures on wording, beside ours and marked as other instances."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd
import streamlit as st

from components.widgets.table import Column, Row, table
from evidencebench_core.data import published_results

__all__ = ["draw_published_wordings"]


def draw_published_wordings(frame: pd.DataFrame, where: str) -> None:
    """The figures of a report's table ``published``, in a fold of their own."""
    with st.expander(f"Published figures ({where}): other instances, other systems"):
        st.caption(
            "From the EvidenceBench paper, on its test set and with paraphrases or negations by LLMs. They say "
            "what to expect; they are never paired with the figures above."
        )
        _table(frame.to_dict("records"), f"published-{where}")
        _ends()


def _ends() -> None:
    """Appendix K, which is about where evidence stands and not about wording: told in one line."""
    figures = [figure for figure in published_results() if figure.source.startswith("Appendix K")]
    if figures:
        said = "; ".join(
            f"{figure.system}, {figure.strategy}: {100 * figure.aspect_recall:.1f}%" for figure in figures
        )
        st.caption(
            f"For scale, appendix K, which is about where evidence stands (again other instances): {said}."
        )


def _table(rows: list[dict[Hashable, Any]], key: str) -> None:
    table(
        (
            Column("system", "System"),
            Column("wording", "Wording"),
            Column("task", "Task"),
            Column("recall", "Aspect Recall", "percent"),
            Column("difference", "To its original, points", "number", digits=1, signed=True),
            Column("dataset", "Instances"),
            Column("source", "Source"),
        ),
        [
            Row(
                str(place),
                (
                    row["system"],
                    row["wording"],
                    row["task"],
                    row["aspect_recall"],
                    100 * row["difference"],
                    row["dataset"],
                    row["source"],
                ),
                muted=True,
            )
            for place, row in enumerate(rows)
        ],
        key=key,
        action="none",
        caption="Published figures on wordings",
        height=420,
    )
