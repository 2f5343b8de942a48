"""Item sets that the tests of this room share."""

from __future__ import annotations

import pytest

from evidencebench_core.reliability.items import ItemSet, new_item_set
from evidencebench_core.reliability.read_items import read_items
from tests.conftest import real_file


@pytest.fixture(scope="session")
def pubmedqa() -> ItemSet:
    """PubMedQA-L, all 1,000."""
    kind, items = read_items(real_file("pubmedqa/ori_pqal.json"))
    return new_item_set("pubmedqa", items, kind)
