import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evidencebench_core.errors import SettingError
from evidencebench_core.stats import kendall_tau, overlap, rank_biased_overlap

_RANKINGS = st.lists(st.integers(0, 12), unique=True, max_size=10)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [((1, 2, 3), (3, 4), 1 / 3), ((1, 2), (2, 1), 1.0), ((1,), (2,), 0.0), ((), (2,), 0.0), ((), (), None)],
)
def test_overlap_is_the_share_of_the_longer_selection(
    a: tuple[int, ...], b: tuple[int, ...], share: float | None
) -> None:
    assert overlap(a, b) == share


def test_tau_by_hand() -> None:
    # Pairs ab ac ad bc bd cd; against b a c d only ab is reversed: (5 - 1) / 6.
    assert kendall_tau("abcd", "bacd") == pytest.approx(4 / 6)
    assert (kendall_tau("abcd", "dcba"), kendall_tau("abcd", "abcd")) == (-1.0, 1.0)
    # Heads of 2: a b and d a, so a b d are compared. Ranks 0 1 3 in the first, 1 3 0 in the second:
    # ab agrees, ad and bd do not: (1 - 2) / 3.
    assert kendall_tau("abcd", "dacb", depth=2) == pytest.approx(-1 / 3)
    # a b against c d: ranks a b c d are 0 1 2 2 and 2 2 0 1. Of 6 pairs ab is tied in the second, cd in
    # the first, the other 4 are reversed: -4 / sqrt(5 * 5).
    assert kendall_tau("ab", "cd") == pytest.approx(-4 / 5)
    # Without a pair it is undefined; the last is all tied behind the end of nothing.
    assert kendall_tau("a", "a") is kendall_tau("", "") is kendall_tau("ab", "") is None


@given(_RANKINGS, _RANKINGS, st.integers(1, 10))
def test_tau_is_that_of_scipy(a: list[int], b: list[int], depth: int) -> None:
    things = sorted({*a[:depth], *b[:depth]})
    ours = kendall_tau(a, b, depth)
    ranks = [[ranking.index(x) if x in ranking else len(ranking) for x in things] for ranking in (a, b)]
    if len(things) < 2 or any(len(set(rank)) < 2 for rank in ranks):
        assert ours is None
    else:
        assert ours == pytest.approx(stats.kendalltau(*ranks).statistic, abs=1e-12)


def test_rbo_by_hand() -> None:
    # p = 0.5; agreement at depths 1, 2, 3 of abc and bac: 0, 1, 1.
    # (1 - p)/p = 1 times (0 + 1/4 + 1/8), and beyond depth 3: 1 * 1/8: together 1/2.
    assert rank_biased_overlap("abc", "bac", p=0.5) == pytest.approx(0.5)
    # ab (s = 2) against abc (l = 3): overlaps X = 1, 2, 2.
    # Sum 1/2 + 1/4 + (2/3)/8, and 2 * (3 - 2) / (2 * 3) / 8 = (1/3)/8 more: 7/8; beyond: (0/3 + 2/2)/8.
    assert rank_biased_overlap("ab", "abc", p=0.5) == pytest.approx(1.0)
    # ab against cab: X = 0, 1, 2 (c a against a b at depth 2: a). 0 + (1/2)/4 + (2/3)/8
    # + 1 * (3 - 2) / (2 * 3) / 8, and beyond ((2 - 1)/3 + 1/2)/8.
    expected = 1 / 8 + 2 / 24 + 1 / 48 + (1 / 3 + 1 / 2) / 8
    assert rank_biased_overlap("ab", "cab", p=0.5) == pytest.approx(expected)
    assert rank_biased_overlap("abcd", "abcd") == pytest.approx(1.0)
    assert (rank_biased_overlap("ab", "cd"), rank_biased_overlap("", "ab")) == (0.0, None)
    with pytest.raises(SettingError):
        rank_biased_overlap("a", "a", p=1.0)


@given(_RANKINGS, _RANKINGS, st.integers(1, 10), st.floats(0.05, 0.95))
def test_rbo_is_symmetric_and_a_share(a: list[int], b: list[int], depth: int, p: float) -> None:
    value, mirrored = rank_biased_overlap(a, b, depth, p), rank_biased_overlap(b, a, depth, p)
    assert (value is None) == (mirrored is None) == (not a or not b)
    if value is not None and mirrored is not None:
        assert value == pytest.approx(mirrored)
        assert -1e-9 <= value <= 1 + 1e-9
