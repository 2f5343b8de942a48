"""Sentences made from figures: every branch, and nothing that the interval does not say."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evidencebench_core.analyses.aspect_table import aspect_table, run_picks
from evidencebench_core.analyses.buckets import buckets_of, middle_buckets
from evidencebench_core.analyses.conclusions import (
    coverage_conclusion,
    coverage_shares,
    ends_conclusion,
    middle_conclusion,
    opportunity_conclusion,
)
from evidencebench_core.analyses.ends import EndsSplit
from evidencebench_core.analyses.positions import position_report
from evidencebench_core.tasks import task_named
from tests.factories import packed_picks, raw_instance, store_with

NAN = math.nan


@pytest.mark.parametrize(
    ("n_buckets", "there"),
    # centres of 4: 1/8, 3/8, 5/8, 7/8; of 10: 0.35 to 0.65 lie between 1/3 and 2/3
    [(1, []), (2, []), (3, [1]), (4, [1, 2]), (5, [2]), (10, [3, 4, 5, 6])],
)
def test_the_middle_of_so_many_buckets(n_buckets: int, there: list[int]) -> None:
    assert list(middle_buckets(n_buckets)) == there


def test_recall_in_the_middle_by_hand(tmp_path: Path) -> None:
    # 9 sentences in 3 buckets: 3, 4 and 5 are the middle. One: w at the start, x and y in the middle; two, another
    # paper: v in the middle, z at the end. The run finds w, x and z: 1 of 3 in the middle, 2 of 2 elsewhere.
    raw = {
        "one": raw_instance(9, {"w": [0], "x": [4], "y": [5]}, paper_id="p"),
        "two": raw_instance(9, {"v": [3], "z": [8]}, paper_id="q"),
        "three": raw_instance(9, {"z": [8]}, paper_id="q"),  # not answered: left out
    }
    store = store_with(raw, tmp_path)
    (info,) = store.datasets()
    table = aspect_table(store, info.name, task_named("er@2"))
    where = buckets_of(store, info.name, table, 3)

    def middle(picks: dict[str, tuple[int, ...]]) -> pd.DataFrame:
        runs = [("r", "lead", run_picks(table, packed_picks(picks)))] if picks else []
        report = position_report(table, where, 3, runs, "", n_resamples=200, with_middle=True)
        return report.tables["middle"]

    frame = middle({"one": (0, 4), "two": (8,)})
    assert frame["stand"].tolist() == ["earliest", "latest", "every", "only"]
    row = frame.iloc[0]
    assert (row["from"], row["to"], row["n_middle"], row["n_rest"], row["n_papers"]) == (
        1 / 3,
        2 / 3,
        3,
        2,
        2,
    )
    assert row["difference"] == pytest.approx(1 / 3 - 1)
    # Drawn twice: p is 1/2 - 1, q is 0 - 1; once each as above.
    assert (row["low"], row["high"]) == (-1.0, -0.5)
    # Of 9 sentences, 2 drawn: every aspect has one, and is found with probability 2/9.
    assert row["chance_difference"] == pytest.approx(0.0)
    assert middle({}).empty
    # With one paper there is a difference, and no interval.
    row = middle({"one": (0, 4)}).iloc[0]
    assert row["difference"] == pytest.approx(0.5 - 1)
    assert np.isnan(row["low"])


ROW = {"run": "r", "label": "lead", "from": 0.3, "to": 0.7, "n_middle": 80, "n_rest": 450, "n_papers": 95}


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ((-0.301, -0.35, -0.251), "lead finds 30.1 points less (95% interval -35.0 to -25.1)"),
        ((0.1, 0.02, 0.18), "lead finds 10.0 points more (95% interval +2.0 to +18.0)"),
        ((0.03, -0.01, 0.07), "no clear difference for lead (+3.0, 95% interval -1.0 to +7.0)"),
        ((0.0, 0.0, 0.0), "no clear difference for lead (+0.0, 95% interval +0.0 to +0.0)"),
        # An end that is printed as 0.0 covers 0.
        ((0.02, 0.0004, 0.04), "no clear difference for lead (+2.0, 95% interval +0.0 to +4.0)"),
        ((-0.02, NAN, NAN), "there are too few papers to tell a difference for lead (-2.0)"),
        ((NAN, NAN, NAN), "there is nothing to compare for lead"),
    ],
)
def test_a_difference_is_one_where_its_interval_leaves_out_zero(
    figures: tuple[float, float, float], said: str
) -> None:
    values = dict(zip(("difference", "low", "high"), figures, strict=True))
    sentence = middle_conclusion(pd.DataFrame([ROW | values | {"chance_difference": NAN}]))
    head = "In the middle of papers (30 to 70%), compared with elsewhere"
    assert sentence == f"{head}: {said}; n = 80 and 450 aspects of 95 papers."


def test_every_run_is_named_what_can_be_told_first_and_random_picks_beside() -> None:
    unsure = ROW | {"difference": -0.3, "low": -0.4, "high": 0.2, "chance_difference": -0.012}
    less = unsure | {"label": "lead", "high": -0.2}
    sentence = middle_conclusion(pd.DataFrame([unsure | {"label": "a"}, less, unsure | {"label": "b"}]))
    assert sentence.endswith(
        "elsewhere: lead finds 30.0 points less (95% interval -40.0 to -20.0); no clear difference for a (-30.0, "
        "95% interval -40.0 to +20.0) and b (-30.0, 95% interval -40.0 to +20.0); random picks would differ by -1.2; "
        "n = 80 and 450 aspects of 95 papers."
    )
    assert middle_conclusion(pd.DataFrame()) == ""


def test_small_groups_at_the_ends_claim_nothing() -> None:
    row = {"label": "lead", "n_above": 30, "n_below": 22, "difference": 0.2, "low": 0.1, "high": 0.3}
    row |= {"chance_difference": 0.05, "few": False}
    assert ends_conclusion(pd.DataFrame([row])) == (
        "Where the ends cover much, compared with where they cover little: lead finds 20.0 points more (95% interval "
        "+10.0 to +30.0); random picks would differ by +5.0; n = 30 and 22 instances."
    )
    few = ends_conclusion(pd.DataFrame([row, row | {"few": True, "n_below": 3, "label": "bm25"}]))
    assert "lead finds 20.0 points more (95% interval +10.0 to +30.0, n = 30 and 22 instances); " in few
    assert (
        "a group is too small (under 20 instances) to tell a difference for bm25 (+20.0, 95% interval +10.0 to +30.0, "
        in few
    )
    none = ends_conclusion(pd.DataFrame([row, row | {"difference": NAN, "n_below": 0, "label": "bm25"}]))
    assert "there is nothing to compare for bm25 (n = 30 and 0 instances)" in none


def test_shares_with_their_intervals() -> None:
    # 4 instances of 2 papers with aspects; p has both that are above. Drawn twice, p is 2 of 3, q 0 of 1.
    groups = pd.DataFrame({"paper": list("pppqr"), "group": ["above", "above", "neither", "below", None]})
    shares = coverage_shares(groups, n_resamples=200)
    assert shares["n"].tolist() == [2, 1]
    assert shares["n_all"].tolist() == [4, 4]
    assert (shares.loc[0, "share"], shares.loc[0, "low"], shares.loc[0, "high"]) == (
        0.5,
        0.0,
        pytest.approx(2 / 3),
    )
    sentence = coverage_conclusion(shares, EndsSplit(head=5))
    assert sentence == (
        "Of 4 instances, 2 (50.0%, 95% interval 0.0 to 66.7) have over 80% of their aspects covered by the first 5 and "
        "last 10 sentences, and 1 (25.0%, 95% interval 0.0 to 100.0) under 20%."
    )
    assert "no interval" in coverage_conclusion(coverage_shares(groups.head(3), n_resamples=10), EndsSplit())
    assert (
        coverage_conclusion(coverage_shares(groups.tail(1), n_resamples=10), EndsSplit())
        == "No instance has an aspect."
    )


def test_the_gold_alone_says_where_aspects_can_be_found() -> None:
    frame = pd.DataFrame({"from": [0.0, 0.5], "to": [0.5, 1.0], "n_aspects": 530, "can": [0.45, 0.121]})
    frame = frame.assign(can_low=[0.4, 0.09], can_high=[0.5, 0.15])
    assert opportunity_conclusion(frame) == (
        "Of 530 aspects, 45.0% (95% interval 40.0 to 50.0) can be found in 0 to 50% and 12.1% (95% interval 9.0 to "
        "15.0) can be found in 50 to 100% of the paper."
    )
    assert opportunity_conclusion(frame.assign(n_aspects=0)) == "No aspect stands anywhere here."
