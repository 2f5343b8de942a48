"""Saved filters: kept by name beside their dataset, renamed, deleted."""

from __future__ import annotations

import pytest

from evidencebench_core.data.removal import dataset_dependents, delete_dataset, rename_dataset
from evidencebench_core.data.saved import SavedFilters
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, UnknownNameError


def test_filters_are_saved_renamed_and_deleted(store: Store) -> None:
    saved = SavedFilters(store, "tiny")
    assert saved.save(" hard\nones ", {"q": "tea"}) == "hard ones"
    saved.save("a", {"if": "[]"})
    saved.save("a", {"if": '[["slice","é","b"]]'})  # the newer one
    assert saved.all() == {"a": {"if": '[["slice","é","b"]]'}, "hard ones": {"q": "tea"}}
    assert list(saved.all()) == ["a", "hard ones"]
    assert saved.rename("a", "z") == "z"
    with pytest.raises(SettingError, match="is there already"):
        saved.rename("z", "hard ones")
    saved.delete("hard ones")
    with pytest.raises(UnknownNameError, match="There are: z"):
        saved.get("hard ones")


def test_they_stay_with_their_dataset_and_go_with_it(store: Store) -> None:
    SavedFilters(store, "tiny").save("a", {"q": "tea"})
    rename_dataset(store, "tiny", "other")
    assert SavedFilters(store, "other").get("a") == {"q": "tea"}
    with pytest.raises(UnknownNameError):
        SavedFilters(store, "tiny").all()
    assert dataset_dependents(store, "other")["saved filter"] == 1
    delete_dataset(store, "other")
    with store.read() as db:
        assert db.execute("SELECT count(*) FROM saved_filters").fetchone()[0] == 0


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [(" ", "", "is blank"), ("x" * 101, "", "101 characters"), ("x", "x" * 20_001, "conditions away")],
)
def test_what_cannot_be_saved(store: Store, name: str, value: str, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        SavedFilters(store, "tiny").save(name, {"q": value})
    assert SavedFilters(store, "tiny").all() == {}
