"""A small store with a dataset called ``tiny``."""

from pathlib import Path

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from tests.factories import tiny_dataset, written


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    """A store of its own that has nothing."""
    return open_store(tmp_path / "store.sqlite")


@pytest.fixture
def store(empty: Store, tmp_path: Path) -> Store:
    """The same with the six instances of ``tiny_dataset``."""
    ingest(empty, written(tiny_dataset(), tmp_path / "tiny.json"))
    return empty
