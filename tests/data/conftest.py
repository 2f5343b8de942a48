"""A small store with a dataset called ``tiny``."""

from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store, open_store
from tests.factories import store_with, tiny_dataset

TABLES = ("datasets", "instances", "bodies", "papers", "hypothesis_words", "paper_words")


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    """A store of its own that has nothing."""
    return open_store(tmp_path / "store.sqlite")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The same with the six instances of ``tiny_dataset``."""
    return store_with(tiny_dataset(), tmp_path)


def content(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that an ingest writes; the indices of words are sound."""
    with store.write() as db:
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    with store.read() as db:
        return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
