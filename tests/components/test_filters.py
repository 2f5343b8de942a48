"""What a filter of the address holds comes back, whatever signs a value has."""

import pytest

from components.filters import Filter, where_text, where_values

FILTERS = (Filter("variant", "Variant", "choice"), Filter("n", "Aspects"))


@pytest.mark.parametrize("value", ["budget", "paraphrase:ours", "a, b: c", "1e-05", "50%25"])
def test_a_choice_and_a_range_come_back(value: str) -> None:
    wanted = {"variant": value, "n": (3.0, float("inf"))}
    assert where_values(where_text(wanted), FILTERS) == wanted
