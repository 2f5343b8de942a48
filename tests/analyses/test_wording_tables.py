"""Tables of wordings by hand, on four instances."""

import math

import pandas as pd
import pytest

from evidencebench_core.analyses.variant_runs import Answers
from evidencebench_core.analyses.wording_tables import (
    instance_frame,
    mean_answers,
    pair_frame,
    published_frame,
    spread_frame,
    wording_frame,
)

# Four instances in three papers, an original and two wordings.
PAPERS = {"a": "p", "b": "p", "c": "q", "d": "r"}


def answers(
    name: str, recalls: dict[str, float], ranking: tuple[int, ...] = (0, 1, 2, 3), k: int = 2, **counts: int
) -> Answers:
    rows = [(PAPERS[one], recall, ranking, ranking[:k]) for one, recall in recalls.items()]
    columns = ["paper", "recall", "ranking", "selection"]
    return Answers(name, pd.DataFrame(rows, columns=columns, index=list(recalls)), **counts)


ORIGINAL = answers("original", {"a": 0.5, "b": 1.0, "c": 0.0, "d": 0.2})
FIRST = answers("first", {"a": 0.5, "b": 0.5, "c": 0.25}, (1, 0, 2, 3), n_left_out=1)
SECOND = answers("second", {"a": 0.0, "b": 1.0, "c": 0.5, "d": 0.2}, (2, 3, 0, 1))


def test_a_wording_is_paired_with_the_original() -> None:
    (row,) = wording_frame(ORIGINAL, [FIRST]).to_dict("records")
    # a, b, c: 0.5 1 0 against 0.5 0.5 0.25; d has no such wording.
    assert (row["n"], row["n_left_out"], row["n_missing"]) == (3, 1, 0)
    assert (row["original"], row["recall"]) == (pytest.approx(0.5), pytest.approx(1.25 / 3))
    assert row["difference"] == pytest.approx(-0.25 / 3)
    assert (row["better"], row["same"], row["worse"]) == (1, 1, 1)
    # Papers p (a and b: sum -0.5) and q (c: +0.25) are drawn: means -0.25, 0.25 or -0.25/3.
    assert (row["ci_low"], row["ci_high"]) == (-0.25, 0.25)
    # Flips of -0.5 and 0.25: sums ±0.25 and ±0.75, all at least as far from 0 as -0.25.
    assert row["p_value"] == 1.0
    # The same two picks in the other order: overlap 1, tau of one reversed pair -1.
    assert (row["overlap"], row["kendall_tau"], row["n_tau"]) == (1.0, -1.0, 3)


def test_answers_on_one_side_only_are_counted_as_missing() -> None:
    other = answers("other", {"a": 0.5}, n_left_out=0, n_missing=3)
    (row,) = wording_frame(ORIGINAL, [other]).to_dict("records")
    assert (row["n"], row["n_missing"]) == (1, 3)
    assert row["ci_low"] is None or math.isnan(row["ci_low"])  # one paper has no interval
    less = answers("original", {"a": 0.5})
    (row,) = wording_frame(less, [FIRST]).to_dict("records")
    assert (row["n"], row["n_missing"]) == (1, 2)


def test_nothing_in_common_is_undefined_and_not_zero() -> None:
    (row,) = wording_frame(ORIGINAL, [answers("empty", {}, n_missing=4)]).to_dict("records")
    assert (row["n"], row["n_missing"]) == (0, 4)
    assert all(math.isnan(row[name]) for name in ("original", "recall", "difference", "overlap"))


def test_pairs_keep_the_datasets_order() -> None:
    pairs = pair_frame(ORIGINAL, SECOND)
    assert list(pairs["instance"]) == ["a", "b", "c", "d"]
    assert list(pairs["difference"]) == [-0.5, 0.0, 0.5, 0.0]
    # Picks 0 1 against 2 3, ranks over all four: 0 1 2 3 against 2 3 0 1, four of six pairs reversed.
    assert set(pairs["overlap"]) == {0.0}
    assert list(pairs["kendall_tau"]) == [pytest.approx(-2 / 6)] * 4


def test_spread_is_over_the_original_and_every_wording() -> None:
    frame = instance_frame(ORIGINAL, [FIRST, SECOND])
    # a: 0.5 0.5 0, b: 1 0.5 1, c: 0 0.25 0.5; d lacks a wording. All have a spread of 0.5; the SD puts
    # a and b (sqrt(1/18)) before c (sqrt(1/24)), and a before b as in the dataset.
    assert list(frame["instance"]) == ["a", "b", "c"]
    assert list(frame["spread"]) == [0.5, 0.5, 0.5]
    assert list(frame["sd"]) == [pytest.approx((1 / 18) ** 0.5)] * 2 + [pytest.approx((1 / 24) ** 0.5)]
    assert list(frame["overlap"]) == [0.5] * 3  # 1 with the first, 0 with the second
    (row,) = spread_frame(frame, 4).to_dict("records")
    assert (row["n"], row["n_left_out"], row["n_moved"]) == (3, 1, 3)
    assert (row["mean_spread"], row["largest_spread"]) == (0.5, 0.5)


def test_means_are_over_instances_answered_in_all() -> None:
    mean = mean_answers("mean", [FIRST, SECOND])
    assert mean.frame["recall"].to_dict() == {"a": 0.25, "b": 0.75, "c": 0.375}
    assert mean.n_left_out == 1


def test_published_figures_are_those_of_the_appendix() -> None:
    frame = published_frame("Appendix F")
    opus = frame[frame["system"] == "Claude 3 Opus"]
    assert list(opus["aspect_recall"]) == [0.517, 0.446, 0.419, 0.433, 0.439]
    assert opus["difference"].iloc[2] == pytest.approx(-0.098)
    negation = published_frame("Section 5.2")
    assert list(negation["difference"]) == [0.0, pytest.approx(-0.014), 0.0, pytest.approx(-0.044)]
