"""``analyse WHAT``: arguments, exit codes and documents; what the tables say is tested with the analyses."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from evidencebench_core.cli.analyse import ANALYSES
from evidencebench_core.data import open_store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.marked import instance_key, marked_paper, without_marks
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.runs.notes import Note, NoteStore

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"
RUN = ("run", "--dataset", "tiny", "--json", "--retriever")


@pytest.fixture
def two_runs(command, tiny: Path) -> tuple[str, str]:
    """An oracle and a lead run over ``tiny``."""
    return tuple(command(*RUN, name).document["run"] for name in ("oracle", "lead"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("words", [["analyse", "--help"], ["analyse", "needle", "--help"]])
def test_help_imports_no_analysis(words: list[str]) -> None:
    code = (
        f"import sys; from evidencebench_core.cli import main; code = main({words});"
        "heavy = {'pandas', 'numpy', 'scipy'} & set(sys.modules); sys.exit(code or bool(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_lists_every_analysis_and_each_has_its_own(command) -> None:
    listed = command("analyse", "--help").out
    for name in ANALYSES:
        assert f"\n    {name} " in listed
        printed = command("analyse", name, "--help")
        assert printed.code == 0
        assert all(option in printed.out for option in ("--task", "--json", "--csv", "--store"))


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nothing",),
        ("compare", "--tasc", "x"),
        ("dataset",),
        ("agreement", "1"),
        ("agreement", "1", "--annotators", "Ada"),
        ("spelling", "abc", "--errors", "many"),
    ],
)
def test_wrong_usage_is_2(command, words: tuple[str, ...]) -> None:
    assert command("analyse", *words).code == 2


def test_printed_it_is_tables_and_notes_as_json_one_document(command, two_runs: tuple[str, str]) -> None:
    printed = command("analyse", "compare", *two_runs)
    assert printed.out.startswith("Comparison: tiny, ER@Optimal\n\nsystems\n")
    assert "\npairs\n" in printed.out
    assert "- 6 instances that every system is scored on." in printed.out
    document = command("analyse", "compare", *two_runs, "--task", "er@10", "--json").document
    assert set(document) == {"title", "tables", "notes"}
    (pair,) = document["tables"]["pairs"]
    plain = command("compare", *two_runs, "--task", "er@10", "--json").document
    assert (pair["a"], pair["b"], pair["p"]) == (*two_runs, plain["p_value"])  # six pairs: exact in both
    assert pair["difference"] == pytest.approx(plain["mean_difference"])


def test_csv_has_a_file_a_table_or_is_one_line_of_error(
    command, two_runs: tuple[str, str], tmp_path: Path
) -> None:
    printed = command("analyse", "compare", *two_runs, "--csv", tmp_path / "out.csv")
    assert (printed.code, printed.out) == (0, "")
    assert "out.pairs.csv" in printed.err
    assert sorted(path.name for path in tmp_path.glob("*out*")) == ["out.pairs.csv", "out.systems.csv"]
    (row,) = rows_of(tmp_path / "out.pairs.csv")
    assert row["label_a"] == "oracle"
    failed = command("analyse", "compare", *two_runs, "--csv", tmp_path / "none" / "out.csv")
    assert failed.code == 1
    assert failed.err.count("\n") == 1
    assert "cannot be written" in failed.err


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


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("dataset", "tiny", "--store", "empty.sqlite"), "empty.sqlite"),
        (("compare",), "names no run"),
        (("compare", "RUN", "--imported", "bm25"), "other instances"),
        (("missed", "RUN", "--task", "er@7"), "It has: er@optimal"),
        (("positions",), "Give RUN, or --dataset NAME"),
        (("ends", "RUN", "--above", "80"), "Give shares from 0 to 1"),
        (("needle", "RUN", "--part", "appendix"), "Parts are: abstract, introduction"),
    ],
)
def test_a_failure_is_1_and_says_why(
    command,
    two_runs: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    reason: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = command("analyse", *(two_runs[1] if word == "RUN" else word for word in words))
    assert (printed.code, printed.out) == (1, "")
    assert reason in printed.err


def test_missed_with_its_causes_and_the_notes_on_them(
    command, two_runs: tuple[str, str], tmp_path: Path
) -> None:
    run = two_runs[1]
    text = command("analyse", "missed", run[:6])
    assert "Missed aspects: lead" in text.out
    assert "never verdicts" in " ".join(text.out.split())
    few = command("analyse", "missed", run, "--task", "er@optimal", "--json").document["tables"]["missed"]
    every = command("analyse", "missed", run, "--all", "--task", "er@optimal", "--json").document["tables"]
    assert len(every["missed"]) > len(few) > 0
    assert all(miss["is_result"] for miss in few)
    assert all(miss["cause"] == miss["causes"][0] for miss in every["missed"])
    NoteStore(open_store()).add(
        Note(run, "result-er@optimal", "tiny_1", "harm", "ml", "gold", ("odd",), "a, b\nc")
    )
    assert command("analyse", "missed", run, "--notes", "--csv", tmp_path / "notes.csv").code == 0
    (row,) = rows_of(tmp_path / "notes.csv")
    assert (row["instance_id"], row["aspect_id"], row["text"]) == ("tiny_1", "harm", "a, b\nc")


def test_positions(command, two_runs: tuple[str, str]) -> None:
    words = ("analyse", "positions", two_runs[1], "--buckets", "3", "--task", "er@10", "--json")
    tables = command(*words).document["tables"]
    assert set(tables) == {"opportunity", "picks", "recall"}
    # tiny: six papers of 12 sentences, three aspects each; lead picks the first ten.
    assert [row["n_picks"] for row in tables["picks"]] == [24, 24, 12]
    assert tables["opportunity"][0]["n_aspects"] == 18
    printed = command("analyse", "positions", "--dataset", "tiny", "--by", "token", "--buckets", "2")
    assert "2 buckets by token" in printed.out


def test_ends(command, two_runs: tuple[str, str]) -> None:
    split = ("--head", "2", "--tail", "0", "--above", "0.5")
    tables = command("analyse", "ends", two_runs[1], *split, "--json").document["tables"]
    assert sum(row["n_instances"] for row in tables["groups"]) == 6
    assert (len(tables["recall"]), len(tables["difference"])) == (3, 1)
    assert "first 2 and last 0 sentences cover over 50%" in tables["groups"][0]["rule"]


def test_needle_runs_what_is_missing_unless_told_not_to(command, two_runs: tuple[str, str]) -> None:
    words = ("analyse", "needle", two_runs[1], "--place", "end", "--task", "er@10", "--json")
    stored = command(*words, "--stored-only").document
    assert stored["tables"]["needle"] == []
    assert any("analyse needle" in note for note in stored["notes"])
    printed = command(*words)
    rows = printed.document["tables"]["needle"]
    assert [(row["place"], row["scope"]) for row in rows] == [
        ("end", "part"),
        ("end", "rest"),
        ("end", "all"),
    ]
    assert rows[2]["n_instances"] == 6
    assert "place:abstract=end (2 of 2)" in printed.err
    assert command(*words).document["tables"]["needle"] == rows


@pytest.mark.usefixtures("tiny")
def test_variants_asks_what_is_missing(command, tmp_path: Path) -> None:
    wordings = tmp_path / "wordings.json"
    entry = {"paraphrases": {"plain": "Salt and sleep."}, "negation": "Tea raises blood pressure."}
    wordings.write_text(json.dumps({f"tiny_{n}": entry for n in range(4)}), encoding="utf-8")
    run = command(*RUN, "bm25", "--task", "er@10").document["run"]
    words = ("analyse", "variants", run, "--task", "er@10", "--json")
    stored = command(*words, "--variants", wordings, "--stored-only").document["tables"]
    assert [row["n"] for row in stored["paraphrases"]] == [0]
    tables = command(*words).document["tables"]
    assert [(row["run"], row["n"]) for row in tables["paraphrases"]] == [("bm25", 4)]
    assert [row["n"] for row in tables["negation"]] == [4, 6]
    assert {row["source"] for row in tables["published"]} == {"Appendix F", "Section 5.2"}
    only = command(*words, "--only", "negation", "--no-rules").document["tables"]
    assert [row["wording"] for row in only["negation"]] == ["negation"]


@pytest.mark.usefixtures("tiny")
def test_a_run_over_a_variant_is_no_starting_point(command) -> None:
    run = command(*RUN, "lead", "--task", "er@10", "--variant", "negation:rules").document["run"]
    printed = command("analyse", "variants", run)
    assert printed.code == 1
    assert "is itself one over a variant, negation:rules" in printed.err


@pytest.mark.usefixtures("tiny")
def test_spelling_of_two_runs(command) -> None:
    runs = [command(*RUN, name, "--task", "er@10").document["run"] for name in ("bm25", "lead")]
    words = ("analyse", "spelling", *runs, "--task", "er@10", "--errors", "0,2,50", "--seeds", "2", "--json")
    rows = command(*words).document["tables"]["spelling"]
    assert [(row["run"], row["errors"], row["n_capped"]) for row in rows] == [
        (run, errors, 6 if errors == 50 else 0) for run in ("bm25", "lead") for errors in (0, 2, 50)
    ]
    assert all(row["difference"] == 0 for row in rows if row["run"] == "lead")


def test_slices_and_dataset(command) -> None:
    assert command("ingest", SAMPLE).code == 0
    oracle, lead = (
        command("run", "--dataset", "sample_data", "--retriever", name, "--json").document["run"]
        for name in ("oracle", "lead")
    )
    rows = command("analyse", "slices", oracle, lead, "--json").document["tables"]["difference"]
    assert {(row["a"], row["b"]) for row in rows} == {(lead, oracle)}
    assert {"design", "sentences", "aspects"} <= {row["family"] for row in rows}
    assert all(-1 <= row["difference"] <= 0 for row in rows)  # nothing is above the oracle
    tables = command("analyse", "dataset", "sample_data", "--all-papers", "--json").document["tables"]
    assert {row["quantity"]: row["n"] for row in tables["overview"]}["tokens"] == 6


@pytest.fixture
def marked(tiny: Path) -> None:
    """Own paper 1 marked by Ada and Ben; instance tiny_0 by Ada with the first aspect of its gold."""
    store = open_store()
    annotations = Annotations(store)
    own = OwnPapers(store).save(
        read_paper(b"# Tea\n\nTea was drunk. It helped. Nobody died.", "tea.md"), "Tea"
    )
    for who, index in (("Ada", 1), ("Ben", 2)):
        begun = add_aspect(Annotation(who, "Tea helps.", own.n_sentences), "It helps")
        annotations.save(own.key, mark(begun, "aspect_0", [index]))
    instance = marked_paper(store, instance_key(store.dataset("tiny"), "tiny_0"))
    assert instance.gold is not None
    annotations.save(instance.key, mark(without_marks(instance.gold, "Ada"), "aspect_0", [0]))


AGREEMENT = ("analyse", "agreement", "--resamples", "100")


@pytest.mark.usefixtures("marked")
def test_agreement_on_a_kept_paper_and_with_the_gold_of_an_instance(command, tmp_path: Path) -> None:
    tables = command(*AGREEMENT, "1", "--annotators", "Ada", "Ben", "--json").document["tables"]
    accuracy = next(row for row in tables["agreement"] if row["measure"] == "exact accuracy")
    assert accuracy["value"] == pytest.approx(1 - 2 / accuracy["n_judgements"])
    assert [row["marked_by"] for row in tables["disagreements"]] == ["Ada", "Ben"]
    words = ("tiny_0", "--dataset", "tiny", "--annotators", "Ada", "gold", "--csv", tmp_path / "a.csv")
    assert command(*AGREEMENT, *words).code == 0
    rows = rows_of(tmp_path / "a.aspects.csv")
    assert [(row["aspect"], row["n_both"], row["n_only_b"]) for row in rows] == [
        ("A1", "1", "0"),
        ("A2", "0", "2"),
        ("A3", "0", "2"),
    ]


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("7", "--annotators", "Ada", "Ben"), "not in the store"),
        (("1", "--annotators", "Ada", "Zoe"), "Who has: Ada, Ben"),
        (("1", "--annotators", "Ada", "gold"), "has marked nothing"),
        (("tiny_9", "--dataset", "tiny", "--annotators", "Ada", "gold"), "tiny_9"),
    ],
)
def test_agreement_names_what_is_not_there(command, words: tuple[str, ...], reason: str) -> None:
    printed = command(*AGREEMENT, *words)
    assert printed.code == 1
    assert reason in printed.err


@pytest.mark.realdata
def test_imported_systems(command, train_path: Path) -> None:
    logs = train_path.with_name("official_logs.csv")
    document = command("import-scores", logs, "--json").document
    assert (document["added"], len(document["left_out"])) == (78, 21)
    printed = command("import-scores", logs)
    assert "0 systems imported, 78 already there" in printed.out
    assert "11 rows left out, incomplete" in printed.out
    words = ("analyse", "compare", "--imported", "gpt-4o-2024-05-13 icl", "bm25", "--json")
    (pair,) = command(*words).document["tables"]["pairs"]
    assert pair["n"] == pair["wins"] + pair["ties"] + pair["losses"] == 293
    assert pair["difference"] == pytest.approx(0.5144 - 0.1646, abs=1e-4)
