"""A DataFrame as rows of a table: cells of plain types, nothing for what is undefined."""

from __future__ import annotations

import json
import math

import pandas as pd

from components.widgets.frame_table import frame_rows, intervals
from components.widgets.table import Chip, Column, Interval, table_data

COLUMNS = (Column("name", "Name"), Column("n", "n", "number"), Column("share", "Share", "percent"))


def test_cells_are_plain_and_undefined_ones_empty() -> None:
    frame = pd.DataFrame({"share": [0.5, math.nan], "n": pd.array([3, None], "Int64"), "name": ["<b>", None]})
    rows = frame_rows(COLUMNS, frame)
    assert [row.cells for row in rows] == [("<b>", 3, 0.5), (None, None, None)]
    assert [row.id for row in rows] == ["0", "1"]
    assert json.loads(json.dumps(table_data(COLUMNS, rows)))["rows"][0]["cells"] == ["<b>", 3, 0.5]


def test_rows_have_the_ids_that_the_frame_names_and_chips_pass() -> None:
    chips = (Chip("sentence:4", "4"),)
    frame = pd.DataFrame({"name": ["x"], "where": [chips]}, index=[7])
    (row,) = frame_rows((Column("where", "Where", "chips"),), frame, "name", muted=True)
    assert (row.id, row.cells, row.muted) == ("x", (chips,), True)


def test_an_interval_without_bounds_or_without_a_share() -> None:
    frame = pd.DataFrame(
        {"recall": [0.5, 0.25, math.nan], "low": [0.4, math.nan, math.nan], "high": [0.6, math.nan, math.nan]}
    )
    assert list(intervals(frame, "recall")) == [Interval(0.5, 0.4, 0.6), Interval(0.25), None]


def test_an_empty_frame_has_no_rows() -> None:
    assert frame_rows(COLUMNS, pd.DataFrame(columns=["name", "n", "share"])) == []
