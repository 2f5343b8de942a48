"""What a browser may tell the app: only messages of the app's own components are believed."""

import pytest

from components import paper_view, table
from components.component import sentence_in
from evidencebench_core.export.reader import paper_key
from tests.browser.reader_views import short_view

READER = {"kind": "sentence", "sentence": 7, "aspect": None, "system": 0, "paper": paper_key(short_view())}


def test_a_message_is_an_event() -> None:
    assert table.event_from({"kind": "sort", "value": "n"}) == table.TableEvent("sort", "n")
    assert sentence_in({"sentence": 4}, {1, 4}) == 4
    event = paper_view.PaperEvent("aspect", 7, 3, 0)
    assert paper_view.event_from(READER | {"kind": "aspect", "aspect": 3}, short_view()) == event


@pytest.mark.parametrize(
    "payload",
    [
        *(None, "open", {}, [4]),
        *({"kind": "delete", "value": "id"}, {"kind": "open", "value": 3}, {"kind": "open"}),
        *({"sentence": sentence} for sentence in (7, "4", True)),  # 1 and 4 are listed
        *(READER | {"kind": kind} for kind in ("delete", ["sentence"])),
        *(READER | {"sentence": sentence} for sentence in (12, -1, True, "7")),
        *(READER | {"aspect": 4}, READER | {"system": 2}, READER | {"paper": "another paper"}),
    ],
)
def test_anything_else_is_none(payload: object) -> None:
    assert table.event_from(payload) is None
    assert sentence_in(payload, {1, 4}) is None
    assert paper_view.event_from(payload, short_view()) is None
