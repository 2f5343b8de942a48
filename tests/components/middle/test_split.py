"""The bars of the distribution over the ends' coverage."""

from __future__ import annotations

import math

import pandas as pd

from components.middle.split import bar_of, bars


def test_edges_belong_to_the_bar_above_and_the_last_holds_all() -> None:
    coverage = pd.Series([0.0, 0.049, 0.05, 0.15, 0.3, 0.999, 1.0, math.nan])
    # 0.15 * 20 and 0.3 * 20 are a little off 3 and 6 in binary.
    assert list(bar_of(coverage)) == [0, 0, 1, 3, 6, 19, 19, -1]


def test_every_instance_with_a_share_is_in_one_bar() -> None:
    counted = bars(pd.DataFrame({"coverage": [0.0, 0.5, 0.5, 1.0, math.nan]}))
    assert len(counted) == 20
    assert counted["n"].sum() == 4
    assert (counted["n"][10], counted["low"][10], counted["high"][10]) == (2, 0.5, 0.55)
