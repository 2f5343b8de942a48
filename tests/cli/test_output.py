from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core.cli.output import interval, listing, percent, plain, print_table, width


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\x00b\x07c\x7fd\x9be", r"a\x00b\x07c\x7fd\x9be"),
        ("line\r\nline\tcell", "line line cell"),
        ("pay \u202eevil\u202c", r"pay \u202eevil\u202c"),
        ("half \ud83d", r"half \ud83d"),
        ("tee über 茶 🍵 شاي שלום e\u0301", "tee über 茶 🍵 شاي שלום e\u0301"),
        ("\\x1b stays", "\\x1b stays"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(st.text())
def test_plain_leaves_nothing_that_steers_a_terminal(text: str) -> None:
    assert all(unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"} for char in plain(text))
    assert plain(plain(text)) == plain(text)


def test_numbers() -> None:
    assert [percent(share) for share in (None, 0.0, 0.08861, 1.0)] == ["–", "0.0", "8.9", "100.0"]
    assert [interval(None), interval((0.1234, 0.2))] == ["–", "12.3 to 20.0"]
    assert listing(["a", "b"]) == "a, b"
    assert listing(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_table_aligns_by_columns_of_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n"), [("茶", "7"), ("cafe\u0301", "12"), ("x\x1b", "3")], right=("n",))
    assert capsys.readouterr().out == "name    n\n茶      7\ncafe\u0301   12\nx\\x1b   3\n"
    assert width("cafe\u0301") == 4
