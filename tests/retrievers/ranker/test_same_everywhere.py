"""The same numbers in a model file, whatever the linear algebra runs on."""

import numpy as np
import pytest

from evidencebench_core.retrievers.ranker.training import _rounded


@pytest.mark.parametrize("largest", [1e-9, 0.37, 4.0, 12345.0])
def test_rounding_leaves_no_noise_and_moves_little(largest: float) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(-largest, largest, 1000)
    noisy = values + rng.normal(size=1000) * largest * 1e-13
    assert (_rounded(values) == _rounded(noisy)).all()
    assert np.abs(_rounded(values) - values).max() <= largest * 2**-16
    assert not _rounded(np.zeros(3)).any()
