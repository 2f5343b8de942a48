"""What README, the manual and CONTRIBUTING tell people to type is what the house takes: parsed, and carried out."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

import pytest
import typer

from evidencebench_core import ingest, make_retriever, open_store, score_run
from evidencebench_core.cli import main
from evidencebench_core.cli.frame import app
from evidencebench_core.data import formats
from evidencebench_core.data.formats.simple import SimpleRecord
from evidencebench_core.metrics.measures import MEASURES, Measure
from evidencebench_core.retrievers import RETRIEVERS, table
from evidencebench_core.runs import RunStore, run
from evidencebench_core.tasks import scoring

ROOT = Path(__file__).resolve().parent.parent
README, OWN_SYSTEM, DATA = ROOT / "README.md", ROOT / "docs" / "own_system.md", ROOT / "docs" / "data.md"
TEXTS = [README, *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Language, name of the file and content of each block of code."""
    return re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(text: str) -> Iterator[list[str]]:
    """The words behind ``evidencebench`` of every line in a code block, without the environment before it."""
    for _, _, content in blocks(text):
        for line in content.splitlines():
            words = shlex.split(line, comments=True)
            if "evidencebench" in words:
                yield words[words.index("evidencebench") + 1 :]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_command_parses_and_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for words in commands(text):
        command = typer.main.get_command(app)
        rest = list(words)
        while hasattr(command, "commands"):
            command = command.commands[rest.pop(0)]
        with command.make_context(command.name, rest) as context:  # parses, and runs nothing
            assert context.params
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), target


@pytest.mark.usefixtures("hashing_encoder")
def test_six_commands_on_the_sample_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = ROOT / "sample_data" / "sample_data.json"
    instances = json.loads(sample.read_text(encoding="utf-8"))
    readme = README.read_text(encoding="utf-8")
    walk = list(commands(readme.split("## Your own data")[1].split("## ")[0]))
    assert [words[0] for words in walk] == ["ingest", "run", "score", "import-run", "compare", "find"]

    monkeypatch.chdir(tmp_path)
    Path("sample_data").symlink_to(sample.parent)
    Path("mine.json").write_text(json.dumps({key: [0, 1, 2] for key in instances}), encoding="utf-8")
    first = next(iter(instances.values()))
    Path("paper.txt").write_text("\n\n".join(first["paper_as_candidate_pool"]), encoding="utf-8")
    names: dict[str, str] = {}
    for words in walk:
        assert main([names.get(word, word) for word in words]) == 0, words
        capsys.readouterr()
        assert main(["list", "runs", "--json"]) == 0
        ids = [row["run"] for row in json.loads(capsys.readouterr().out)]
        names |= dict(zip(("RUN", "OTHER_RUN"), reversed(ids) if words[0] == "run" else ids, strict=False))
    assert "</html>" in Path("page.html").read_text(encoding="utf-8")
    (snippet,) = [content for language, _, content in blocks(readme) if language == "python"]
    exec(snippet, {})  # noqa: S102 - "In a notebook", over the same store


def test_the_manual_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = DATA.read_text(encoding="utf-8")
    for _, name, content in blocks(text):
        if name:
            Path(name).write_text(content, encoding="utf-8")
    for words in commands(text):
        assert words == ["app"] or main(words) == 0, (words, capsys.readouterr())
    store = open_store()
    counts = {info.name: (info.n_instances, info.sufficient) for info in store.datasets()}
    assert counts == {
        "mine": (1, True), "table": (2, False), "scifact": (1, True), "qasper-dev": (1, True), "released": (1, False)
    }  # fmt: skip
    instance = store.get("mine", "tea_1")
    assert [aspect.sentence_indices for aspect in instance.evidence.aspects] == [(1, 5), (6,)]
    table = " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))
    assert set(SimpleRecord.model_fields) == set(re.findall(r"`(\w+)`", table))


def test_the_manual_of_own_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store()
    ingest(store, ROOT / "sample_data" / "sample_data.json")
    names: dict[str, Any] = {}
    for language, file, content in blocks(OWN_SYSTEM.read_text(encoding="utf-8")):
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
    for _, file, content in blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
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
