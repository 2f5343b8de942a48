"""``show`` and ``retrievers``."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.retrievers import RETRIEVERS
from tests.factories import raw_dataset, raw_instance, tiny_dataset, written


def test_show_marks_the_gold(command, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    lines = command("show", "tiny_0").out.splitlines()
    assert lines[0] == "tiny_0  (tiny, paper paper_0)"
    assert "12 sentences, 3 study aspects (2 result aspects), optimal K 2, for the results 1" in lines
    # tiny_0: method {0}, outcome {3, 5}, harm {5, 7}
    assert [line for line in lines if line.startswith("█")] == [
        "█    0  Sentence 0 tells of tea and tea. In cohort 0.  [A1]",
        "█    3  Sentence 3 tells of cohort and cohort. In cohort 0.  [A2]",
        "█    5  Sentence 5 tells of sleep and tea. In cohort 0.  [A2 A3]",
        "█    7  Sentence 7 tells of tea and water. In cohort 0.  [A3]",
    ]
    assert "  A1          0" in lines
    assert "  A2  result  3, 5" in lines


def test_show_neutralises_what_would_steer_the_terminal(command, tmp_path: Path) -> None:
    nasty = raw_instance(
        ["\x1b]0;title\x07 \x1b[2J", "a\u202eb\rc", "<b>$x$</b> 🍵 " + "long " * 4000],
        {"a": [1]},
        hypothesis="\x1b[31mRed\x9b tea",
        paper_id="p\x08p",
        aspect_texts={"a": "\x1b[5mblink"},
    )
    command("ingest", written({"nasty": nasty}, tmp_path / "nasty.json"))
    out = command("show", "nasty").out
    assert not set(out) & {"\x1b", "\x07", "\x9b", "\x08", "\r", "\u202e"}
    assert "[U+001B][31mRed[U+009B] tea" in out
    assert "<b>$x$</b> 🍵" in out
    assert max(map(len, out.splitlines())) <= 100


def test_show_prints_every_index_even_of_a_blank_sentence(command, tmp_path: Path) -> None:
    paper = ["", "#  ", "text under it", "> from the abstract"]
    command("ingest", written({"blank": raw_instance(paper, {"a": [0]})}, tmp_path / "blank.json"))
    assert command("show", "blank").out.split("named behind it)\n", 1)[1] == (
        "\n        [before the first heading]\n█    0  (blank)  [A1]\n"
        "\n     1  (blank)\n     2  text under it\n"
        "\n        [Abstract]\n     3  from the abstract\n"
    )


def test_show_as_json_is_the_benchmarks_own_format(command, tmp_path: Path) -> None:
    raw = tiny_dataset()
    raw["tiny_1"] |= {
        "aspect_texts": {"harm": "Tea did no harm."},
        "hypothesis_paraphrases": {"plain": "Tea helps."},
        "hypothesis_negation": "Tea does not help.",
        "synthetic": True,
    }
    command("ingest", written(raw, tmp_path / "tiny.json"))
    for instance_id, expected in raw.items():
        assert command.json("show", instance_id) == {instance_id: expected}


def test_show_asks_which_dataset_where_it_matters(command, tiny: Path, tmp_path: Path) -> None:
    command("ingest", written(raw_dataset(2), tmp_path / "two.json"))
    assert command("show", "tiny_3").code == 0
    assert "tiny, two. Say which with --dataset" in command.failure("show", "tiny_0")
    assert command("show", "tiny_0", "--dataset", "two").out.startswith("tiny_0  (two, ")


def test_retrievers(command) -> None:
    documents = {document["name"]: document for document in command.json("retrievers")}
    assert documents.keys() >= RETRIEVERS.keys()
    assert documents["bm25"]["settings"]["k1"]["default"] == 1.5
    assert [name for name, document in documents.items() if document["sees_gold"]] == ["oracle"]
    out = command("retrievers").out
    assert "oracle (sees gold)\n" in out
    assert all(name in out for name in RETRIEVERS)
