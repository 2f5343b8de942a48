"""``analyse WHAT``: its tables as files, and agreement; what the tables say is tested with the analyses."""

from __future__ import annotations

from pathlib import Path

from evidencebench_core.annotation.marked import instance_key, marked_paper
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import open_store
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


def test_agreement_with_the_gold_of_an_instance(command, tiny: Path) -> None:
    store = open_store()
    instance = marked_paper(store, instance_key(store.dataset("tiny"), "tiny_0"))
    assert instance.gold is not None
    Annotations(store).save(instance.key, instance.gold.without_marks("Ada").mark("aspect_0", [0]))
    words = ("tiny_0", "--dataset", "tiny", "--annotator", "Ada", "--annotator", "gold")
    rows = command.json("analyse", "agreement", *words)["tables"]["aspects"]
    columns = [(row["aspect"], row["n_both"], row["n_only_b"]) for row in rows]
    assert columns == [("A1", 1, 0), ("A2", 0, 2), ("A3", 0, 2)]
