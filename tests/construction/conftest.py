"""A store for every test."""

from pathlib import Path

import pytest

from evidencebench_core.data import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store.sqlite")
