"""An empty store, and all that one holds."""

from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store, open_store

TABLES = ("datasets", "instances", "bodies", "papers", "hypothesis_words", "paper_words")


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    """A store of its own that has nothing."""
    return open_store(tmp_path / "store.sqlite")


def content(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that an ingest writes; the indices of words are sound."""
    with store.write() as db:
        for table in ("hypothesis_words", "paper_words"):
            db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    with store.read() as db:
        return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
