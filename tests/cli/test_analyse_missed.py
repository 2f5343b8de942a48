"""``evidencebench analyse missed``"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evidencebench_core.data.store import open_store
from evidencebench_core.runs.notes import Note, NoteStore
from tests.cli.conftest import Command


@pytest.fixture
def run(command: Command, tiny: Path) -> str:
    """Id of a lead run over the tiny dataset."""
    assert command("run", "--dataset", "tiny", "--retriever", "lead").code == 0
    (found,) = command("runs", "--json").document
    return str(found["run"])


def test_as_text_it_says_how_many_and_the_rules(command: Command, run: str) -> None:
    printed = command("analyse", "missed", run[:6])
    assert printed.code == 0
    assert "Missed aspects: lead" in printed.out
    assert "Cause budget:" in printed.out
    assert "never verdicts" in " ".join(printed.out.split())


def test_json_has_every_miss_with_its_causes(command: Command, run: str) -> None:
    few = command("analyse", "missed", run, "--task", "er@optimal", "--json").document["tables"]
    every = command("analyse", "missed", run, "--all", "--task", "er@optimal", "--json").document["tables"]
    assert len(every["missed"]) > len(few["missed"]) > 0
    assert all(miss["is_result"] for miss in few["missed"])
    assert all(miss["cause"] == miss["causes"][0] for miss in every["missed"])
    assert {row["by"] for row in every["shares"]} == {"section", "decile", "n_covering", "cause"}


def test_notes_are_exported(command: Command, run: str, tmp_path: Path) -> None:
    NoteStore(open_store()).add(
        Note(run, "result-er@optimal", "tiny_1", "harm", "ml", "gold", ("odd",), "a, b\nc")
    )
    file = tmp_path / "notes.csv"
    assert command("analyse", "missed", run, "--notes", "--csv", file).code == 0
    with file.open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["instance_id"], row["aspect_id"], row["text"]) == ("tiny_1", "harm", "a, b\nc")
    document = command("analyse", "missed", run, "--notes", "--json").document
    assert document["tables"]["notes"][0]["cause"] == "gold"


def test_a_task_without_answers_fails_and_says_what_there_is(command: Command, run: str) -> None:
    printed = command("analyse", "missed", run, "--task", "er@7")
    assert printed.code == 1
    assert "It has: er@optimal" in printed.err
