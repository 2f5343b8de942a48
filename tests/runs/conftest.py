"""A small store with a dataset called ``tiny``."""

from pathlib import Path

import pytest

from evidencebench_core.data.store import Store
from tests.factories import store_with, tiny_dataset


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store of its own, with the six instances of ``tiny_dataset``."""
    return store_with(tiny_dataset(), tmp_path)
