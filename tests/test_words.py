"""Numbers and long texts in words, and characters that would steer a terminal or a page made visible."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.words import clipped_text, one_line, quantity, visible


def test_a_number_with_its_noun() -> None:
    assert [quantity(n, "paper") for n in (0, 1, 107_461)] == ["0 papers", "1 paper", "107,461 papers"]


def test_a_text_of_the_limit_is_whole() -> None:
    assert (clipped_text("abcd", 4), clipped_text("abcde", 4)) == ("abcd", "abc…")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "[U+001B][31mred[U+001B][0m"),
        ("a\x00b\x07c\x7fd\x9be", "a[U+0000]b[U+0007]c[U+007F]d[U+009B]e"),
        ("line\r\nline\tcell", "line line cell"),
        ("pay \u202eevil\u202c", "pay [U+202E]evil[U+202C]"),
        ("half \ud83d", "half [U+D83D]"),
        ("tee über 茶 🍵 شاي שלום e\u0301", "tee über 茶 🍵 شاي שלום e\u0301"),
    ],
)
def test_odd_characters_are_written_out(text: str, expected: str) -> None:
    assert one_line(text) == expected


def test_a_text_of_several_lines_stays_one_but_for_what_steers_a_terminal() -> None:
    assert visible("a\tb\n\x1b[31mred\u202e\n") == "a\tb\n[U+001B][31mred[U+202E]\n"


@given(st.text())
def test_one_line_leaves_nothing_that_steers_a_terminal(text: str) -> None:
    line = one_line(text)
    assert all(unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"} for char in line)
    assert one_line(line) == line
