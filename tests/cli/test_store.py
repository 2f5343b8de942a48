"""``store``."""

from __future__ import annotations

from pathlib import Path

from evidencebench_core.data.store import open_store
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
