"""Tables: what they are sent, pages of fifty rows."""

import json
import math

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.frame_table import frame_rows
from components.table import Chip, Column, Interval, Row, table_data
from evidencebench_core.words import visible_texts
from tests.pages.app import App

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


def pages() -> None:
    """A script: a list of 101 rows, 50 + 50 + 1."""
    import streamlit as st

    from components.state import PageState
    from components.table.paging import paging

    state = PageState("p", {"page": "1"})
    page = paging(state, 101)
    st.markdown(f"{page.rows.start} to {page.rows.stop}")
    page.draw(state)
    paging(state, 50).draw(state)


def test_from_page_to_page() -> None:
    app = App(AppTest.from_function(pages))
    assert "0 to 50" in app.words
    (pagination,) = app.get("pagination")  # one page has none
    assert pagination.num_pages == 3
    pagination.set_value(3)
    app.run()
    assert "100 to 150" in app.words
    assert app.address == {"page": "3"}
    for page, rows in (("0", "0 to 50"), ("9", "100 to 150"), ("x", "0 to 50")):  # the nearest there is
        assert rows in app.run(page=page).words
