"""Every verb: help with an example, one JSON document, exit codes 0, 1 and 2, one line for what fails."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from evidencebench_core.cli.entry import app
from evidencebench_core.cli.frame import HEADINGS
from tests.cli.conftest import Command
from tests.factories import written


def verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The words of every verb that typer reads, and its help."""
    if not hasattr(command, "commands"):
        yield words, command.help
    for name, verb in getattr(command, "commands", {}).items():
        yield from verbs(verb, (*words, name))


VERBS = dict(sorted(verbs(typer.main.get_command(app))))
READING = [  # calls that print data, on the store of `tiny` with a run RUN of lead
    *("list datasets", "list instances", "list runs", "list papers", "list items", "list answers"),
    *("show tiny_0", "retrievers", "retrievers bm25", "backup OUT", "ingest TINY --name again"),
    *("run --dataset tiny --retriever lead", "run --dataset tiny --retriever lead --estimate"),
    *("score RUN", "score RUN OTHER --task er@10", "compare RUN OTHER --task er@10"),
    *("score RUN --format latex", "compare RUN OTHER --format markdown", "analyse ends RUN --format csv"),
    "score-file --dataset tiny --predictions PICKS --task er@10",
    "import-run --dataset tiny --predictions PICKS --name mine --task er@10",
    "analyse verdicts RUN OTHER --task er@10 --n 3 --stratified",
    *("analyse missed RUN --task er@10", "analyse positions RUN OTHER --task er@10 --buckets 3"),
    *("analyse ends --dataset tiny", "analyse variants RUN --task er@10 --question spelling"),
    *("analyse slices RUN OTHER --task er@10", "analyse dataset tiny"),
    "notes --dataset tiny",
    *("rename run RUN first", "rename dataset tiny small", "delete run RUN --yes"),
    *("reliability ingest --sample", "answers ingest --sample"),
    "publish RUN OTHER --out OUT",
    "find PAPER Tea --retriever bm25",
]


@pytest.fixture
def places(tiny_file: Path, two_runs: tuple[str, str], tmp_path: Path) -> dict[str, str]:
    """What stands for the words in capitals."""
    paths = {"PAPER": tmp_path / "paper.txt", "TINY": tiny_file, "OUT": tmp_path / "out"}
    paths["PICKS"] = written({"tiny_0": [0, 5]}, tmp_path / "picks.json")
    paths["PAPER"].write_text("Tea is hot. It cools.")
    return {"RUN": two_runs[1], "OTHER": two_runs[0]} | {name: str(path) for name, path in paths.items()}


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_help_has_an_example_and_the_store(command: Command, words: tuple[str, ...]) -> None:
    printed = command(*words, "--help")
    assert printed.code == 0
    assert f"Example: evidencebench {' '.join(words)}" in " ".join(printed.out.split())
    assert "--store PATH" in printed.out or words == ("retrievers",)


def test_help_lists_every_verb_below_a_heading() -> None:
    assert sorted(name for names in HEADINGS.values() for name in names) == sorted(
        {name for name, *_ in VERBS}
    )


def test_an_analysis_answers_first_and_rows_go_to_a_file(command: Command, places: dict[str, str]) -> None:
    words = ("analyse", "missed", places["RUN"], "--task", "er@10")
    _, answer, *lines = command(*words).out.splitlines()
    assert answer.startswith("lead misses ")
    assert any(line.startswith("- Not shown: missed (") for line in lines)


@pytest.mark.usefixtures("hashing_encoder")
@pytest.mark.parametrize("line", READING)
def test_what_is_printed_is_text_or_one_document(command: Command, places: dict[str, str], line: str) -> None:
    words = [places.get(word, word) for word in line.split()]
    printed = command(*words)
    assert printed.code == 0
    assert not {"None", "nan", "frozenset", "Estimate("} & set(printed.out.split())
    if words[0] not in ("rename", "delete", "backup", "import-run"):  # not twice
        assert command.json(*words) is not None


@pytest.mark.parametrize(
    "line",
    [
        *("", "scroe", "show", "list", "list stars", "list datasets --limit 3", "app --port 0", "delete run"),
        *("run", "run --dataset d", "run --data d --retriever r", "score", "score r --missing guess"),
        *(f"run --dataset d --retriever r {more}" for more in ("--limit 0", "--set k1", "--max-calls 0")),
        *("compare", "score-file --dataset d --task er@10", "export abc", "export abc --format xlsx"),
        "compare a b --task er@10 --task er@5",
    ],
)
def test_wrong_usage_is_2_and_prints_nothing_on_stdout(command: Command, line: str) -> None:
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    assert "Usage: evidencebench" in err or "--set" in err
    assert line != "scroe" or "'score'" in err  # the near one


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("show a\x1b[2Jb", "list instances"),
        ("ingest /nowhere/file.json", "/nowhere/file.json"),
        ("download evidencebench-10k", "evidencebench-100k"),
        ("list runs --dataset huge", "huge"),
        ("list datasets --store /nowhere/store.sqlite", "/nowhere/store.sqlite"),
        (f"list datasets --store {300 * 's'}", "is not there"),
        ("run --dataset tiny --retriever bm52", "bm25"),
        ("run --dataset tiny --retriever bm25 --set k2=1", "k1"),
        ("score OTHER --task er@7", "er@optimal"),
        ("compare RUN RUN", "no two"),
        ("score-file --dataset tiny --predictions TINY --task er@10", "TINY"),
        ("export RUN --format trec", "--task"),
        ("export RUN --format csv --out /no/such/folder/x.csv", "/no/such/folder"),
        ("rename paper First Second", "First"),
        ("delete run abc --yes", "abc"),
        ("analyse agreement --annotator Ada", "Name two"),
        ("analyse ends", "--dataset"),
        ("answers ingest", "--sample"),
        ("reliability score items", "items"),
    ],
)
def test_a_failure_is_1_and_one_line(command: Command, places: dict[str, str], line: str, names: str) -> None:
    words = [places.get(word, word) for word in line.split(" ")]
    assert places.get(names, names) in command.failure(*words)
