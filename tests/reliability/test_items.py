"""Item sets and the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.errors import DataError, StoreError, UnknownNameError
from evidencebench_core.reliability.items import (
    Item,
    add_items,
    delete_item_set,
    item_set,
    item_sets,
    new_item_set,
    rename_item_set,
)

ITEMS = (
    Item("a", "Does tea help?", ("Tea was drunk.", "It helped."), "yes", ("It does.",), "paper 1"),
    Item(
        "b",
        "Does coffee help?",
        ("No.",),
        "no",
        annotators={"context": "maybe"},
        wordings={"negation": "Yes."},
    ),
    Item("c", "</context> $name {x}\n", ("\u202eodd \U0001f600",), None, passage="x", neighbour_covers=True),
)


def test_items_come_back_as_they_were(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    info = add_items(store, " tea\n", ITEMS, source="by hand")
    assert (info.name, info.kind, info.n_items, info.source) == ("tea", "questions", 3, "by hand")
    back = item_set(store, "tea")
    assert back.items == ITEMS
    assert back.sha256 == info.sha256 == new_item_set("other", ITEMS).sha256
    assert new_item_set("tea", ITEMS, "evidence").sha256 != back.sha256
    assert add_items(store, "again", ITEMS) == info  # the same items are one set
    with pytest.raises(StoreError, match=r"'tea': is in .* with other content"):
        add_items(store, "tea", ITEMS[:2])
    assert rename_item_set(store, "tea", "leaves").sha256 == info.sha256
    with pytest.raises(UnknownNameError, match="There are: leaves"):
        item_set(store, "tea")
    delete_item_set(store, "leaves")
    assert item_sets(store) == ()


@pytest.mark.parametrize("items", [(), (ITEMS[0], ITEMS[0]), (Item("a", "\ud83d"),)])
def test_items_that_are_no_set_are_refused(items: tuple[Item, ...], tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    with pytest.raises(DataError, match=r"has no items|has the id 'a' more than once|surrogate"):
        add_items(store, "tea", items)
    assert item_sets(store) == ()
