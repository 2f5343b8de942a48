"""The paper's own figures, set apart: they were measured on other instances."""

from __future__ import annotations

import streamlit as st

from components.widgets.table import Column, Row, table
from evidencebench_core.data import published_results
from evidencebench_core.tasks import Task

__all__ = ["draw_published"]


def draw_published(task: Task) -> None:
    """The published figures of a task, best first, in a fold of their own."""
    figures = [figure for figure in published_results() if figure.task == task.name]
    if not figures:
        return
    with st.expander("Published figures: other instances, the paper's test set"):
        st.caption(
            "From the EvidenceBench paper. They stand on other instances than the runs above (the paper's test "
            "set of 293, 288 on the Result tasks, or a sample of EvidenceBench-100k), so they are never paired "
            "with them."
        )
        figures.sort(key=lambda figure: -figure.aspect_recall)
        table(
            (
                Column("system", "System"),
                Column("recall", "Aspect Recall", "percent"),
                Column("se", "SE, points", "number", digits=1),
                Column("strategy", "Strategy"),
                Column("dataset", "Instances"),
                Column("source", "Source"),
            ),
            [
                Row(
                    str(place),
                    (
                        f.system,
                        f.aspect_recall,
                        f.standard_error and 100 * f.standard_error,
                        f.strategy,
                        f.dataset,
                        f.source,
                    ),
                    muted=True,
                )
                for place, f in enumerate(figures)
            ],
            key="published",
            action="none",
            caption="Published figures",
            height=520,
        )
