"""The one walk down a paper whose headings are known by their words alone."""

import pytest

from evidencebench_core.papers.outline import Place


@pytest.mark.parametrize(
    ("headings", "parts"),
    [
        # Lines of the references look like headings; a main heading ends them.
        (["References", "Lancet 2009", "Methods"], ["references", None, "body"]),
        # Below the results back matter has headings of its own; above them any heading ends it.
        (["Results", "Declarations", "Ethics approval"], ["body", "back matter", None]),
        (["Abbreviations", "Study design and cohort"], ["back matter", "body"]),
    ],
)
def test_what_a_heading_opens_where_levels_are_unknown(headings: list[str], parts: list[str | None]) -> None:
    place = Place()
    assert [place.part if place.step(heading) else None for heading in headings] == parts


def test_levels_say_what_stands_in_back_matter() -> None:
    place = Place()
    assert place.step("Declarations", 2)
    assert not place.step("Methods of funding", 3)
    assert place.step("Annex of questions", 2)
    assert place.part == "body"
