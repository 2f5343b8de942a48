"""Tables: what they are sent, what a browser's messages may say, pages of fifty rows, a sort that turns round."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from components.widgets.component import sentence_in
from components.widgets.frame_table import frame_rows, intervals
from components.widgets.table import Chip, Column, Interval, Row, TableEvent, event_from, table_data
from evidencebench_core.words import visible_texts
from tests.pages.app import App

COLUMNS = (Column("name", "Name"), Column("n", "n", "number"), Column("share", "Share", "percent"))
NAN = math.nan


# -- cells --------------------------------------------------------------------------------------------------


def test_cells_travel_as_plain_json() -> None:
    rows = [Row("r1", ("<b>bm25</b>", Interval(0.5, 0.4, 0.6), (Chip("aspect:A1", "A1", 0, filled=False),)))]
    data = json.loads(json.dumps(table_data(COLUMNS, rows, sort="name", chosen=["r1"])))
    assert data["rows"][0]["cells"] == [
        "<b>bm25</b>",
        {"value": 0.5, "low": 0.4, "high": 0.6},
        [{"target": "aspect:A1", "label": "A1", "number": 0, "title": "", "filled": False}],
    ]
    assert (data["sort"], data["chosen"]) == ("name", ["r1"])
    with pytest.raises(ValueError, match="row 'r1' has 1 cells for 3 columns"):
        table_data(COLUMNS, [Row("r1", ("x",))])


def test_what_turns_a_line_round_is_written_out_and_ids_come_back_as_they_are() -> None:
    rows = [Row("\u202ei", ("abc \u202efed", Interval(0.5, 0.4, 0.6)), muted=True)]
    data = visible_texts(table_data(COLUMNS[::2], rows))
    assert data["rows"][0]["cells"] == ["abc [U+202E]fed", {"value": 0.5, "low": 0.4, "high": 0.6}]
    assert (data["rows"][0]["id"], data["rows"][0]["muted"]) == ("\u202ei", True)


def test_cells_of_a_frame_are_plain_and_undefined_ones_empty() -> None:
    frame = pd.DataFrame({"share": [0.5, NAN], "n": pd.array([3, None], "Int64"), "name": ["<b>", None]})
    rows = frame_rows(COLUMNS, frame)
    assert [(row.id, row.cells) for row in rows] == [("0", ("<b>", 3, 0.5)), ("1", (None, None, None))]
    assert json.loads(json.dumps(table_data(COLUMNS, rows)))["rows"][0]["cells"] == ["<b>", 3, 0.5]
    assert frame_rows(COLUMNS, frame.head(0)) == []
    chips = (Chip("sentence:4", "4"),)
    frame = pd.DataFrame({"name": ["x"], "where": [chips]}, index=[7])
    (row,) = frame_rows((Column("where", "Where", "chips"),), frame, "name", muted=True)
    assert (row.id, row.cells, row.muted) == ("x", (chips,), True)


def test_an_interval_without_bounds_or_without_a_share() -> None:
    columns = {"recall": [0.5, 0.25, NAN], "low": [0.4, NAN, NAN], "high": [0.6, NAN, NAN]}
    expected = [Interval(0.5, 0.4, 0.6), Interval(0.25), None]
    assert list(intervals(pd.DataFrame(columns), "recall")) == expected


# -- messages of a browser ----------------------------------------------------------------------------------


def test_only_messages_of_ours_are_believed() -> None:
    for kind in ("open", "sort"):
        assert event_from({"kind": kind, "value": "id"}) == TableEvent(kind, "id")
    for payload in (
        {"kind": "delete", "value": "id"},
        {"kind": "open", "value": 3},
        {"kind": "open"},
        "open",
        None,
    ):
        assert event_from(payload) is None
    assert sentence_in({"sentence": 4}, {1, 4}) == 4  # of those that are listed
    for payload in (None, [4], {}, *({"sentence": wrong} for wrong in (7, "4", True))):
        assert sentence_in(payload, {1, 4}) is None


# -- pages and switches, in the address ---------------------------------------------------------------------


def pages() -> None:
    import streamlit as st

    from components.app.state import PageState
    from components.widgets.table import TableEvent
    from components.widgets.table.paging import paging, put_sort

    state = PageState("p", {"sort": "name", "desc": "", "page": "1"})
    page = paging(state, 101)
    st.markdown(f"{page.rows.start} to {page.rows.stop}")
    page.draw(state)
    paging(state, 50).draw(state)  # one page has no buttons
    for column in ("name", "size"):
        if st.button(column):
            put_sort(state, TableEvent("sort", column))
            st.rerun()


def switches() -> None:
    import streamlit as st

    from components.app.state import PageState
    from components.widgets.switches import on_off_switch, option_switch

    state = PageState("test", {"part": "a", "all": "", "page": "1"})
    options = {"a": "First", "b": "Second"}
    chosen = option_switch(state, "part", "Part", options, reset=("page",), fallback="A is")
    st.markdown(f"{chosen} {on_off_switch(state, 'all', 'All')}")


def test_from_page_to_page() -> None:
    app = App(AppTest.from_function(pages))
    assert app.labels() == ["Previous page", "Next page", "name", "size"]
    assert "0 to 50" in app.words
    assert app.button[0].disabled
    words = app.press("Next page").press("Next page").words
    # 101 rows are 50 + 50 + 1.
    assert "100 to 150" in words
    assert "Page 3 of 3" in words
    assert app.button[1].disabled
    assert app.press("Previous page").address == {"page": "2"}
    for page, rows in (("0", "0 to 50"), ("9", "100 to 150"), ("x", "0 to 50")):  # the nearest there is
        assert rows in app.run(page=page).words


def test_the_same_column_again_turns_the_sort_round_and_starts_at_its_beginning() -> None:
    app = App(AppTest.from_function(pages), page="3")
    for column, address in (
        *(("size", {"sort": "size"}), ("size", {"sort": "size", "desc": "1"}), ("size", {"sort": "size"})),
        ("name", {}),
    ):
        assert app.press(column).address == address


def test_a_switch_goes_to_the_address_takes_others_back_and_reports_what_it_does_not_know() -> None:
    app = App(AppTest.from_function(switches), page="3")
    assert app.words == "a False"
    app.segmented_control[0].set_value("b").run()
    app.toggle[0].set_value(True).run()
    assert (app.words, app.address) == ("b True", {"part": "b", "all": "1"})
    app.toggle[0].set_value(False).run()
    assert app.address == {"part": "b"}
    app = App(AppTest.from_function(switches), part="<b>nix")
    assert app.warning[0].value == r"There is no part \<b\>nix; A is shown instead."
    assert "part" not in app.address
