"""Figures that were recorded once come back, whatever became of the code."""

from pathlib import Path

import pandas as pd
import pytest

from tests.frozen.figures import compute

FROZEN = Path(__file__).parent
NAMES = sorted(path.name for path in FROZEN.glob("*.csv"))

# The last digits of embeddings are the processor's: they decide ties, of 2,880 selections in one or two.
NEAR_TIES = ["dense", "hybrid", "structure"]
COSINES = "missed-all"  # the tables with cosines of dense

pytestmark = [pytest.mark.realdata, pytest.mark.model, pytest.mark.slow]


def test_every_table_comes_back(tmp_path: Path) -> None:
    """One test, so that no second worker computes everything again."""
    compute(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == NAMES
    for name in NAMES:
        old, new = (pd.read_csv(folder / name) for folder in (FROZEN, tmp_path))
        if name == "selections.csv":
            assert (old[NEAR_TIES] != new[NEAR_TIES]).to_numpy().sum() <= 4
            old, new = old.drop(columns=NEAR_TIES), new.drop(columns=NEAR_TIES)
        decimals = 4 if name.startswith(COSINES) else 12
        pd.testing.assert_frame_equal(new, old, rtol=1e-9, atol=10.0**-decimals, obj=name)
