"""The command, called in this process, on a store of its own."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evidencebench_core.cli import main
from evidencebench_core.data import open_store
from evidencebench_core.runs import run
from tests.factories import tiny_dataset, written
from tests.llm.server import Scripted, answering, scripted


class Printed(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


class Command:
    """Calls ``evidencebench`` with these words."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str | Path) -> Printed:
        self._capsys.readouterr()
        code = main([str(word) for word in words])
        return Printed(code, *self._capsys.readouterr())

    def json(self, *words: str | Path) -> Any:
        printed = self(*words, "--json")
        assert printed.code == 0, printed.err
        return printed.document

    def run(self, retriever: str, *words: str | Path, dataset: str = "tiny") -> str:
        (run,) = self.json("run", "--dataset", dataset, "--retriever", retriever, *words)["runs"]
        return str(run["run"])

    def failure(self, *words: str | Path) -> str:
        """The one line in which a call fails."""
        code, out, err = self(*words)
        assert (code, out, err.count("\n")) == (1, "", 1), err
        assert err.startswith("evidencebench: ")
        assert "\x1b" not in err
        return err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server of scripted models, which the verbs ask."""

    @contextmanager
    def serve(say: Any) -> Iterator[Scripted]:
        with scripted(answering(say), listed=("word-overlap", "always-yes", "M", "J")) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-secret")
            yield server

    return serve


@pytest.fixture
def tiny_file(tmp_path: Path) -> Path:
    """Six instances, see ``tests.factories.raw_dataset``."""
    return written(tiny_dataset(), tmp_path / "tiny.json")


@pytest.fixture
def tiny(command: Command, tiny_file: Path) -> Path:
    """The same, in the store as ``tiny``."""
    assert command("ingest", tiny_file).code == 0
    return tiny_file


@pytest.fixture
def two_runs(tiny: Path) -> tuple[str, str]:
    """Ids of an oracle and a lead run over ``tiny``."""
    return run(open_store(), "tiny", "oracle").id, run(open_store(), "tiny", "lead").id


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
