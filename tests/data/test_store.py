"""What comes out of the store is what was in the file; writes are whole; names are known or refused; nothing stays."""

import sqlite3
from pathlib import Path

import pytest

from evidencebench_core.data.formats import instance_from
from evidencebench_core.data.ingestion import add_instance, ingest
from evidencebench_core.data.model import paper_key
from evidencebench_core.data.store import MARKED_BY_HAND, InstanceRow, Store, open_store
from evidencebench_core.data.upkeep import delete_dataset, rename_dataset
from evidencebench_core.errors import InstanceError, StoreError, UnknownNameError
from tests.data.conftest import content
from tests.factories import raw_instance, tiny_dataset, written


def test_order_in_the_file_and_order_asked_for(store: Store) -> None:
    gold = {name: instance_from(name, raw).evidence for name, raw in tiny_dataset().items()}
    some = list(store.evidence_sets("tiny", ["tiny_4", "tiny_1", "tiny_4"]))
    assert some == [("tiny_1", gold["tiny_1"]), ("tiny_4", gold["tiny_4"])]
    names = tuple(tiny_dataset())
    assert store.ids("tiny") == names
    assert store.ids("tiny", 2) == names[:2]
    assert store.ids("tiny", 0) == ()
    assert [instance.id for instance in store.iter("tiny", 3)] == list(names[:3])
    asked = ("tiny_5", "tiny_0", "tiny_5")
    assert [instance.id for instance in store.get_many("tiny", asked)] == list(asked)
    assert [row.id for row in store.rows("tiny", asked)] == list(asked)
    assert list(store.evidence_sets("tiny", [])) == list(store.get_many("tiny", ())) == []
    info = store.dataset("tiny")
    assert store.dataset(info) is info
    assert list(store.evidence_sets(info)) == list(gold.items())
    assert store.get(info, "tiny_3") == instance_from("tiny_3", tiny_dataset()["tiny_3"])


def test_rows(empty: Store, tmp_path: Path) -> None:
    aspects = {"a": [3], "b": [10, 14], "c": [12, 15], "d": [11]}
    dataset = {"one": raw_instance(25, aspects, ("b", "d")), "two": raw_instance(2, {"a": [1]})}
    ingest(empty, written(dataset, tmp_path / "rows.json"))
    two, one = empty.rows("rows", ("two", "one"))
    assert two == InstanceRow("two", "Drinking tea lowers blood pressure.", "paper_0", 2, 1, 0, 1, None, 1)
    assert one == InstanceRow("one", "Drinking tea lowers blood pressure.", "paper_0", 25, 4, 2, 4, 2, 0)
    (info,) = empty.datasets()
    assert (info.name, info.n_instances, info.n_result_instances, info.synthetic) == ("rows", 2, 1, False)
    instance = empty.get(info, "one")
    assert empty.paper_keys(info)["one"] == paper_key(instance.sentences, instance.sentence_types)
    assert len(set(empty.paper_keys("rows").values())) == 2
    assert info.n_papers == 1  # distinct paper ids, whatever their text
    assert info.source == str(tmp_path / "rows.json")
    assert info.ingested_at.endswith("+00:00")


def test_unknown_names(store: Store) -> None:
    with pytest.raises(UnknownNameError, match=r"'tinny' is not in .* you mean 'tiny'.* There are: tiny"):
        store.dataset("tinny")
    with pytest.raises(UnknownNameError, match=r"'tiny_7' is not in dataset 'tiny'. Did you mean 'tiny_"):
        store.get("tiny", "tiny_7")
    for ask in (
        lambda: list(store.get_many("tiny", ["tiny_0", "x"])),
        lambda: list(store.evidence_sets("tiny", ["x"])),
        lambda: store.ids("x"),
        lambda: store.matching("x"),
    ):
        with pytest.raises(UnknownNameError):
            ask()


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_STORE", str(tmp_path / "from_environment"))
    assert open_store().path == tmp_path / "from_environment"
    assert open_store("x/y").path == Path("x/y")
    monkeypatch.setenv("EVIDENCEBENCH_STORE", "")
    assert open_store().path.name == "store.sqlite"


INSERT = "INSERT INTO runs (id, dataset_id, kind, subject, settings, created_at, versions) VALUES (?,?,'','','','','')"


def n_runs(store: Store) -> int:
    with open_store(store.path).read() as db:
        return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])


def test_a_write_is_all_or_nothing(store: Store) -> None:
    with store.write() as db:
        db.execute(INSERT, ("kept", 1))
        assert n_runs(store) == 0  # nobody else sees it yet
    assert n_runs(store) == 1
    with pytest.raises(KeyboardInterrupt), store.write() as db:  # noqa: PT012 - in the middle of a write
        db.execute(INSERT, ("lost", 1))
        raise KeyboardInterrupt
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), store.write() as db:
        db.execute(INSERT, ("of no dataset", 99))
    assert n_runs(store) == 1


ZEBRAS = raw_instance(["# Zebras", "> Zebras graze.", "They sleep."], {"a": [1]}, hypothesis="Zebras eat.")
TEA = raw_instance(["# Tea", "> Tea was drunk.", "They slept."], {"a": [1]}, hypothesis="Tea calms.")
OTHER = {"mine": ZEBRAS, "shared": {**tiny_dataset()["tiny_0"], "hypothesis": "Another question."}}


def test_a_deleted_dataset_leaves_nothing_behind_and_the_others_whole(store: Store, tmp_path: Path) -> None:
    before = content(store)
    ingest(store, written(OTHER, tmp_path / "other.json"))
    assert store.matching("other", "zebras", "graze") == ("mine",)
    delete_dataset(store, "other")
    assert content(store) == before
    with pytest.raises(UnknownNameError):
        delete_dataset(store, "other")
    # Rows get the numbers of those that are gone: their words must be gone too.
    ingest(store, written({"new": TEA}, tmp_path / "again.json"))
    assert store.matching("again", "zebras") == store.matching("again", sentences="zebras") == ()
    assert store.matching("again", "calms", "drunk") == ("new",)
    for name in ("again", "tiny"):
        delete_dataset(store, name)
    assert not any(content(store).values())


def test_a_renamed_dataset_is_the_same(store: Store, tmp_path: Path) -> None:
    ingest(store, written(OTHER, tmp_path / "other.json"))
    info = store.dataset("tiny")
    for name, problem in ((" ", "blank"), ("other", "already")):
        with pytest.raises(StoreError, match=problem):
            rename_dataset(store, "tiny", name)
    renamed = rename_dataset(store, "tiny", "my own")
    assert (renamed.id, renamed.sha256, store.ids("my own")) == (info.id, info.sha256, tuple(tiny_dataset()))
    assert rename_dataset(store, "my own", "my own") == renamed
    with pytest.raises(UnknownNameError, match="my own"):
        store.dataset("tiny")


def test_one_that_is_marked_by_hand_grows_and_stays_the_same_dataset(store: Store) -> None:
    before = content(store)
    first = add_instance(store, "mine", instance_from("z", ZEBRAS))
    assert (first.n_instances, first.n_papers, first.n_result_instances) == (1, 1, 0)
    assert (first.source, first.synthetic) == (MARKED_BY_HAND, False)
    # The same paper as in the other dataset, and gold that is read at once.
    second = add_instance(store, "mine", instance_from("t", tiny_dataset()["tiny_1"]))
    assert (second.id, second.sha256, second.n_instances) == (first.id, first.sha256, 2)
    assert second.stamp != first.stamp
    assert store.paper_ids("mine").keys() == {"z", "t"}
    assert store.get("mine", "t") == instance_from("t", tiny_dataset()["tiny_1"])
    for error, name in ((InstanceError, "mine"), (StoreError, "tiny")):  # "z" is there; came from a file
        with pytest.raises(error):
            add_instance(store, name, instance_from("z", ZEBRAS))
    delete_dataset(store, "mine")
    assert content(store) == before
