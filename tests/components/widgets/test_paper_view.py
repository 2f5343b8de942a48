"""What the reader may tell."""

from __future__ import annotations

import pytest

from components.widgets.paper_view import PaperEvent, event_from
from evidencebench_core.export.reader import paper_key
from tests.browser.reader_views import short_view

MESSAGE = {"kind": "sentence", "sentence": 7, "aspect": None, "system": 0, "paper": paper_key(short_view())}


def test_event() -> None:
    assert event_from(MESSAGE, short_view()) == PaperEvent("sentence", 7, None, 0)
    told = MESSAGE | {"kind": "aspect", "aspect": 3}
    assert event_from(told, short_view()) == PaperEvent("aspect", 7, 3, 0)


@pytest.mark.parametrize(
    "payload",
    [
        *(None, "sentence", {}),
        *(MESSAGE | {"kind": kind} for kind in ("delete", ["sentence"])),
        *(MESSAGE | {"sentence": sentence} for sentence in (12, -1, True, "7")),
        *(MESSAGE | {"aspect": 4}, MESSAGE | {"system": 2}, MESSAGE | {"paper": "another paper"}),
    ],
)
def test_no_event(payload: object) -> None:
    assert event_from(payload, short_view()) is None
