"""Prices: what differs from ours, as a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.models.prices import own_prices, prices_text
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Price, prices


def table(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "prompt", "completion", "batch", "date", "source"])


def test_only_what_differs_from_ours_is_the_users_own() -> None:
    ours = prices(Path("/dev/null"))["gpt-4o-mini"]
    same = ("gpt-4o-mini", ours.prompt, ours.completion, ours.batch, ours.date, ours.source)
    empty = (None, None, None, None, None, None)
    assert own_prices(table([same, empty, ("local", 0, None, None, None, "")])) == {"local": Price(0.0, 0.0)}


@pytest.mark.parametrize(
    "row",
    [
        ("", 1, 1, 1, "", ""),
        ("m", -1, 1, 1, "", ""),
        ("m", float("inf"), 1, 1, "", ""),
        ("m", 1, 1, 2, "", ""),
    ],
)
def test_rows_that_are_no_price_are_refused(row: tuple[object, ...]) -> None:
    with pytest.raises(SettingError):
        own_prices(table([row]))


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1),
        st.builds(
            Price,
            st.floats(0, 1e5),
            st.floats(0, 1e5),
            st.just("2026-01"),
            st.just('a "b" \\ c'),
            st.floats(0, 1),
        ),
        max_size=4,
    )
)
def test_prices_come_back_from_their_file(own: dict[str, Price]) -> None:
    import tomllib

    read = tomllib.loads(prices_text(own))["models"]
    assert {name: Price(**entry) for name, entry in read.items()} == own
