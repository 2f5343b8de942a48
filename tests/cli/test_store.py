"""``store``."""

from __future__ import annotations

from pathlib import Path

from evidencebench_core.answers.read import SAMPLE as ANSWERS
from evidencebench_core.data.store import open_store
from evidencebench_core.runs import ChatRuns, ChatRunSpec
from evidencebench_core.runs.notes import Note, NoteStore
from tests.cli.conftest import SAMPLE, Command


def test_a_backup_is_a_store(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "copy.sqlite"
    assert "is not there" in command.failure("store", "backup", path)
    command("ingest", SAMPLE)
    assert command("store", "backup", path).out.startswith(f"Copied {open_store().path} to {path}: ")
    assert [info["name"] for info in command.json("datasets", "--store", path)] == ["sample_data"]
    assert "--overwrite" in command.failure("store", "backup", path)
    assert command("store", "backup", path, "--overwrite").code == 0
    assert command("store").code == 2


def test_work_goes_from_one_store_to_another(command: Command, tmp_path: Path) -> None:
    path, other = tmp_path / "mine.jsonl.gz", ("--store", tmp_path / "other.sqlite")
    command("ingest", SAMPLE)
    run = command.run("lead", dataset="sample_data")
    NoteStore(open_store()).add(
        Note(instance_id="sample_trial", dataset="sample_data", author="ml", text="why")
    )
    said = command("store", "export", path).out
    assert said == f"Exported 1 run, 22 answers and 1 note to {path}.\n"
    assert "--overwrite" in command.failure("store", "export", path)
    assert "belongs to dataset 'sample_data'" in command.failure("store", "import", path, *other)
    command("ingest", SAMPLE, *other)
    said = command("store", "import", path, *other).out
    assert said == "Imported 1 run, 22 answers and 1 note; 0 were there already or left out.\n"
    said = command("store", "import", path, *other).out
    assert said == "Imported nothing; 24 were there already or left out.\n"
    assert command.json("score", run, *other)[0]["n_missing"] == 0
    said = command("store", "delete", "run", run, *other)
    assert (said.code, "--yes" in said.err) == (1, True)
    assert command("store", "delete", "run", run, "--yes", *other).out.startswith(f"Deleted run {run}")


def test_sets_and_runs_about_them_go_too(command: Command, tmp_path: Path) -> None:
    path, other = tmp_path / "mine.jsonl.gz", ("--store", tmp_path / "other.sqlite")
    command("answers", "ingest", ANSWERS, "--name", "mine")
    assert command("store", "export", path).out == f"Exported 1 answer set to {path}.\n"
    assert command("store", "import", path, *other).out.startswith("Imported 1 answer set; 0 were")
    assert [one["name"] for one in command.json("answers", "list", *other)] == ["mine"]
    run = ChatRuns(open_store()).create(ChatRunSpec("answers", "a" * 64, {"task": "citations", "model": "m"}))
    would = command("store", "delete", "run", run.id[:8])
    assert f"run {run.id} (citations, m) would be deleted, with nothing else" in would.out
    assert command("delete", "run", run.id[:8], "--yes").out.startswith(f"Deleted run {run.id}")
    assert "is not in" in command.failure("delete", "run", run.id)


def test_check_and_repair(command: Command, tmp_path: Path) -> None:
    assert "is not there" in command.failure("store", "check")
    command("ingest", SAMPLE)
    path, new = open_store().path, tmp_path / "new.sqlite"
    assert command.json("store", "check") == {"store": str(path), "faults": []}
    assert "is as it was written" in command("store", "check").out
    assert command("store", "repair", new).out == f"Wrote {new}: everything is in it.\n"
    assert command.json("datasets", "--store", new) == command.json("datasets")
    with open_store().write() as db:
        (name,) = db.execute("SELECT instance_id FROM instances WHERE id = 1").fetchone()
        db.execute("UPDATE bodies SET checksum = 0 WHERE instance = 1")
    assert f"dataset 'sample_data', instance '{name}' is damaged" in command.failure("show", name)
    result = command("store", "check")
    assert result.code == 1
    assert f"instance '{name}' is damaged" in result.out
    assert "is there already" in command.failure("store", "repair", new)
