"""All of a file or nothing, once; a kill leaves nothing for long."""

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from evidencebench_core.data import connection
from evidencebench_core.data.formats import instance_from
from evidencebench_core.data.ingestion import IngestResult, add_instance, ingest
from evidencebench_core.data.primitives import digest
from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import DataError, InstanceError, StoreError
from tests.data.conftest import content
from tests.factories import raw_dataset, written


def test_the_same_content_twice_is_a_no_op_that_says_so(store: Store, tmp_path: Path) -> None:
    before = content(store)
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "tiny.json").read_bytes()))
    for path, name in ((tmp_path / "tiny.json", None), (packed, "another name")):
        again = ingest(store, path, name)
        assert (again.added, again.dataset) == (False, store.dataset("tiny"))
    assert content(store) == before


def test_names(store: Store, tmp_path: Path) -> None:
    before = content(store)
    other = written(raw_dataset(3), tmp_path / "other.json")
    with pytest.raises(StoreError, match=r"'tiny' is in .* with other content. Choose a name with --name"):
        ingest(store, other, "tiny")
    for name in ("", " "):
        with pytest.raises(StoreError, match="is blank"):
            ingest(store, other, name)
    assert content(store) == before
    assert ingest(store, other).added
    assert [info.name for info in store.datasets()] == ["tiny", "other"]
    assert ingest(store, written(raw_dataset(4), tmp_path / "v1.2.JSON")).dataset.name == "v1.2"


def test_progress_is_told_and_nobody_is_blocked(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_WAIT", 0.05)
    other, told = open_store(store.path), list[tuple[int, ...]]()

    def look(*numbers: int) -> None:
        told.append(numbers)
        assert [info.name for info in store.datasets()] == ["tiny"]
        assert store.get("tiny", "tiny_0").id == "tiny_0"
        with other.write() as db:  # another writer gets in
            db.execute("UPDATE datasets SET source = source")
        if len(told) == 3:
            raise InterruptedError

    before, path = content(store), written(raw_dataset(200), tmp_path / "many.json")
    with pytest.raises(InterruptedError):
        ingest(store, path, progress=look)
    assert content(store) == before
    ingest(store, path, progress=look)
    size = path.stat().st_size
    assert [n for _, _, n in told] == [0, 64, 128, 0, 64, 128, 192, 200]
    assert all(0 <= done <= total == size for done, total, _ in told)
    assert told[-1][0] == size
    assert len(store.ids("many")) == 200


@pytest.mark.parametrize("names", [("one", "two"), ("one", "one")])
def test_two_of_the_same_file_at_once(empty: Store, tmp_path: Path, names: tuple[str, str]) -> None:
    path, stores = written(raw_dataset(200), tmp_path / "many.json"), (empty, open_store(empty.path))
    both = Barrier(2, timeout=30)

    def bring(number: int) -> IngestResult:
        first = iter((True,))

        def meet(*_: int) -> None:
            if next(first, False):
                both.wait()

        return ingest(stores[number], path, names[number], meet)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(bring, (0, 1)))
    assert sorted(result.added for result in results) == [False, True]
    assert len({result.dataset for result in results}) == 1
    rows = content(empty)
    assert len(rows["datasets"]) == 1
    assert len(rows["instances"]) == len(rows["hypothesis_words"]) == 200


# Tells of every batch, then waits for a line.
VICTIM = """
import sys
from pathlib import Path
from evidencebench_core.data import ingest, open_store
def report(*numbers):
    print(*numbers, flush=True)
    sys.stdin.readline()
ingest(open_store(sys.argv[1]), Path(sys.argv[2]), progress=report)
"""


def test_what_a_killed_ingest_left_is_removed_by_the_next(store: Store, tmp_path: Path) -> None:
    path = written(raw_dataset(64 * 5), tmp_path / "many.json")
    command = [sys.executable, "-c", VICTIM, str(store.path), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdin is not None
        assert victim.stdout is not None
        for _ in range(3):
            assert victim.stdout.readline()
            victim.stdin.write("\n")
            victim.stdin.flush()
        assert victim.stdout.readline()
        victim.kill()
    assert [info.name for info in store.datasets()] == ["tiny"]
    assert len(content(store)["datasets"]) == 2
    assert ingest(store, path).added
    rows = content(store)
    assert (len(rows["datasets"]), len(rows["instances"])) == (2, 326)


def test_a_file_that_changes_while_it_is_read(store: Store, tmp_path: Path) -> None:
    path, before = written(raw_dataset(3), tmp_path / "many.json"), content(store)
    others = iter([raw_dataset(4)])

    def replace_file(*_: int) -> None:  # after it was hashed
        for other in others:
            written(other, path)

    with pytest.raises(DataError, match="changed"):
        ingest(store, path, progress=replace_file)
    assert content(store) == before


def test_a_process_with_the_id_of_a_killed_one_keeps_nothing(store: Store, tmp_path: Path) -> None:
    with store.write() as db:
        values = ("rest", "0" * 64, "x", f"{os.getpid()} 1")  # of this id, and begun long ago
        db.execute("INSERT INTO datasets (name, sha256, source, process) VALUES (?, ?, ?, ?)", values)
    ingest(store, written(raw_dataset(2), tmp_path / "two.json"))
    assert [row[1] for row in content(store)["datasets"]] == ["tiny", "two"]


def test_of_a_file_with_one_wrong_instance_nothing_stays(store: Store, tmp_path: Path) -> None:
    bad, twice, before = raw_dataset(150), tmp_path / "twice.jsonl", content(store)
    bad["tiny_149"]["aspect2sentence_indices"]["harm"] = [99]  # in the last batch
    lines = [{"id": name} | raw for name, raw in raw_dataset(150).items()]
    lines[140]["id"] = "tiny_3"
    twice.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    harm = "instance 'tiny_149', aspect2sentence_indices.harm"
    for path, place in ((written(bad, tmp_path / "bad.json"), harm), (twice, "instance 'tiny_3'")):
        with pytest.raises(InstanceError) as caught:
            ingest(store, path)
        assert caught.value.place == f"{path}, {place}"
        assert content(store) == before


def test_half_a_surrogate_pair_is_one_line(store: Store, tmp_path: Path) -> None:
    dataset: dict[str, Any] = raw_dataset(3)
    instance = instance_from("tiny_1", dataset["tiny_1"])
    dataset["tiny_1"]["paper_as_candidate_pool"][0] = "half \ud83e of a pair"
    with pytest.raises(InstanceError, match="tiny_1") as caught:
        add_instance(store, "by hand", replace(instance, hypothesis="half \ud83e of a pair"))
    assert "\n" not in str(caught.value)
    ingest(store, written(dataset, tmp_path / "half.json"))  # as an escape, which the parser reads as "?"
    assert store.get("half", "tiny_1").sentences[0].encode().startswith(b"half ")
    assert digest({"hypothesis": "half \ud83e"}) != digest({"hypothesis": "half"})
