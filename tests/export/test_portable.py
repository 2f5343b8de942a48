"""Work taken from one store to another: whole, once, and nothing that could not have been made here."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core.data.store import Store, open_store
from evidencebench_core.errors import DataError, StoreError
from evidencebench_core.export.portable import export_file
from evidencebench_core.export.portable_import import import_file
from evidencebench_core.llm.answers import AnswerCache, record_of
from evidencebench_core.llm.request import Answer
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.paper import Paper
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import RunSpec, RunStore, execute, plan, score_run
from evidencebench_core.runs.notes import Note, NoteStore
from tests.factories import raw_dataset, store_with, tiny_dataset

PAPER = Paper("p", "Tea", ("Tea", "It calms."), ("section_name", "normal_paragraph"), "pdf", {}, ())
KEY = "a" * 64
TABLES = ("runs", "retrievals", "nearest_sentences", "notes", "own_papers", "annotations", "annotation_heads",
          "trained_models", "llm_answers")  # fmt: skip


def contents(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    with store.read() as db:
        return {table: sorted(db.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Some of everything."""
    store = store_with(tiny_dataset(), tmp_path)
    for _ in execute(plan(store, "tiny", "lead")):
        pass
    runs, info = RunStore(store), store.dataset("tiny")
    run = runs.create(RunSpec(info.sha256, "llm", {"model": "m"}), info)
    calls = json.dumps([{"key": KEY, "text": "[3]"}])
    with_call = Retrieval((3, 1), (1.5, float("-inf")), (3,), 0.5, {"calls": calls, "odd": "\ud800"})
    runs.add(run.id, {"tiny_0": {"er@10": with_call}, "tiny_1": {"er@10": "it was refused"}})
    runs.rename(run, "mine")
    with store.write() as db:
        db.execute("INSERT INTO trained_models (digest, dataset_sha256, instance_ids, paper_ids, trained_at)"
                   " VALUES (?, ?, '[\"tiny_0\"]', '[]', '2026-01-01T00:00:00+00:00')",
                   (run.id, info.sha256))  # fmt: skip
    cache = AnswerCache(store)
    cache.keep([record_of(KEY, "m", b'{"messages": []}', Answer("[3]", key=KEY))])
    cache.keep([record_of("b" * 64, "m", b'{"messages": []}', Answer("of no run", key="b" * 64))])
    notes = NoteStore(store)
    notes.add(Note(instance_id="tiny_0", dataset="tiny", sentence=2, author="ml", flagged=True))
    notes.add(
        Note(instance_id="tiny_0", run_id=run.id, task="er@10", aspect_id="harm", author="ml", text="why")
    )
    own = OwnPapers(store).save(PAPER, "My paper", "Tea calms.", b"%PDF-1.4")
    for paper, n in ((own.key, 2), (f"instance:{info.sha256}:tiny_0", 12)):
        annotation = mark(add_aspect(Annotation("Ada", "Tea calms.", n), "calm", True), "aspect_0", [1])
        Annotations(store).save(paper, annotation)
    return store


@pytest.fixture
def other(tmp_path: Path) -> Store:
    """Another store, which has the same dataset under another name."""
    (tmp_path / "other").mkdir()
    return store_with(tiny_dataset(), tmp_path / "other", "theirs")


def test_it_comes_whole_and_once(store: Store, other: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    counts = export_file(store, path, answers=True)
    assert counts == {"run": 2, "answer": 24, "note": 2, "annotation": 2, "paper": 1, "reply": 1}
    assert path.stat().st_mode & 0o777 == 0o600
    OwnPapers(other).remove(OwnPapers(other).save(PAPER).id)  # so that its numbers differ
    assert import_file(other, path, answers=True) == {noun: (n, n) for noun, n in counts.items()}
    theirs, ours = contents(other), contents(store)
    assert theirs["llm_answers"] == [row for row in ours["llm_answers"] if row[0] == KEY]
    for table in ("runs", "retrievals", "nearest_sentences", "trained_models"):
        assert theirs[table] == ours[table]
    (own,) = OwnPapers(other).all()
    assert (own.id, own.name, own.hypothesis) == (2, "My paper", "Tea calms.")
    assert (OwnPapers(other).paper(2), OwnPapers(other).pdf(2)) == (PAPER, b"%PDF-1.4")
    sha256 = other.dataset("theirs").sha256
    for mine, theirs_key in (("own:1", "own:2"), *[(f"instance:{sha256}:tiny_0",) * 2]):
        latest = Annotations(other).latest(theirs_key, "Ada")
        assert latest.annotation == Annotations(store).latest(mine, "Ada").annotation
    assert [note.text for note in NoteStore(other).notes_on("theirs")] == ["", "why"]
    for run in RunStore(store).runs():
        assert score_run(other, run.id, "er@10") == score_run(store, run.id, "er@10")
        assert RunStore(other).run(run.id).label == run.label
        assert RunStore(other).run(run.id).n_trained_on == run.n_trained_on
    before = contents(other)
    again = import_file(other, path, answers=True)
    assert {new for new, _ in again.values()} == {0}
    assert contents(other) == before
    assert {new for new, _ in import_file(store, path, answers=True).values()} == {0}  # where it came from
    assert contents(store) == ours


def test_what_is_asked_for_alone(store: Store, other: Store, tmp_path: Path) -> None:
    path, run = (
        tmp_path / "mine.jsonl.gz",
        next(run for run in RunStore(store).runs() if run.retriever == "llm"),
    )
    assert export_file(store, path, run_ids=[run.id[:6]]) == {"run": 1, "answer": 2, "note": 1}
    with pytest.raises(StoreError, match="--overwrite"):
        export_file(store, path)
    counts = export_file(store, path, "tiny", answers=True, overwrite=True)
    assert counts == {"run": 2, "answer": 24, "note": 2, "annotation": 1, "reply": 1}
    assert import_file(other, path)["reply"] == (0, 1)  # only if asked
    assert contents(other)["llm_answers"] == []


def test_what_is_there_stays(store: Store, other: Store, tmp_path: Path) -> None:
    path, sha256 = tmp_path / "mine.jsonl.gz", store.dataset("tiny").sha256
    key = f"instance:{sha256}:tiny_0"
    annotations, earlier = Annotations(other), Annotation("Ada", "Earlier.", 12)
    annotations.save(key, earlier)
    with other.write() as db:
        db.execute("UPDATE annotations SET created_at = '2020-01-01T00:00:00+00:00'")
    export_file(store, path)
    import_file(other, path)
    latest = annotations.latest(key, "Ada").annotation
    assert latest == Annotations(store).latest(key, "Ada").annotation  # saved later
    assert annotations.undo(key, "Ada").annotation == earlier
    newer = annotations.save(key, Annotation("Ada", "Newer.", 12)).annotation
    OwnPapers(other).rename(OwnPapers(other).all()[0].id, "Renamed")
    NoteStore(other).add(Note(instance_id="tiny_0", dataset="theirs", sentence=2, author="ml", text="later"))
    assert {new for new, _ in import_file(other, path).values()} == {0}
    assert annotations.latest(key, "Ada").annotation == newer
    assert [own.name for own in OwnPapers(other).all()] == ["Renamed"]
    # an older note that comes later is still the older one
    with other.write() as db:
        db.execute("DELETE FROM notes WHERE flagged")
    import_file(other, path)
    assert [note.text for note in NoteStore(other).notes_on("theirs") if note.sentence == 2] == ["later"]


def test_a_dataset_that_is_not_there_is_named(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    export_file(store, path)
    (tmp_path / "new").mkdir()
    new = store_with(raw_dataset(3), tmp_path / "new")
    before = contents(new)
    with pytest.raises(
        DataError, match=r"line 3: it belongs to dataset 'tiny' \([0-9a-f]{12}\), which is not in the"
    ):
        import_file(new, path)
    assert contents(new) == before


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def change(kind: str, **values: object) -> Callable[[list[dict[str, Any]]], None]:
    def changed(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if kind in line)[kind].update(values)

    return changed


def in_body(kind: str, name: str, **values: object) -> Callable[[list[dict[str, Any]]], None]:
    def changed(lines: list[dict[str, Any]]) -> None:
        next(line for line in lines if kind in line)[kind][name].update(values)

    return changed


ASPECT = {"id": "aspect_0", "text": "calm", "is_result": True, "sentence_indices": [1]}
HOSTILE: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "no export": lambda lines: lines[0].update(format="other"),
    "a newer version": lambda lines: lines[0].update(version=4),
    "cut off": lambda lines: lines.pop(),
    "a line is missing": lambda lines: lines.pop(-2),
    "more behind the end": lambda lines: lines.append(lines[2]),
    "an unknown kind": lambda lines: lines.insert(2, {"trigger": {}}),
    "two kinds": lambda lines: lines[2].update(note={}),
    "a list": lambda lines: lines.insert(2, []),  # type: ignore[arg-type]
    "a strange run id": change("run", id="../../etc"),
    "settings that are none": change("run", settings="[1]"),
    "an object in a setting": change("run", settings='{"k": {"a": 1}}'),
    "deep settings": change("run", settings="[" * 100_000),
    "settings without what they need": change("run", retriever="hybrid", settings="{}"),
    "a number for a name": change("run", name=7),
    "a long name": change("run", name="x" * 10_000),
    "other settings for a run": change("run", settings='{"k": 1}'),
    "an unknown task": change("answer", task="er@x"),
    "a task in capitals": change("answer", task="ER@10"),
    "an unknown instance": change("answer", instance_id="nobody"),
    "a sentence beyond the paper": change("answer", ranking=[12]),
    "a huge index": change("answer", selection=[2**62]),
    "a sentence twice": change("answer", selection=[1, 1]),
    "a text for an index": change("answer", selection=["1"]),
    "true for an index": change("answer", selection=[True]),
    "too many scores": change("answer", scores=[1.0] * 20),
    "endless time": change("answer", seconds="inf"),
    "details that are no texts": change("answer", details='{"calls": 1}'),
    "of another run": change("answer", run="0" * 12),
    "from the future": change("answer", created_at="2999-01-01T00:00:00+00:00"),
    "no time": change("note", created_at="now"),
    "a note by nobody": change("note", author=""),
    "a note beyond the paper": change("note", sentence=-1),
    "a number for a tag": change("note", tags=[1]),
    "a note on nothing": change("note", instance_id="nobody"),
    "no paper": change("paper", paper={}),
    "no PDF": change("paper", pdf="PGh0bWw+"),
    "no base64": change("paper", pdf="%"),
    "a paper without sentences": in_body("paper", "paper", sentences=[], sentence_types=[]),
    "a paper of strange types": in_body("paper", "paper", sentence_types=["a", "b"]),
    "a long paper": in_body("paper", "paper", sentences=["x"] * 6000, sentence_types=["normal_paragraph"] * 6000),
    "a mark beyond the paper": in_body("annotation", "body", aspects=[ASPECT | {"sentence_indices": [99]}]),
    "marks in no order": in_body("annotation", "body", aspects=[ASPECT | {"sentence_indices": [1, 0]}]),
    "an aspect twice": in_body("annotation", "body", aspects=[ASPECT] * 2, n_made=2),
    "an aspect without words": in_body("annotation", "body", aspects=[ASPECT | {"text": " "}]),
    "another paper's size": in_body("annotation", "body", n_sentences=3),
    "an annotation of no paper": change("annotation", paper="own:77"),
    "an annotator without a name": change("annotation", annotator=" "),
    "training data of no run": change("trained", digest="x"),
    "a reply without an answer": change("reply", answer="{}"),
    "a reply to nothing": change("reply", request="[]"),
    "a reply under no key": change("reply", key="x"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_what_could_not_have_been_made_here_is_refused_whole(
    store: Store, other: Store, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "mine.jsonl.gz"
    export_file(store, path, answers=True)
    lines = lines_of(path)
    if what == "other settings for a run":
        import_file(other, path)
    HOSTILE[what](lines)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    before = contents(other)
    with pytest.raises(DataError) as caught:
        import_file(other, path, answers=True)
    assert len(str(caught.value)) < 600
    assert contents(other) == before


def test_bombs_and_damage(
    store: Store, other: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.jsonl.gz"
    monkeypatch.setattr("evidencebench_core.export.portable_import._LONGEST_LINE", 1 << 20)
    path.write_bytes(gzip.compress(b" " * (20 << 20)))
    with pytest.raises(DataError, match="has more than 1 MiB in one line"):
        import_file(other, path)
    path.write_bytes(gzip.compress(b'{"format": "evidencebench-export", "version": 2}' + b"[" * 500_000))
    with pytest.raises(DataError, match="line 1: is not as it was written"):
        import_file(other, path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="is cut off, or no export"):
        import_file(other, path)
    export_file(store, path, overwrite=True)
    whole, before, draw = path.read_bytes(), contents(other), random.Random(3)  # noqa: S311 - no secret
    for _ in range(40):  # gzip has a checksum at its end: whatever was read before that goes
        damaged = bytearray(whole)
        damaged[draw.randrange(20, len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises((DataError, StoreError)):
            import_file(other, path)
    assert contents(other) == before


def test_a_full_disk_brings_nothing_in(store: Store, other: Store, tmp_path: Path) -> None:
    path, before = tmp_path / "mine.jsonl.gz", contents(other)
    export_file(store, path)

    def full(done: int, total: int) -> None:
        raise sqlite3.OperationalError(f"{done} of {total}")

    with pytest.raises(sqlite3.OperationalError):
        import_file(other, path, progress=full)
    assert contents(open_store(other.path)) == before
