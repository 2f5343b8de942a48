"""The examples of docs/own_system.md and of CONTRIBUTING are run, on the sample data."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

import pytest

from evidencebench_core import ingest, make_retriever, open_store, score_run
from evidencebench_core.cli import main
from evidencebench_core.data import formats
from evidencebench_core.metrics.measures import MEASURES, Measure
from evidencebench_core.retrievers import RETRIEVERS, table
from evidencebench_core.runs import RunStore, run
from evidencebench_core.tasks import scoring

ROOT = Path(__file__).resolve().parent.parent


def blocks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Language, name of the file and content of each block of code."""
    text = path.read_text(encoding="utf-8")
    yield from re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_every_example_of_the_manual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store()
    ingest(store, ROOT / "sample_data" / "sample_data.json")
    names: dict[str, Any] = {}
    for language, file, content in blocks(ROOT / "docs" / "own_system.md"):
        if file:
            Path(file).write_text(content, encoding="utf-8")
        elif language == "python":
            exec(content, names)  # noqa: S102
        else:
            for line in content.splitlines():
                words = shlex.split(line.replace("RUN", names["mine"].id))[1:]
                assert main(words) == 0, (line, capsys.readouterr())
    runs = {run.label: dict(run.tasks) for run in RunStore(store).runs("sample_data")}
    four = {"er@optimal": 6, "er@10": 6, "result-er@optimal": 5, "result-er@5": 5}
    two = dict.fromkeys(four, 2)
    assert runs == {
        "longest first (own)": four, "bm25": four, "top and tail (own)": {"er@10": 6},
        "my_system.py:Words (own) least=3": four, "my picks (imported)": {"er@10": 2}, "my scores (imported)": two,
    }  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} >= {"mine.run", "gold.qrels"}


def test_a_retriever_a_measure_and_a_format_are_one_file_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, dict[str, Any]] = {}
    for _, file, content in blocks(ROOT / "CONTRIBUTING.md"):
        if file:
            names[file] = {"Measure": Measure, "inf": inf}
            exec(content, names[file])  # noqa: S102
    monkeypatch.setattr(table, "RETRIEVERS", {**RETRIEVERS, "longest": names["longest.py"]["Longest"]})
    monkeypatch.setattr(scoring, "MEASURES", (*MEASURES, names["blanks.py"]["row"]))
    pairs = formats.Format(names["pairs.py"]["instances"], frozenset({"claim_text"}))
    monkeypatch.setitem(formats.FORMATS, "pairs", pairs)

    record = {"claim_text": "Tea helps.", "passage": ["No.", "It does help."], "marked": [1]}
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    store = open_store()
    ingest(store, tmp_path / "p.jsonl")
    assert make_retriever("longest").retrieve  # by its name, everywhere
    score = score_run(store, run(store, "p", "longest"), "er@1")
    assert (score.aspect_recall, score.measures["blanks"].value) == (1.0, 0.0)
    assert import_module("evidencebench_core.retrievers.table").read_settings("longest").values() == {}
