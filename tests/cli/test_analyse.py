"""``analyse WHAT``: its tables as files, and agreement; what the tables say is tested with the analyses."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.annotation.marked import instance_key, marked_paper
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import open_store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from tests.cli.conftest import rows_of


def test_tables_are_written_as_files(command, two_runs: tuple[str, str], tmp_path: Path) -> None:
    printed = command("analyse", "ends", *two_runs, "--task", "er@10", "--out", tmp_path / "out.csv")
    assert (printed.code, printed.out) == (0, "")
    names = ["out.difference.csv", "out.groups.csv", "out.recall.csv"]
    assert sorted(path.name for path in tmp_path.glob("*out*")) == names
    assert {row["run"] for row in rows_of(tmp_path / "out.difference.csv")} == set(two_runs)


def test_missed_results_only_or_all(command, two_runs: tuple[str, str]) -> None:
    words = ("analyse", "missed", two_runs[1], "--task", "er@optimal")
    few, every = (command.json(*words, *more)["tables"]["missed"] for more in ((), ("--all",)))
    assert len(every) > len(few) > 0
    assert all(miss["is_result"] for miss in few)
    assert all(miss["cause"] == miss["causes"][0] for miss in every)


@pytest.mark.parametrize("line", ["positions", "ends", "variants RUN --question negation", "mesh tiny"])
def test_what_lacks_is_said(command, two_runs: tuple[str, str], line: str) -> None:
    printed = command("analyse", *line.replace("RUN", two_runs[1]).split())
    assert printed.code in (1, 2)
    assert printed.out == ""


@pytest.fixture
def _marked(tiny: Path) -> None:
    """Own paper 1 marked by Ada and Ben; instance tiny_0 by Ada with the first aspect of its gold."""
    store = open_store()
    annotations = Annotations(store)
    paper = read_paper(b"# Tea\n\nTea was drunk. It helped. Nobody died.", "tea.md")
    own = OwnPapers(store).save(paper, "Tea")
    for who, index in (("Ada", 1), ("Ben", 2)):
        begun = Annotation(who, "Tea helps.", own.n_sentences).add_aspect("It helps")
        annotations.save(own.key, begun.mark("aspect_0", [index]))
    instance = marked_paper(store, instance_key(store.dataset("tiny"), "tiny_0"))
    assert instance.gold is not None
    annotations.save(instance.key, instance.gold.without_marks("Ada").mark("aspect_0", [0]))


@pytest.mark.usefixtures("_marked")
def test_agreement_on_a_kept_paper_and_with_the_gold_of_an_instance(command) -> None:
    words = ("analyse", "agreement")
    tables = command.json(*words, "1", "--annotator", "Ada", "--annotator", "Ben")["tables"]
    assert [row["marked_by"] for row in tables["disagreements"]] == ["Ada", "Ben"]
    gold = ("--dataset", "tiny", "--annotator", "Ada", "--annotator", "gold")
    rows = command.json(*words, "tiny_0", *gold)["tables"]["aspects"]
    assert [(row["aspect"], row["n_both"], row["n_only_b"]) for row in rows] == [
        ("A1", 1, 0),
        ("A2", 0, 2),
        ("A3", 0, 2),
    ]
    assert command(*words, "1", "--annotator", "Ada").code == 1
