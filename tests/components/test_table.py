"""Tables: what they are sent, pages of fifty rows."""

import json
import math
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from components.frame_table import frame_rows
from components.table import Chip, Column, Interval, Row, table_data
from components.table.paging import Paging, paging
from evidencebench_core.export.reader import visible_texts

COLUMNS = (Column("name", "Name"), Column("n", "n", "number"), Column("share", "Share", "percent"))
NAN = math.nan


def test_cells_travel_as_plain_json_and_ids_as_they_are() -> None:
    chips = (Chip("aspect:A1", "A1", 0, filled=False),)
    rows = [Row("\u202ei", ("<b>bm25</b> \u202efed", Interval(0.5, 0.4, 0.6), chips), muted=True)]
    look = {"sort": "name", "chosen": ["r1"], "link": lambda row: f"browse?x={len(row)}"}
    data = json.loads(json.dumps(visible_texts(table_data(COLUMNS, rows, **look))))
    chip = {"target": "aspect:A1", "label": "A1", "number": 0, "title": "", "filled": False}
    cells = ["<b>bm25</b> [U+202E]fed", {"value": 0.5, "low": 0.4, "high": 0.6}, [chip]]
    assert data["rows"] == [{"id": "\u202ei", "cells": cells, "muted": True, "href": "browse?x=2"}]
    assert (data["sort"], data["chosen"]) == ("name", ["r1"])
    with pytest.raises(ValueError, match="row 'r1' has 1 cells for 3 columns"):
        table_data(COLUMNS, [Row("r1", ("x",))])


def test_cells_of_a_frame_are_plain_and_undefined_ones_empty() -> None:
    frame = pd.DataFrame({"share": [0.5, NAN], "n": pd.array([3, None], "Int64"), "name": ["<b>", None]})
    rows = frame_rows(COLUMNS, frame)
    assert [(row.id, row.cells) for row in rows] == [("0", ("<b>", 3, 0.5)), ("1", (None, None, None))]
    assert json.loads(json.dumps(table_data(COLUMNS, rows)))["rows"][0]["cells"] == ["<b>", 3, 0.5]
    assert frame_rows(COLUMNS, frame.head(1), "name")[0].id == "<b>"


@pytest.mark.parametrize(("asked", "first"), [(1, 0), (3, 100), (0, 0), (9, 100), (None, 0)])
def test_fifty_rows_of_the_nearest_page_that_there_is_are_shown(asked: int | None, first: int) -> None:
    state: Any = SimpleNamespace(number=lambda name: asked)
    assert paging(state, 101) == Paging(first // 50 + 1, 3)  # 50 + 50 + 1
    assert paging(state, 101).rows == slice(first, first + 50)
    assert paging(state, 50).n_pages == paging(state, 0).n_pages == 1
