"""What the table component is sent, and which of its messages are believed."""

from __future__ import annotations

import json

import pytest

from components.widgets.table import Chip, Column, Interval, Row, TableEvent, event_from, table_data

COLUMNS = (
    Column("name", "Name"),
    Column("recall", "Recall", "interval"),
    Column("aspects", "Aspects", "chips"),
)


def test_cells_travel_as_plain_json() -> None:
    rows = [Row("r1", ("<b>bm25</b>", Interval(0.5, 0.4, 0.6), (Chip("aspect:A1", "A1", 0, filled=False),)))]
    data = json.loads(json.dumps(table_data(COLUMNS, rows, sort="name", chosen=["r1"])))
    assert data["rows"][0]["cells"] == [
        "<b>bm25</b>",
        {"value": 0.5, "low": 0.4, "high": 0.6},
        [{"target": "aspect:A1", "label": "A1", "number": 0, "title": "", "filled": False}],
    ]
    assert (data["sort"], data["chosen"]) == ("name", ["r1"])


def test_a_row_needs_one_cell_a_column() -> None:
    with pytest.raises(ValueError, match="row 'r1' has 1 cells for 3 columns"):
        table_data(COLUMNS, [Row("r1", ("x",))])


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ({"kind": "open", "value": "id"}, TableEvent("open", "id")),
        ({"kind": "sort", "value": "name"}, TableEvent("sort", "name")),
        ({"kind": "delete", "value": "id"}, None),
        ({"kind": "open", "value": 3}, None),
        ({"kind": "open"}, None),
        ("open", None),
        (None, None),
    ],
)
def test_only_messages_of_ours_are_believed(payload: object, event: TableEvent | None) -> None:
    assert event_from(payload) == event
