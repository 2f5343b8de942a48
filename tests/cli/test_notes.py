"""``notes``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from evidencebench_core.data.store import open_store
from evidencebench_core.runs.notes import Note, NoteStore
from tests.cli.conftest import Command


def test_flags_and_comments_are_listed_and_written(command: Command, tiny: Path, tmp_path: Path) -> None:
    about = {"instance_id": "tiny_1", "dataset": "tiny", "author": "ml"}
    notes = NoteStore(open_store())
    notes.add(Note(**about, flagged=True))
    notes.add(Note(**about, sentence=2, text="=SUM(A1)"))
    words = ("notes", "--dataset", "tiny")
    assert "2 notes on 1 instance, 1 of them flags" in command(*words).out
    (flag,) = command.json(*words, "--flagged")["tables"]["notes"]
    assert (flag["instance_id"], flag["sentence"], flag["flagged"]) == ("tiny_1", None, True)
    assert command.json(*words, "--instance", "tiny_0")["tables"]["notes"] == []
    path = tmp_path / "notes.csv"
    assert command(*words, "--csv", path).code == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))
    assert [(row["sentence"], row["text"]) for row in rows] == [("", ""), ("2", "'=SUM(A1)")]
    assert "is not in dataset" in command.failure(*words, "--instance", "none")
    assert "is not in" in command.failure("notes", "--dataset", "none")
