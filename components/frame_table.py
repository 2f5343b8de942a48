"""A DataFrame as a `table`, instances as rows that open the reader, and downloads of frames."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from components import resources
from components.run_links import reader_link
from components.state import open_later
from components.table import Column, Interval, Row, table
from evidencebench_core.analyses.report import records
from evidencebench_core.data import DatasetInfo
from evidencebench_core.export import csv_text
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task

HYPOTHESIS: Final = Column("hypothesis", "Hypothesis", "title")
INSTANCE: Final = Column("id", "Instance", "id")
_SHOWN: Final = 200


def frame_table(
    columns: Sequence[Column],
    frame: pd.DataFrame,
    *,
    key: str,
    ids: str = "",
    muted: bool = False,
    **options: Any,
) -> None:
    """Draw the columns of a frame, by key; what is undefined is an empty cell.

    ``ids`` is the column of the rows' ids, which are else their places; no ``muted`` row can be chosen.
    """
    table(columns, frame_rows(columns, frame, ids, muted), key=key, **options)


def frame_rows(
    columns: Sequence[Column], frame: pd.DataFrame, ids: str = "", muted: bool = False
) -> list[Row]:
    """The rows of a `frame_table`."""
    shown = frame[[column.key for column in columns]]
    cells = shown.astype(object).where(shown.notna(), None).itertuples(index=False, name=None)
    names = frame[ids] if ids else range(len(frame))
    return [Row(str(name), row, muted=muted) for name, row in zip(names, cells, strict=True)]


def intervals(frame: pd.DataFrame, value: str, low: str = "low", high: str = "high") -> pd.Series[Any]:
    """The cells of a column of shares with their intervals; nothing where the share is undefined."""
    shares = frame[[value, low, high]].astype(object).where(frame[[value, low, high]].notna(), None)
    cells = [None if row[0] is None else Interval(*row) for row in shares.itertuples(index=False)]
    return pd.Series(cells, index=frame.index, dtype=object)


def in_points(differences: pd.DataFrame) -> pd.DataFrame:
    """The frame with its ``difference`` as ``points``, and their 95% ``interval`` in words."""
    bounds = zip(differences["low"], differences["high"], strict=True)
    words = ["" if pd.isna(low) else f"{100 * low:+.1f} to {100 * high:+.1f}" for low, high in bounds]
    words = [text.replace("-", "−") for text in words]
    return differences.assign(points=100 * differences["difference"], interval=words)


def instance_table(
    columns: Sequence[Column],
    frame: pd.DataFrame,
    place: tuple[DatasetInfo, Task],
    runs: Sequence[RunInfo],
    *,
    key: str,
    **options: Any,
) -> None:
    """A `frame_table` of instances, by ``id``, with their hypotheses; a click opens the reader with the runs.

    Where the frame has a ``sentence`` or an ``aspect``, the reader shows those, else the sentence that `reader_link`
    names.
    """
    dataset, task = place
    frame = frame.head(_SHOWN)
    frame = frame.assign(hypothesis=frame["id"].map(resources.hypotheses(dataset, frame["id"])))

    def open_reader(row_id: str) -> None:
        row = frame.iloc[int(row_id)]
        more = {name: str(row[name]) for name in ("sentence", "aspect") if name in frame}
        open_later("browse", reader_link(dataset, task, row["id"], runs, **more))

    def link(row_id: str) -> str:
        values = {"dataset": dataset.name, "task": task.name, "instance": frame["id"].iloc[int(row_id)]}
        return f"browse?{urlencode({**values, 'runs': ','.join(run.id for run in runs)})}"

    columns = (HYPOTHESIS, *columns, INSTANCE)
    frame_table(columns, frame, key=key, on_open=open_reader, link=link, **options)


def first_shown(frame: pd.DataFrame) -> str:
    """The end of a sentence on an `instance_table` that does not show all of the frame."""
    return f"; the first {_SHOWN} are shown" if len(frame) > _SHOWN else ""


def in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with headings to be read: ``n_left_out`` as "Number left out"."""
    return frame.rename(columns=lambda name: re.sub("^n_", "number_", name).replace("_", " ").capitalize())


def csv_button(label: str, name: str, made: Callable[[], pd.DataFrame]) -> None:
    """A download of the frame that ``made`` gives once it is clicked."""
    st.download_button(
        label,
        lambda: csv_text(joined(made())),
        f"{name}.csv",
        "text/csv",
        on_click="ignore",
        key=f"csv-{name}",
    )


def joined(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the values of a cell that has several joined by "; "."""
    cells = frame.select_dtypes("object")
    return frame.assign(
        **cells.map(lambda value: "; ".join(map(str, value)) if isinstance(value, tuple) else value)
    )


def csv_and_json(
    name: str, made: Callable[[], pd.DataFrame], document: Callable[[], object] | None = None
) -> None:
    """Downloads of the frame that ``made`` gives; as JSON its records, where no other ``document`` is given."""
    with st.container(horizontal=True):
        csv_button("CSV", name, made)
        st.download_button(
            "JSON",
            lambda: json.dumps(document() if document else records(made()), indent=2),
            f"{name}.json",
            "application/json",
            on_click="ignore",
            key=f"json-{name}",
        )
