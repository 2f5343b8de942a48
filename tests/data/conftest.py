"""A small store with a dataset called ``tiny``."""

from pathlib import Path

import pytest

from evidencebench_core.data.store import Store, open_store
from tests.factories import store_with, tiny_dataset


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    """A store of its own that has nothing."""
    return open_store(tmp_path / "store.sqlite")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The same with the six instances of ``tiny_dataset``."""
    return store_with(tiny_dataset(), tmp_path)
