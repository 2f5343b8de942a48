"""The report: queue, shares, notes, and the real data once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidencebench_core.analyses.missed_report import missed_report, notes_report
from evidencebench_core.data.ingest import ingest
from evidencebench_core.data.store import open_store
from evidencebench_core.retrievers import Retrieval
from evidencebench_core.runs import execute, score_run
from evidencebench_core.runs.notes import Note, NoteStore
from tests.analyses.missed_store import missed_store, run_of

PICKS = Retrieval((12, 1, 0, 9, 10), (8.0, 6.0, 4.0, 3.0, 1.5), (12, 1, 0))


def test_the_queue_its_shares_and_what_was_left_out(tmp_path: Path) -> None:
    store = missed_store(tmp_path)
    run = run_of(store, "one", {"tea": {"er@3": PICKS}})
    report = missed_report(store, run, "er@3")
    (harm,) = report.as_dict()["tables"]["missed"]
    assert (harm["instance"], harm["aspect"], harm["cause"]) == ("tea", "harm", "budget")
    assert harm["causes"] == ["budget", "redundancy", "vocabulary", "front", "near"]
    said = " ".join(report.notes)
    assert "1 of 3 result aspects in 1 instances are missed" in said
    assert "1 missed aspect is no result aspects and not shown" in said
    assert "1 instance is without an answer and left out" in said
    assert len(missed_report(store, run, "er@3", results_only=False).tables["missed"]) == 2
    json.dumps(report.as_dict(), allow_nan=False)


def test_notes_are_keyed_by_instance_and_aspect(tmp_path: Path) -> None:
    store = missed_store(tmp_path)
    run = run_of(store, "one", {"tea": {"er@3": PICKS}})
    for text in ("first", "second"):
        NoteStore(store).add(Note(run, "er@3", "tea", "harm", "ml", "budget", ("a", "b"), text))
    report = notes_report(store, run[:5], "er@3")
    (row,) = report.tables["notes"].to_dict("records")
    assert list(row)[:2] == ["instance_id", "aspect_id"]
    assert (row["text"], row["tags"]) == ("second", "a; b")
    assert "1 older ones" in report.notes[0]


@pytest.mark.realdata
def test_on_train_misses_and_recall_agree(tmp_path: Path, train_path: Path) -> None:
    store = open_store(tmp_path / "train.sqlite")
    ingest(store, train_path, name="train")
    for progress in execute(store, "train", "abstract-tail", tasks=("er@optimal",)):
        run = progress.run_id
    frame = missed_report(store, run, "er@optimal", results_only=False).tables["missed"]
    recall = score_run(store, run, "er@optimal").per_instance
    missed = frame.groupby("instance").size()
    for instance_id, evidence in store.evidence_sets("train"):
        expected = round((1 - recall[instance_id]) * len(evidence.aspects))
        assert missed.get(instance_id, 0) == expected
    assert len(frame) == 485
    assert frame["cause"].notna().all()
