"""Numbers and tables in a terminal."""

from __future__ import annotations

import pytest

from evidencebench_core.cli.output import interval, listing, percent, print_table, width


def test_numbers() -> None:
    assert [percent(share) for share in (None, 0.0, 0.08861, 1.0)] == ["–", "0.0", "8.9", "100.0"]
    assert [interval(None), interval((0.1234, 0.2))] == ["–", "12.3 to 20.0"]
    assert listing(["a", "b"]) == "a, b"
    assert listing(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_table_aligns_by_columns_of_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n"), [("茶", "7"), ("cafe\u0301", "12"), ("x\x1b", "3")], right=("n",))
    rows = ["name        n", "茶          7", "cafe\u0301       12", "x[U+001B]   3"]
    assert capsys.readouterr().out.splitlines() == rows
    assert width("cafe\u0301") == 4
