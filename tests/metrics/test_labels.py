"""Worked examples of RAmBLA's specification (their rules' numbers are in the names), scikit-learn, properties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencebench_core import metrics

TWO = ("yes", "no")
THREE = ("yes", "no", "unknown")
Y, N, NULL = "yes", "no", None

GOLD_54, READ_54 = [Y, Y, Y, N, N], [Y, N, NULL, N, Y]
TABLE_54 = metrics.confusion(GOLD_54, READ_54, TWO)


def test_54_weighted_f1_and_what_stands_beside_it() -> None:
    # yes: TP 1, FP 1, FN 2, F1 2/5; no: TP 1, FP 1, FN 1, F1 1/2; 3/5 * 2/5 + 2/5 * 1/2 = 0.44
    assert TABLE_54.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert metrics.weighted_f1(TABLE_54) == pytest.approx(0.44)
    assert metrics.macro_f1(TABLE_54) == pytest.approx(0.45)
    assert metrics.accuracy(TABLE_54) == pytest.approx(0.4)
    assert metrics.answered_f1(TABLE_54) == pytest.approx(0.5)
    assert metrics.coverage(TABLE_54) == pytest.approx(0.8)
    assert metrics.label_shares(TABLE_54).tolist() == pytest.approx([0.4, 0.4, 0.2])


def test_54_all_resamples() -> None:
    draws = itertools.product(range(5), repeat=5)
    tables = [metrics.confusion([GOLD_54[i] for i in d], [READ_54[i] for i in d], TWO) for d in draws]
    values = metrics.weighted_f1(np.array(tables))
    assert (values.size, round(values.mean(), 4), round(values.std(), 4)) == (3125, 0.4277, 0.2340)


@pytest.mark.parametrize(
    ("gold", "read", "weighted"),
    [
        ([Y, Y], [Y, N], 2 / 3),  # 55: a class is missing
        ([Y, N], [N, Y], 0.0),
        ([N, Y, N], [N, Y, Y], 2 / 3),  # 57: against the expected labels
        ([Y, N], [NULL, NULL], 0.0),  # rule 47
        ([], [], np.nan),  # rule 46
    ],
)
def test_55_57_weighted_f1(gold: list[str], read: list[str | None], weighted: float) -> None:
    table = metrics.confusion(gold, read, TWO)
    assert metrics.weighted_f1(table) == pytest.approx(weighted, nan_ok=True)


def test_47_all_nulls() -> None:
    table = metrics.confusion([Y, N], [NULL, NULL], TWO)
    assert metrics.coverage(table) == 0
    assert np.isnan(metrics.answered_f1(table))
    assert np.isnan(metrics.share_of_yes(table))


def test_56_share_of_yes_and_bias() -> None:
    assert metrics.share_of_yes(metrics.confusion([Y, N, Y, N], [Y, Y, NULL, N], TWO)) == pytest.approx(2 / 3)
    assert metrics.bias([2 / 3, 1 / 4]) == pytest.approx(5 / 24)
    assert metrics.signed_bias([2 / 3, 1 / 4]) == pytest.approx(-1 / 24)
    assert np.isnan(metrics.bias([0.5, np.nan]))


def test_14_place_contrasts() -> None:
    orders, shares = ("NN", "NY", "YN", "YY"), [0.2, 0.3, 0.6, 0.9]
    assert metrics.place_contrast(shares, orders, 0) == pytest.approx(0.5)
    assert metrics.place_contrast(shares, orders, -1) == pytest.approx(0.2)
    assert np.isnan(metrics.place_contrast([0.2, 0.3], ("NN", "NY"), 0))


def test_58_refrain() -> None:
    read = ["unknown", "unknown", N, NULL, Y]
    shares = metrics.label_shares(metrics.confusion([Y] * 5, read, THREE))
    assert shares.tolist() == pytest.approx([0.2, 0.2, 0.4, 0.2])


def test_59_consistency() -> None:
    one, other = [Y, Y, N, N, Y, NULL], [Y, N, N, NULL, Y, N]
    table = np.zeros((3, 3), dtype=int)
    for a, b in zip(one, other, strict=True):
        table[[Y, N, NULL].index(a), [Y, N, NULL].index(b)] += 1
    assert metrics.consistency(table) == pytest.approx((3 / 6, 3 / 4))


def test_63_a_judges_share_corrected() -> None:
    assert metrics.corrected_share(0.9, 0.95, 0.8) == pytest.approx(0.7 / 0.75)
    assert np.isnan(metrics.corrected_share(0.9, 0.5, 0.5))
    assert metrics.corrected_share(0.1, 0.95, 0.8) == 0.0


def test_20_relative_change() -> None:
    assert metrics.relative_change(0.599, 0.753) == pytest.approx(-0.2045, abs=5e-5)
    assert metrics.relative_change(0.5, 0.0) is None


answers = st.lists(st.tuples(st.sampled_from(TWO), st.sampled_from([*THREE, None])), min_size=1, max_size=40)


@given(answers)
def test_weighted_f1_is_sklearns(pairs: list[tuple[str, str | None]]) -> None:
    from sklearn.metrics import f1_score

    gold, read = [one for one, _ in pairs], [one for _, one in pairs]
    table = metrics.confusion(gold, read, THREE)
    theirs = f1_score(gold, [one or "null" for one in read], average="weighted", zero_division=0)
    assert metrics.weighted_f1(table) == pytest.approx(theirs)


@given(answers)
def test_66_properties(pairs: list[tuple[str, str | None]]) -> None:
    table = metrics.confusion([a for a, _ in pairs], [b for _, b in pairs], THREE)
    mirrored = [(N if gold == Y else Y, {Y: N, N: Y}.get(read or "", read)) for gold, read in pairs]
    both = metrics.confusion(*zip(*pairs, *mirrored, strict=True), THREE)  # type: ignore[misc]
    assert metrics.weighted_f1(both) == pytest.approx(metrics.macro_f1(both))  # a balanced set
    fewer = table.copy()
    fewer[0, -1] += fewer[0, 0]
    fewer[0, 0] = 0
    assert metrics.weighted_f1(fewer) <= metrics.weighted_f1(table)  # nulls never help
    assert metrics.label_shares(table).sum() == pytest.approx(1)
