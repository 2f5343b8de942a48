"""Figures that were recorded once come back, whatever became of the code."""

import math
from pathlib import Path

import pandas as pd
import pytest

from tests.frozen.figures import compute

FROZEN = Path(__file__).parent
NAMES = sorted(path.name for path in FROZEN.glob("*.csv"))

# The last digits of embeddings are the processor's: they decide ties, of 2,880 selections in one or two.
NEAR_TIES = tuple(f"selections.csv, {name}" for name in ("dense", "hybrid", "structure"))

pytestmark = [pytest.mark.realdata, pytest.mark.model, pytest.mark.slow]


def test_every_table_comes_back(tmp_path: Path) -> None:
    """One test, so that no second worker computes everything again."""
    compute(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.csv")) == NAMES
    differences = [line for name in NAMES for line in _differences(name, tmp_path / "out")]
    near_ties = [line for line in differences if line.startswith(NEAR_TIES)]
    assert len(differences) == len(near_ties) <= 4, "\n".join(
        [f"{len(differences)} differ:", *differences[:40]]
    )


def _differences(name: str, folder: Path) -> list[str]:
    """Each cell of a table that is not what it was, in a line."""
    old, new = (pd.read_csv(path / name, dtype=str, keep_default_na=False) for path in (FROZEN, folder))
    if list(new.columns) != list(old.columns) or len(new) != len(old):
        return [f"{name}: was {old.shape}, is {new.shape}, columns {list(new.columns)}"]
    return [
        f"{name}, {column}, row {row}: was {was}, is {now}"
        for column in old.columns
        for row, (was, now) in enumerate(zip(old[column], new[column], strict=True))
        if not _same(was, now, digits=4 if name.startswith("missed-all") else 12)  # cosines of dense
    ]


def _same(was: str, now: str, digits: int) -> bool:
    """Equal as text, or as numbers to 9 significant digits or so many decimals."""
    if was == now:
        return True
    try:
        return math.isclose(float(was), float(now), rel_tol=1e-9, abs_tol=10.0**-digits)
    except ValueError:
        return False
