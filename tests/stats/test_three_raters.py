"""Two teams and a model: examples 100 and 101, and the test on simulated raters."""

import numpy as np
import pytest

from evidencebench_core.errors import SettingError
from evidencebench_core.stats.raters import MEASURES
from evidencebench_core.stats.three_raters import agreement_gaps, eight_cells

CELLS = [13, 1, 0, 1, 1, 0, 1, 3]  # 000 001 010 011 100 101 110 111


def labels(cells: list[int]) -> list[list[int]]:
    return [[pattern >> bit & 1 for pattern, n in enumerate(cells) for _ in range(n)] for bit in (2, 1, 0)]


def test_by_hand() -> None:
    table = eight_cells(*labels(CELLS))
    assert table.tolist() == [CELLS]
    f1 = agreement_gaps(table, np.random.default_rng(0), 2_000)["binary F1"]
    assert (f1.humans, f1.model, f1.gap) == pytest.approx((0.8, 0.7, 0.1))
    assert f1.plain is not None
    assert f1.plain[0] < 0.1 < f1.plain[1]
    assert f1.hierarchical is None  # one group
    assert f1.is_equivalent(0.05) is False
    assert f1.is_equivalent(2) is True


@pytest.mark.parametrize(
    ("cells", "expected"),
    [((94, 48, 49, 7920), (0.9880, 0.6596, 0.6536, 0.6536)), ((3, 1, 2, 14), (0.850, 0.667, 0.571, 0.577))],
)
def test_cells_of_rule_100(cells: tuple[int, ...], expected: tuple[float, ...]) -> None:
    assert [float(measure(cells)) for measure in MEASURES.values()] == pytest.approx(expected, abs=5e-4)


def test_the_same_rater_thrice_has_no_gap_and_a_bad_one_a_significant_one() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(4_000) < 0.1
    papers = np.repeat(np.arange(40), 100)

    def rater(errors: float) -> np.ndarray:
        return truth ^ (rng.random(truth.size) < errors)

    alike = agreement_gaps(eight_cells(truth, truth, truth, papers), rng, 500)["Cohen's kappa"]
    assert (alike.gap, alike.p_plain, alike.hierarchical) == (0.0, 1.0, (0.0, 0.0))
    good = agreement_gaps(eight_cells(rater(0.02), rater(0.02), rater(0.02), papers), rng, 500)[
        "Cohen's kappa"
    ]
    assert good.p_hierarchical is not None
    assert good.p_hierarchical > 0.01
    bad = agreement_gaps(eight_cells(rater(0.02), rater(0.02), rater(0.2), papers), rng, 500)["Cohen's kappa"]
    assert (bad.p_plain, bad.p_hierarchical) == pytest.approx((1 / 501, 1 / 501))


def test_labels_are_yes_or_no_of_the_same_things() -> None:
    with pytest.raises(SettingError, match="same things"):
        eight_cells([1], [1, 0], [1])
    with pytest.raises(SettingError, match="yes and no"):
        eight_cells([2], [1], [1])
