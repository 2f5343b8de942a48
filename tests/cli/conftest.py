"""The command, called in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evidencebench_core.cli import main
from tests.factories import tiny_dataset, written


class Printed(NamedTuple):
    """What a call of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


Command = Callable[..., Printed]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Calls ``evidencebench`` with these words."""

    def call(*words: str | Path) -> Printed:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Printed(code, *capsys.readouterr())

    return call


@pytest.fixture
def tiny_file(tmp_path: Path) -> Path:
    """Six instances, see ``tests.factories.raw_dataset``."""
    return written(tiny_dataset(), tmp_path / "tiny.json")


@pytest.fixture
def tiny(command: Command, tiny_file: Path) -> Path:
    """The same, in the store as ``tiny``."""
    assert command("ingest", tiny_file).code == 0
    return tiny_file
