"""``analyse WHAT``: arguments and documents; what the tables say is tested with the analyses."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.annotation.marked import instance_key, marked_paper
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data import open_store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.runs.notes import Note, NoteStore
from tests.cli.conftest import rows_of
from tests.factories import written

ER_10 = ("--task", "er@10")


def test_printed_it_is_tables_and_notes_as_json_one_document(command, two_runs: tuple[str, str]) -> None:
    out = command("analyse", "compare", *two_runs).out
    assert out.startswith("Comparison: tiny, ER@Optimal\n\nsystems\n")
    assert "\npairs\n" in out
    assert "- 6 instances that every system is scored on." in out
    document = command.json("analyse", "compare", *two_runs, *ER_10)
    assert set(document) == {"title", "tables", "notes"}
    (pair,) = document["tables"]["pairs"]
    assert (pair["a"], pair["b"]) == two_runs


def test_csv_has_a_file_a_table_and_leaves_a_link_or_a_device_there(
    command, two_runs: tuple[str, str], tmp_path: Path
) -> None:
    words = ("analyse", "compare", *two_runs, "--csv")
    printed = command(*words, tmp_path / "out.csv")
    assert (printed.code, printed.out) == (0, "")
    assert "out.pairs.csv" in printed.err
    assert sorted(path.name for path in tmp_path.glob("*out*")) == ["out.pairs.csv", "out.systems.csv"]
    (row,) = rows_of(tmp_path / "out.pairs.csv")
    assert row["label_a"] == "oracle"
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    assert command(*words, device).err.count(f"are in {device}") == 2  # both tables
    assert device.is_char_device()
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    assert command("analyse", "missed", two_runs[0], "--notes", "--csv", link).code == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("instance_id,")


def test_missed_with_its_causes_and_the_notes_on_them(
    command, two_runs: tuple[str, str], tmp_path: Path
) -> None:
    words = ("analyse", "missed", two_runs[1])
    out = command("analyse", "missed", two_runs[1][:6]).out
    assert "Missed aspects: lead" in out
    assert "never verdicts" in " ".join(out.split())
    few = command.json(*words, "--task", "er@optimal")["tables"]["missed"]
    every = command.json(*words, "--all", "--task", "er@optimal")["tables"]["missed"]
    assert len(every) > len(few) > 0
    assert all(miss["is_result"] for miss in few)
    assert all(miss["cause"] == miss["causes"][0] for miss in every)
    about = {"run_id": two_runs[1], "task": "result-er@optimal", "instance_id": "tiny_1", "aspect_id": "harm"}
    NoteStore(open_store()).add(Note(**about, author="ml", cause="gold", tags=("odd",), text="=a, b\nc"))
    assert command(*words, "--notes", "--csv", tmp_path / "notes.csv").code == 0
    (row,) = rows_of(tmp_path / "notes.csv")
    assert (row["instance_id"], row["aspect_id"], row["text"]) == (
        "tiny_1",
        "harm",
        "'=a, b\nc",
    )  # no formula


@pytest.mark.parametrize(
    ("line", "tables"),
    [
        ("positions RUN --buckets 3", {"opportunity": 3, "picks": 3}),
        ("positions --dataset tiny --by token --buckets 2", {"opportunity": 2}),
        ("ends RUN --head 2 --tail 0 --above 0.5", {"recall": 3, "difference": 1}),
        ("slices RUN OTHER", {}),
        ("dataset tiny --all-papers", {}),
        ("spelling RUN OTHER --errors 0,2,50 --seeds 2", {"spelling": 6}),
    ],
)
def test_each_gives_its_tables(command, two_runs: tuple[str, str], line: str, tables: dict[str, int]) -> None:
    words = (*line.replace("OTHER", two_runs[0]).replace("RUN", two_runs[1]).split(), *ER_10)
    document = command.json("analyse", *words)
    assert document["tables"]
    assert {name: len(document["tables"][name]) for name in tables} == tables
    assert command("analyse", *words).out.startswith(document["title"])


def test_variants_asks_what_is_missing(command, tiny: Path, tmp_path: Path) -> None:
    entry = {"paraphrases": {"plain": "Salt and sleep."}, "negation": "Tea raises blood pressure."}
    wordings = written({f"tiny_{n}": entry for n in range(4)}, tmp_path / "wordings.json")
    words = ("analyse", "variants", command.run("bm25", *ER_10), *ER_10)
    stored = command.json(*words, "--variants", wordings, "--stored-only")["tables"]
    assert [row["n"] for row in stored["paraphrases"]] == [0]
    tables = command.json(*words)["tables"]
    assert [(row["run"], row["n"]) for row in tables["paraphrases"]] == [("bm25", 4)]
    assert [row["n"] for row in tables["negation"]] == [4, 6]
    assert {row["source"] for row in tables["published"]} == {"Appendix F", "Section 5.2"}
    only = command.json(*words, "--only", "negation", "--no-rules")["tables"]
    assert [row["wording"] for row in only["negation"]] == ["negation"]
    run = command.run("lead", *ER_10, "--variant", "negation:rules")
    assert "is itself one over a variant, negation:rules" in command.failure("analyse", "variants", run)


# -- agreement ----------------------------------------------------------------------------------------------

AGREEMENT = ("analyse", "agreement", "--resamples", "100")


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
def test_agreement_on_a_kept_paper_and_with_the_gold_of_an_instance(command, tmp_path: Path) -> None:
    tables = command.json(*AGREEMENT, "1", "--annotators", "Ada", "Ben")["tables"]
    accuracy = next(row for row in tables["agreement"] if row["measure"] == "exact accuracy")
    assert accuracy["value"] == pytest.approx(1 - 2 / accuracy["n_judgements"])
    assert [row["marked_by"] for row in tables["disagreements"]] == ["Ada", "Ben"]
    words = ("tiny_0", "--dataset", "tiny", "--annotators", "Ada", "gold", "--csv", tmp_path / "a.csv")
    assert command(*AGREEMENT, *words).code == 0
    rows = [(row["aspect"], row["n_both"], row["n_only_b"]) for row in rows_of(tmp_path / "a.aspects.csv")]
    assert rows == [("A1", "1", "0"), ("A2", "0", "2"), ("A3", "0", "2")]


@pytest.mark.usefixtures("_marked")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7 --annotators Ada Ben", "not in the store"),
        ("1 --annotators Ada Zoe", "Who has: Ada, Ben"),
        ("1 --annotators Ada gold", "has marked nothing"),
        ("tiny_9 --dataset tiny --annotators Ada gold", "tiny_9"),
    ],
)
def test_agreement_names_what_is_not_there(command, line: str, reason: str) -> None:
    assert reason in command.failure(*AGREEMENT, *line.split())
