"""A DataFrame as a `table`, instances as rows that open the reader, and downloads of frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from components import resources
from components.carried import draw_set_button
from components.charts import draw_chart, is_dark
from components.figures import interval_dots
from components.markdown import literal
from components.page import Context, percent
from components.run_links import reader_address, reader_link
from components.state import open_later
from components.table import Column, Interval, Row, table
from evidencebench_core.analyses import Report
from evidencebench_core.export.paper_table import TableFormat, table_text
from evidencebench_core.palette import SYSTEMS
from evidencebench_core.runs import RunInfo
from evidencebench_core.stats import Estimate
from evidencebench_core.words import file_stem

HYPOTHESIS: Final = Column("hypothesis", "Hypothesis", "title")
INSTANCE: Final = Column("id", "Instance", "id")
_SHOWN: Final = 200
_FORMATS: Final[dict[TableFormat, tuple[str, str]]] = {
    "latex": ("LaTeX", "tex"),
    "markdown": ("Markdown", "md"),
    "csv": ("CSV", "csv"),
    "json": ("JSON", "json"),
}


def frame_table(
    columns: Sequence[Column], frame: pd.DataFrame, *, key: str, ids: str = "", **options: Any
) -> None:
    """Draw the columns of a frame, by key; ``ids`` is the column of the rows' ids, which are else their places."""
    table(columns, frame_rows(columns, frame, ids), key=key, **options)


def bounded_columns(
    key: str, label: str, low: str = "low", high: str = "high", **look: Any
) -> tuple[Column, ...]:
    """The columns of a coefficient and of the bounds of its 95% interval."""
    return (
        Column(key, label, "number", digits=2, **look),
        Column(low, "95% from", "number", digits=2),
        Column(high, "to", "number", digits=2),
    )


def frame_rows(columns: Sequence[Column], frame: pd.DataFrame, ids: str = "") -> list[Row]:
    """The rows of a `frame_table`; what is undefined is an empty cell."""
    shown = frame[[column.key for column in columns]]
    cells = shown.astype(object).where(shown.notna(), None).itertuples(index=False, name=None)
    names = frame[ids] if ids else range(len(frame))
    return [Row(str(name), row) for name, row in zip(names, cells, strict=True)]


def intervals(frame: pd.DataFrame, value: str) -> pd.Series[Any]:
    """The cells of a column of shares with their intervals; nothing where the share is undefined."""
    shares = frame[[value, "low", "high"]].astype(object)
    shares = shares.where(shares.notna(), None)
    cells = [None if row[0] is None else Interval(*row) for row in shares.itertuples(index=False)]
    return pd.Series(cells, index=frame.index, dtype=object)


def points(row: Mapping[Any, Any]) -> str:
    """``+13.8 (+7.4 to +20.4)`` of a row with ``difference``, ``low`` and ``high``; a dash without one."""
    value, low, high = (None if pd.isna(row[name]) else row[name] for name in ("difference", "low", "high"))
    return Estimate(value, low=low, high=high).text(unit="", sign=True).replace("-", "−")


def draw_intervals(
    frame: pd.DataFrame, value: str, title: str, *, key: str, on_pick: Callable[[str], object] | None = None
) -> None:
    """Draw a column of a frame of `interval_dots`, also in words for who cannot see it.

    A ``difference`` is in points, anything else in percent. What it shows is part of ``key``.
    """
    frame = frame.astype({value: float, "low": float, "high": float}).assign(value=frame[value])
    if "colour" not in frame:
        frame = frame.assign(colour=SYSTEMS[0].on(is_dark()))
    drawn = [name for name in ("name", "value", "low", "high", "n", "group", "colour", "id") if name in frame]
    is_difference = value == "difference"
    figure = resources.figure(interval_dots, frame[drawn], title, differences=is_difference)
    names = frame["group"] + ", " + frame["name"] if "group" in frame else frame["name"]
    values = map(points, frame.to_dict("records")) if is_difference else map(percent, frame[value])
    alt = "; ".join(f"{name}: {text}" for name, text in zip(names, values, strict=True))
    draw_chart(figure, key=key, alt=f"{title}: {alt}", on_pick=on_pick)


def instance_table(
    columns: Sequence[Column],
    frame: pd.DataFrame,
    context: Context,
    runs: Sequence[RunInfo],
    *,
    key: str,
    title: str,
) -> None:
    """Instances with their hypotheses, as rows that open the reader with the runs, and as a set to carry to Browse.

    Where the frame has a ``sentence`` or an ``aspect`` beside its ``instance``, the reader shows those.
    """
    draw_set_button(context.dataset, title, list(dict.fromkeys(frame["instance"])))
    shown = frame.head(_SHOWN)
    hypotheses = resources.hypotheses(context.dataset, shown["instance"])
    shown = shown.assign(hypothesis=shown["instance"].map(hypotheses), id=shown["instance"])
    begun = reader_link(context.dataset, context.task, "", runs)

    def link(row_id: str) -> dict[str, str]:
        row = shown.iloc[int(row_id)]
        named = [name for name in ("instance", "sentence", "aspect") if name in shown]
        return {**begun, **{name: str(row[name]) for name in named}}

    frame_table(
        (HYPOTHESIS, *columns, INSTANCE),
        shown,
        key=key,
        on_open=lambda row_id: open_later("browse", link(row_id)),
        link=lambda row_id: reader_address(link(row_id)),
        caption=title,
        empty="No instances.",
        height=420,
    )
    if len(frame) > _SHOWN:
        st.caption(f"The first {_SHOWN} of {len(frame):,} are shown.")


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
            with st.expander("What this is based on"):
                st.markdown("\n".join(f"- {literal(note)}" for note in report.notes))
