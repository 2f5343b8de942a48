"""``list``, ``show``, ``rename``, ``delete``, ``notes``, ``backup``."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.data.store import open_store
from evidencebench_core.papers.own import OwnPapers
from evidencebench_core.papers.paper import Paper
from tests.cli.conftest import Command, rows_of
from tests.factories import raw_instance, tiny_dataset, written

PAPER = Paper("p", "Tea", ("Tea", "It calms."), ("section_name", "normal_paragraph"), "text", {}, ())


def test_show_marks_the_gold(command: Command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    lines = command("show", "tiny_0").out.splitlines()
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}
    assert [line for line in lines if line.startswith("█")] == [
        "█    0  Sentence 0 tells of tea and tea. In cohort 0.  [A1]",
        "█    3  Sentence 3 tells of cohort and cohort. In cohort 0.  [A2]",
        "█    5  Sentence 5 tells of sleep and tea. In cohort 0.  [A2 A3]",
        "█    7  Sentence 7 tells of tea and water. In cohort 0.  [A3]",
    ]
    assert command.json("show", "tiny_0") == {"tiny_0": tiny_dataset()["tiny_0"]}


def test_show_neutralises_what_would_steer_the_terminal(command: Command, tmp_path: Path) -> None:
    nasty = raw_instance(
        ["\x1b]0;title\x07 \x1b[2J", "a\u202eb\rc", "<b>$x$</b> 🍵 " + "long " * 4000],
        {"a": [1]},
        hypothesis="\x1b[31mRed\x9b tea",
        paper_id="p\x08p",
        aspect_texts={"a": "\x1b[5mblink"},
    )
    command("ingest", written({"nasty": nasty}, tmp_path / "nasty.json"))
    for words in (("show", "nasty"), ("list", "instances")):
        out = command(*words).out
        assert not set(out) & {"\x1b", "\x07", "\x9b", "\x08", "\r", "\u202e"}
        assert "[U+001B][31mRed[U+009B] tea" in out


def test_what_is_kept_is_renamed_and_nothing_is_deleted_without_yes(command: Command, tiny: Path) -> None:
    run, own = command.run("lead"), OwnPapers(open_store()).save(PAPER, "First")
    assert [row["name"] for row in command.json("list", "papers")] == ["First"]
    names = (("run", run[:6], "ours"), ("paper", "First", "Second"), ("dataset", "tiny", "mine"))
    for kind, name, new in names:
        assert f"to {new}" in command("rename", kind, name, new).out
        assert command("delete", kind, name if kind == "run" else new).code == 1
    command.failure("rename", "dataset", "mine", " ")
    command.failure("delete", "paper", "First", "--yes")
    for kind, name in (("run", run[:6]), ("paper", str(own.id)), ("dataset", "mine")):
        assert command("delete", kind, name, "--yes").code == 0
        assert command.json("list", f"{kind}s") == []


def test_the_cache_is_emptied(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_CACHE", str(tmp_path))
    (tmp_path / "embeddings.sqlite").write_bytes(b"vectors")
    codes = [command("delete", "embeddings", "all", *words).code for words in ((), ("--yes",))]
    assert (codes, list(tmp_path.iterdir())) == ([1, 0], [])


def test_notes_go_into_a_file(command: Command, tiny: Path, tmp_path: Path) -> None:
    about = {"instance_id": "tiny_1", "dataset": "tiny", "author": "Ada"}
    NoteStore(open_store()).add(Note(**about, sentence=2, flagged=True, text="=odd"))
    NoteStore(open_store()).add(Note(**about, text="fine"))
    command("notes", "--dataset", "tiny", "--flagged", "--out", tmp_path / "notes.csv")
    assert [row["text"] for row in rows_of(tmp_path / "notes.csv")] == ["'=odd"]


def test_a_backup_is_a_store_and_has_the_ranker(
    command: Command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ranker").mkdir()
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(tmp_path / "ranker"))
    copy = tmp_path / "copy.sqlite"
    assert command("backup", copy).code == 0
    assert (tmp_path / "copy.ranker").is_dir()
    assert command.json("list", "datasets", "--store", copy) == command.json("list", "datasets")
    assert "--overwrite" in command.failure("backup", copy)
