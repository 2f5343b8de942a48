"""``analyse`` with its options, ``analyse compare``, ``slices`` and ``dataset``, and ``import-scores``."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from evidencebench_core.cli.analyse import ANALYSES

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"


@pytest.fixture
def two_runs(command, tiny: Path) -> tuple[str, str]:
    """An oracle and a lead run over ``tiny``."""
    found = [
        command("run", "--dataset", "tiny", "--retriever", name, "--json").document["run"]
        for name in ("oracle", "lead")
    ]
    return found[0], found[1]


def test_help_lists_the_analyses_without_importing_them() -> None:
    code = (
        "import sys; from evidencebench_core.cli import main; code = main(['analyse', '--help']);"
        "heavy = {'pandas', 'numpy', 'scipy'} & set(sys.modules); sys.exit(code or bool(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in ANALYSES:
        assert f"\n    {name} " in done.stdout


@pytest.mark.parametrize("name", ANALYSES)
def test_every_analysis_has_help(command, name: str) -> None:
    printed = command("analyse", name, "--help")
    assert printed.code == 0
    for option in ("--task", "--json", "--csv", "--store"):
        assert option in printed.out


@pytest.mark.parametrize("words", [(), ("nothing",), ("compare", "--tasc", "x"), ("dataset",)])
def test_wrong_usage_is_2(command, words: tuple[str, ...]) -> None:
    assert command("analyse", *words).code == 2


def test_compare_as_json(command, two_runs: tuple[str, str]) -> None:
    document = command("analyse", "compare", *two_runs, "--task", "er@10", "--json").document
    assert set(document) == {"title", "tables", "notes"}
    (pair,) = document["tables"]["pairs"]
    assert (pair["a"], pair["b"]) == two_runs
    plain = command("compare", *two_runs, "--task", "er@10", "--json").document
    assert pair["difference"] == pytest.approx(plain["mean_difference"])
    assert pair["p"] == plain["p_value"]  # six pairs: exact in both
    assert (pair["wins"], pair["ties"]) == (plain["wins"], plain["ties"])


def test_printed_it_is_tables_and_notes(command, two_runs: tuple[str, str]) -> None:
    printed = command("analyse", "compare", *two_runs)
    assert printed.out.startswith("Comparison: tiny, ER@Optimal\n\nsystems\n")
    assert "\npairs\n" in printed.out
    assert "- 6 instances that every system is scored on." in printed.out


def test_csv_has_a_file_a_table(command, two_runs: tuple[str, str], tmp_path: Path) -> None:
    printed = command("analyse", "compare", *two_runs, "--csv", tmp_path / "out.csv")
    assert printed.code == 0
    assert printed.out == ""
    assert "out.pairs.csv" in printed.err
    assert sorted(path.name for path in tmp_path.glob("*out*")) == ["out.pairs.csv", "out.systems.csv"]
    with (tmp_path / "out.pairs.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["label_a"] == "oracle"


def test_csv_that_cannot_be_written_is_one_line(command, two_runs: tuple[str, str], tmp_path: Path) -> None:
    printed = command("analyse", "compare", *two_runs, "--csv", tmp_path / "none" / "out.csv")
    assert printed.code == 1
    assert printed.err.count("\n") == 1
    assert "cannot be written" in printed.err


def test_csv_to_a_link_or_a_device_leaves_it_there(
    command, two_runs: tuple[str, str], tmp_path: Path
) -> None:
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    assert command("analyse", "missed", two_runs[0], "--notes", "--csv", link).code == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("instance_id,")
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    printed = command("analyse", "compare", *two_runs, "--csv", device)
    assert printed.code == 0
    assert printed.err.count(f"are in {device}") == 2  # both tables
    assert device.is_char_device()
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["link.csv", "target.csv"]


def test_the_store_may_be_named_at_the_end(command, tmp_path: Path) -> None:
    printed = command("analyse", "dataset", "tiny", "--store", tmp_path / "empty.sqlite")
    assert printed.code == 1
    assert "empty.sqlite" in printed.err


def test_compare_refuses_what_cannot_be_paired(command, two_runs: tuple[str, str]) -> None:
    printed = command("analyse", "compare", two_runs[0], "--imported", "bm25")
    assert printed.code == 1
    assert "other instances" in printed.err
    assert command("analyse", "compare").code == 1


def test_slices(command) -> None:
    assert command("ingest", SAMPLE).code == 0
    oracle, lead = (
        command("run", "--dataset", "sample_data", "--retriever", name, "--json").document["run"]
        for name in ("oracle", "lead")
    )
    document = command("analyse", "slices", oracle, lead, "--json").document
    rows = document["tables"]["difference"]
    assert {(row["a"], row["b"]) for row in rows} == {(lead, oracle)}
    assert {"design", "sentences", "aspects"} <= {row["family"] for row in rows}
    assert all(row["few"] for row in rows)
    assert all(-1 <= row["difference"] <= 0 for row in rows)  # nothing is above the oracle


def test_dataset(command, tiny: Path) -> None:
    document = command("analyse", "dataset", "tiny", "--all-papers", "--json").document
    overview = {row["quantity"]: row for row in document["tables"]["overview"]}
    assert (overview["sentences"]["n"], overview["sentences"]["mean"]) == (6, 12)
    assert overview["result aspects"]["n"] == 5


@pytest.mark.realdata
def test_import_scores(command, train_path: Path) -> None:
    logs = train_path.with_name("official_logs.csv")
    document = command("import-scores", logs, "--json").document
    assert document["added"] == 78
    assert len(document["left_out"]) == 21
    printed = command("import-scores", logs)
    assert "0 systems imported, 78 already there" in printed.out
    assert "11 rows left out, incomplete" in printed.out
    (pair,) = command("analyse", "compare", "--imported", "gpt-4o-2024-05-13 icl", "bm25", "--json").document[
        "tables"
    ]["pairs"]
    assert pair["n"] == 293
    assert pair["difference"] == pytest.approx(0.5144 - 0.1646, abs=1e-4)
    assert pair["wins"] + pair["ties"] + pair["losses"] == 293


def test_import_scores_of_another_file_is_one_line(command, tiny_file: Path) -> None:
    printed = command("import-scores", tiny_file)
    assert printed.code == 1
    assert printed.err.count("\n") == 1
