"""Two raters' agreement: by hand, against scikit-learn and SciPy, and the resamples against a slow twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import rater_agreement
from evidencebench_core.stats.raters import (
    MEASURES,
    binary_f1,
    cohen_kappa,
    cross_table,
    exact_accuracy,
    spearman,
)

A = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
B = [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_by_hand() -> None:
    # Both 2, only A 1, only B 1, neither 6. Accuracy 8/10. F1 = 4/(4+1+1). By chance
    # (3*3 + 7*7)/100 = 0.58: kappa = (0.8 - 0.58)/(1 - 0.58). phi = (2*6 - 1*1)/sqrt(3*3*7*7) = 11/21.
    counts = cross_table(A, B)
    assert counts.tolist() == [2, 1, 1, 6]
    measured = [measure(counts) for measure in (exact_accuracy, binary_f1, cohen_kappa, spearman)]
    assert measured == pytest.approx([0.8, 2 / 3, 11 / 21, 11 / 21])
    assert cross_table(A, B, list("pppppqqqqq")).tolist() == [[2, 1, 1, 1], [0, 0, 0, 5]]
    assert cross_table([], [], []).tolist() == []


two_raters = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)


@given(two_raters)
def test_as_scikit_learn_and_scipy_have_it(pairs: list[tuple[bool, bool]]) -> None:
    a, b = np.array(pairs).T
    counts = cross_table(a, b)
    assert exact_accuracy(counts) == pytest.approx(accuracy_score(a, b))
    if (a | b).any():
        assert binary_f1(counts) == pytest.approx(f1_score(a, b))
    if (a | b).any() and not (a & b).all():
        assert cohen_kappa(counts) == pytest.approx(cohen_kappa_score(a, b))
    if a.any() and b.any() and not a.all() and not b.all():
        assert spearman(counts) == pytest.approx(spearmanr(a, b).statistic)


@pytest.mark.parametrize(
    ("a", "b", "undefined"),
    [
        ([0, 0, 0], [0, 0, 0], {"binary F1", "Cohen's kappa", "Spearman's rho"}),  # nobody said yes
        ([1, 1], [1, 1], {"Cohen's kappa", "Spearman's rho"}),  # nobody said no
        ([1, 1, 1], [1, 0, 1], {"Spearman's rho"}),  # one said the same throughout: kappa is 0
        ([], [], set(MEASURES)),
    ],
)
def test_what_is_undefined_is_none(a: list[int], b: list[int], undefined: set[str]) -> None:
    found = rater_agreement(a, b, range(len(a)), rng(), 100)
    assert {name for name, one in found.items() if one.value is None} == undefined
    assert all(found[name].plain is None and found[name].hierarchical is None for name in undefined)


def test_one_judgement_or_one_group_has_no_interval() -> None:
    one = rater_agreement([1], [1], ["p"], rng(), 100)["exact accuracy"]
    assert (one.value, one.plain, one.hierarchical) == (1.0, None, None)
    grouped = rater_agreement(A, B, ["p"] * 10, rng(), 500)["exact accuracy"]
    assert grouped.plain is not None
    assert grouped.hierarchical is None


def test_the_plain_interval_of_accuracy_is_that_of_a_share() -> None:
    # 900 of 1000 agree: 0.9 +- 1.96 * sqrt(0.9 * 0.1 / 1000) = 0.9 +- 0.0186.
    b = np.r_[np.ones(100), np.zeros(900)]
    found = rater_agreement(np.zeros(1000), b, range(1000), rng(), 20_000)["exact accuracy"]
    assert found.plain == pytest.approx((0.9 - 0.0186, 0.9 + 0.0186), abs=0.001)


def test_the_hierarchical_interval_is_that_of_drawing_groups_and_then_judgements() -> None:
    """A slow twin that draws indices, on groups of unequal size and agreement."""
    draws = np.random.default_rng(1)
    sizes = (5, 30, 12, 60, 20)
    groups = np.repeat(np.arange(5), sizes)
    a = draws.random(groups.size) < 0.3
    b = np.where(draws.random(groups.size) < 0.1 + 0.15 * groups, ~a, a)
    members = [np.flatnonzero(groups == group) for group in range(5)]
    slow: dict[str, list[float]] = {name: [] for name in MEASURES}
    for _ in range(4000):
        drawn = np.concatenate([draws.choice(members[g], members[g].size) for g in draws.integers(0, 5, 5)])
        counts = cross_table(a[drawn], b[drawn])
        for name, measure in MEASURES.items():
            slow[name].append(float(measure(counts)))
    for name, found in rater_agreement(a, b, groups, rng(), 20_000).items():
        assert found.hierarchical == pytest.approx(np.nanquantile(slow[name], [0.025, 0.975]), abs=0.02)
        assert found.plain is not None
        assert found.hierarchical[1] - found.hierarchical[0] > found.plain[1] - found.plain[0]


def test_resamples_without_a_yes_are_left_out_and_counted() -> None:
    # One yes by both among 20: a resample has none of it with probability 0.95**20 = 0.358.
    a = [1] + [0] * 19
    found = rater_agreement(a, a, range(20), rng(), 20_000)
    assert found["binary F1"].plain == (1.0, 1.0)
    assert found["binary F1"].plain_undefined == pytest.approx(0.95**20, abs=0.01)
    assert found["exact accuracy"].plain_undefined == 0.0


@pytest.mark.parametrize(
    ("a", "b", "settings", "said"),
    [
        ([1, 0], [1], {}, "2 of the first rater and 1 of the second"),
        ([1, 2], [1, 0], {}, "other than yes and no"),
        ([math.nan], [1], {}, "other than yes and no"),
        ([[1]], [[1]], {}, "shape"),
        ([1], [1], {"n_resamples": 0}, "n_resamples"),
    ],
)
def test_what_cannot_be_compared_is_refused(a: list, b: list, settings: dict, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        rater_agreement(a, b, range(len(a)), rng(), **settings)
