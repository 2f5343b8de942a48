"""Figures that were recorded once come back, whatever became of the code."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import real_file
from tests.frozen.figures import compute

FROZEN = Path(__file__).parent
NAMES = sorted(path.name for path in FROZEN.glob("*.csv"))

pytestmark = [pytest.mark.realdata, pytest.mark.model, pytest.mark.slow]


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every table again, from an empty store."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVIDENCEBENCH_STORE", str(folder / "store.sqlite"))
        patch.setenv("EVIDENCEBENCH_CACHE", str(folder / "cache"))
        compute(
            real_file("evidencebench/evidencebench_train_set.json"),
            real_file("evidencebench/hypothesis_variants_train.json"),
            folder / "out",
        )
    return folder / "out"


def test_there_are_the_same_tables(computed: Path) -> None:
    assert sorted(path.name for path in computed.glob("*.csv")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_table_comes_back(computed: Path, name: str) -> None:
    old, new = (pd.read_csv(folder / name, dtype=str, keep_default_na=False) for folder in (FROZEN, computed))
    assert list(new.columns) == list(old.columns)
    assert len(new) == len(old)
    differences = [
        f"row {row}, {column}: was {was}, is {now}"
        for column in old.columns
        for row, (was, now) in enumerate(zip(old[column], new[column], strict=True))
        if not _same(was, now)
    ]
    assert not differences, "\n".join([f"{len(differences)} cells of {name} differ:", *differences[:20]])


def _same(was: str, now: str) -> bool:
    """Equal as text, or as numbers to 9 digits."""
    if was == now:
        return True
    try:
        return math.isclose(float(was), float(now), rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False
