"""``run --variant``, ``analyse variants`` and ``analyse spelling``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RUN = ("run", "--dataset", "tiny", "--task", "er@10", "--json", "--retriever")


@pytest.fixture
def wordings(tmp_path: Path) -> Path:
    path = tmp_path / "wordings.json"
    entry = {"paraphrases": {"plain": "Salt and sleep."}, "negation": "Tea raises blood pressure."}
    path.write_text(json.dumps({f"tiny_{n}": entry for n in range(4)}), encoding="utf-8")
    return path


@pytest.mark.usefixtures("tiny")
def test_a_run_over_a_variant(command, wordings: Path) -> None:
    plain = command(*RUN, "lead").document
    printed = command(*RUN, "lead", "--variant", "negation", "--variants", wordings)
    assert printed.code == 0
    assert (printed.document["label"], printed.document["variant"]) == ("lead [negation]", "negation")
    assert printed.document["scores"][0]["n_scored"] == 4
    assert "2 instances left out" in printed.err
    assert "8 wordings" in printed.err
    assert [run["run"] for run in command("runs", "--json").document] == [plain["run"]]
    assert len(command("runs", "--variants", "--json").document) == 2


@pytest.mark.usefixtures("tiny")
def test_an_unknown_variant_lists_those_there_are(command) -> None:
    printed = command(*RUN, "lead", "--variant", "negasion")
    assert printed.code == 1
    assert "negation:rules, spelling:n=N" in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.usefixtures("tiny")
def test_analyse_variants_asks_what_is_missing(command, wordings: Path) -> None:
    run = command(*RUN, "bm25").document["run"]
    stored = command(
        "analyse", "variants", run, "--task", "er@10", "--variants", wordings, "--stored-only", "--json"
    )
    assert [row["n"] for row in stored.document["tables"]["paraphrases"]] == [0]
    printed = command("analyse", "variants", run, "--task", "er@10", "--json")
    tables = printed.document["tables"]
    assert [(row["run"], row["n"]) for row in tables["paraphrases"]] == [("bm25", 4)]
    assert [row["n"] for row in tables["negation"]] == [4, 6]
    assert {row["source"] for row in tables["published"]} == {"Appendix F", "Section 5.2"}
    only = command(
        "analyse", "variants", run, "--task", "er@10", "--only", "negation", "--no-rules", "--json"
    )
    assert [row["wording"] for row in only.document["tables"]["negation"]] == ["negation"]


@pytest.mark.usefixtures("tiny")
def test_a_run_over_a_variant_is_no_starting_point(command) -> None:
    run = command(*RUN, "lead", "--variant", "negation:rules").document["run"]
    printed = command("analyse", "variants", run)
    assert printed.code == 1
    assert "is itself one over a variant, negation:rules" in printed.err


@pytest.mark.usefixtures("tiny")
def test_analyse_spelling_of_two_runs(command) -> None:
    runs = [command(*RUN, name).document["run"] for name in ("bm25", "lead")]
    printed = command(
        "analyse", "spelling", *runs, "--task", "er@10", "--errors", "0,2,50", "--seeds", "2", "--json"
    )
    rows = printed.document["tables"]["spelling"]
    assert [(row["run"], row["errors"], row["n_capped"]) for row in rows] == [
        (run, errors, 6 if errors == 50 else 0) for run in ("bm25", "lead") for errors in (0, 2, 50)
    ]
    assert all(row["difference"] == 0 for row in rows if row["run"] == "lead")
    assert command("analyse", "spelling", *runs, "--errors", "many").code == 2
