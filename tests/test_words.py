"""Numbers and long texts in words."""

from evidencebench_core.words import clipped_text, quantity


def test_a_number_with_its_noun() -> None:
    assert [quantity(n, "paper") for n in (0, 1, 107_461)] == ["0 papers", "1 paper", "107,461 papers"]


def test_a_text_of_the_limit_is_whole() -> None:
    assert (clipped_text("abcd", 4), clipped_text("abcde", 4)) == ("abcd", "abc…")
