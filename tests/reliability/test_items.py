"""Item sets and the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.data.backup import backup
from evidencebench_core.data.repair import faults, repair
from evidencebench_core.errors import DamageError, DataError, StoreError, UnknownNameError
from evidencebench_core.perturb import Draft
from evidencebench_core.reliability.drafts import ItemDrafts
from evidencebench_core.reliability.items import (
    Item,
    add_items,
    delete_item_set,
    item_set,
    item_set_dependents,
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
    assert faults(store) == []


@pytest.mark.parametrize("items", [(), (ITEMS[0], ITEMS[0]), (Item("a", "\ud83d"),)])
def test_items_that_are_no_set_are_refused(items: tuple[Item, ...], tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    with pytest.raises(DataError, match=r"has no items|has the id 'a' more than once|surrogate"):
        add_items(store, "tea", items)
    assert item_sets(store) == ()


def test_damage_is_an_error_and_the_rest_is_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.sqlite")
    add_items(store, "tea", ITEMS)
    add_items(store, "less tea", ITEMS[:2])
    for name in ("tea", "less tea"):
        ItemDrafts(store, name).add([Draft("a", "paraphrase:m", ITEMS[0].question, "Is tea of help?")])
    assert item_set_dependents(store, "tea") == {"draft": 1}
    store.close()
    backup(store, tmp_path / "copy.sqlite")
    assert item_set(open_store(tmp_path / "copy.sqlite"), "less tea").items == ITEMS[:2]
    db = sqlite3.connect(store.path)
    db.create_function("checksum", -1, lambda *_: 0)
    db.execute("PRAGMA trusted_schema = ON")
    db.execute("DROP TRIGGER checksum_item_sets_update")
    db.execute("UPDATE item_sets SET source = 'elsewhere' WHERE name = 'tea'")
    db.commit()
    db.close()
    with pytest.raises(DamageError):
        item_sets(open_store(store.path))
    told = repair(store, tmp_path / "new.sqlite")
    assert "a lost item set: 1 row of item drafts left out with what is lost" in told
    new = open_store(tmp_path / "new.sqlite")
    assert faults(new) == []
    assert [info.name for info in item_sets(new)] == ["less tea"]
    assert len(ItemDrafts(new, "less tea").drafts()) == 1
