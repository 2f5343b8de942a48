"""The pages of a paper: which one is shown, and what of it the browser gets."""

from types import MappingProxyType

import pytest

from components.paper.pages import page_data, shown_page
from evidencebench_core.papers import Box, PageImage, Paper

FAR = Box(2, -5.0, 1e300, 1e308, float("inf"))
BOXES = ((Box(1, 60, 80, 300, 100),), (Box(1, 310, 80, 540, 100), Box(2, 60, 80, 300, 100)), (FAR,), ())
TEXTS = ("On one.", "On one and two.", "Far out.", "Nowhere.")
PAPER = Paper("p", "", TEXTS, ("normal_paragraph",) * 4, "pdf", MappingProxyType({}), (), boxes=BOXES)


@pytest.mark.parametrize(
    ("page", "selected", "first", "shown"),
    [
        (None, None, 2, 2),  # that of the finding
        (None, None, 3, 1),  # which has no place
        (7, 0, 2, 1),  # the selected sentence comes first
        (2, 1, None, 2),  # it goes on there
        (7, 3, None, 7),
        (None, 99, None, 1),
    ],
)
def test_the_page_shown(page: int | None, selected: int | None, first: int | None, shown: int) -> None:
    assert shown_page(page, selected, first, PAPER) == shown


def test_boxes_are_shares_of_the_page_and_stay_on_it() -> None:
    first = page_data(PAPER, PageImage(1, 2, 600, 800, b""), {1: 1, 3: 2})
    assert (first["page"], first["n_pages"]) == (1, 2)
    assert first["beside"] == [("right", 10, "1", 1)]
    one, two = first["sentences"]
    assert one == {"index": 0, "place": None, "rects": [(10, 10, 40, 2.5)]}
    assert (two["index"], two["place"]) == (1, 1)
    second = page_data(PAPER, PageImage(2, 2, 600, 800, b""), {})
    assert [one["rects"] for one in second["sentences"]] == [[(10, 10, 40, 2.5)], [(0, 100, 100, 0)]]
    assert page_data(PAPER, PageImage(1, 2, 0, 0, b""), {})["sentences"][0]["rects"] == [(0, 0, 0, 0)]
