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
