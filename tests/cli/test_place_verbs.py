"""``analyse positions``, ``analyse ends`` and ``analyse needle``."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def lead(command, tiny: Path) -> str:
    """Id of a run of lead over ``tiny``."""
    return command("run", "--dataset", "tiny", "--retriever", "lead", "--json").document["run"]


def test_positions(command, lead: str) -> None:
    document = command("analyse", "positions", lead, "--buckets", "3", "--task", "er@10", "--json").document
    assert set(document["tables"]) == {"opportunity", "picks", "recall"}
    assert [row["bucket"] for row in document["tables"]["opportunity"]] == [1, 2, 3]
    # tiny: six papers of 12 sentences, three aspects each; lead picks the first ten.
    assert [row["n_picks"] for row in document["tables"]["picks"]] == [24, 24, 12]
    assert document["tables"]["opportunity"][0]["n_aspects"] == 18


def test_positions_by_token_without_a_run(command, tiny: Path) -> None:
    printed = command("analyse", "positions", "--dataset", "tiny", "--by", "token", "--buckets", "2")
    assert printed.code == 0
    assert "2 buckets by token" in printed.out


def test_neither_run_nor_dataset(command, tiny: Path) -> None:
    printed = command("analyse", "positions")
    assert printed.code == 1
    assert "Give RUN, or --dataset NAME" in printed.err


def test_ends(command, lead: str) -> None:
    printed = command("analyse", "ends", lead, "--head", "2", "--tail", "0", "--above", "0.5", "--json")
    tables = printed.document["tables"]
    assert sum(row["n_instances"] for row in tables["groups"]) == 6
    assert {row["system"] for row in tables["published"]} == {"GPT-4o", "Claude 3 Opus"}
    assert len(tables["recall"]) == 3
    assert len(tables["difference"]) == 1


def test_ends_refuses_what_is_no_split(command, tiny: Path) -> None:
    printed = command("analyse", "ends", "--dataset", "tiny", "--above", "80")
    assert printed.code == 1
    assert "Give shares from 0 to 1" in printed.err


def test_needle_runs_what_is_missing_unless_told_not_to(command, lead: str) -> None:
    document = command("analyse", "needle", lead, "--stored-only", "--json").document
    assert document["tables"]["needle"] == []
    assert any("analyse needle" in note for note in document["notes"])
    printed = command("analyse", "needle", lead, "--place", "end", "--json", "--task", "er@10")
    rows = printed.document["tables"]["needle"]
    assert [(row["place"], row["scope"]) for row in rows] == [
        ("end", "part"),
        ("end", "rest"),
        ("end", "all"),
    ]
    assert rows[2]["n_instances"] == 6
    assert "place:abstract=end (2 of 2)" in printed.err
    again = command("analyse", "needle", lead, "--place", "end", "--json", "--task", "er@10")
    assert again.document["tables"]["needle"] == rows


def test_needle_names_the_parts(command, lead: str) -> None:
    printed = command("analyse", "needle", lead, "--part", "appendix")
    assert printed.code == 1
    assert "Parts are: abstract, introduction" in printed.err
