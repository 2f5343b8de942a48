"""What docs/data.md shows is what ingest takes: its files are written, its commands given."""

import re
from pathlib import Path

import pytest

from evidencebench_core.cli import main
from evidencebench_core.data import open_store
from evidencebench_core.data.formats.simple import SimpleRecord

MANUAL = Path(__file__).parents[2] / "docs" / "data.md"


def test_every_example_of_the_manual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = MANUAL.read_text(encoding="utf-8")
    for name, content in re.findall(r"^```(?:json|csv) (\S+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        Path(name).write_text(content, encoding="utf-8")
    commands = re.findall(r"^evidencebench (.*)$", text, re.MULTILINE)
    for command in commands:
        if command != "app":
            assert main(command.split()) == 0, (command, capsys.readouterr())
    store = open_store()
    counts = {info.name: (info.n_instances, info.sufficient) for info in store.datasets()}
    assert counts == {
        "mine": (1, True), "table": (2, False), "scifact": (1, True), "qasper-dev": (1, True), "released": (1, False)
    }  # fmt: skip
    instance = store.get("mine", "tea_1")
    assert [aspect.sentence_indices for aspect in instance.evidence.aspects] == [(1, 5), (6,)]
    table = " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))
    assert set(SimpleRecord.model_fields) == set(re.findall(r"`(\w+)`", table))
