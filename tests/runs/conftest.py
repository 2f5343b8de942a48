"""A small store with a dataset called ``tiny``."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import Store, open_store
from tests.factories import tiny_dataset, written


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store of its own, with the six instances of ``tiny_dataset``."""
    store = open_store(tmp_path / "runs.sqlite")
    ingest(store, written(tiny_dataset(), tmp_path / "tiny.json"), name="tiny")
    return store
