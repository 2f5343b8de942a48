"""``analyse agreement``: two annotators on the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evidencebench_core.analyses.marked_papers import instance_key, marked_paper, without_marks
from evidencebench_core.data import open_store
from evidencebench_core.papers import read_paper
from evidencebench_core.papers.annotation import Annotation, add_aspect, mark
from evidencebench_core.papers.annotations import Annotations
from evidencebench_core.papers.own import OwnPapers

WORDS = ("--resamples", "100")


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


@pytest.mark.usefixtures("marked")
def test_a_kept_paper(command) -> None:
    printed = command("analyse", "agreement", "1", "--annotators", "Ada", "Ben", *WORDS, "--json")
    assert printed.code == 0, printed.err
    rows = printed.document["tables"]["agreement"]
    accuracy = next(row for row in rows if row["measure"] == "exact accuracy")
    n = accuracy["n_judgements"]
    assert accuracy["value"] == pytest.approx((n - 2) / n)
    assert [row["marked_by"] for row in printed.document["tables"]["disagreements"]] == ["Ada", "Ben"]
    assert command("analyse", "agreement", "own:1", "--annotators", "Ada", "Ben", *WORDS).code == 0


@pytest.mark.usefixtures("marked")
def test_an_instance_against_its_gold_and_csv(command, tmp_path: Path) -> None:
    words = ("analyse", "agreement", "tiny_0", "--dataset", "tiny", "--annotators", "Ada", "gold", *WORDS)
    printed = command(*words, "--csv", tmp_path / "a.csv")
    assert printed.code == 0, printed.err
    with (tmp_path / "a.aspects.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["aspect"], row["n_both"], row["n_only_b"]) for row in rows] == [
        ("A1", "1", "0"),
        ("A2", "0", "2"),
        ("A3", "0", "2"),
    ]


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("7", "--annotators", "Ada", "Ben"), "not in the store"),
        (("1", "--annotators", "Ada", "Zoe"), "Who has: Ada, Ben"),
        (("1", "--annotators", "Ada", "gold"), "has marked nothing"),
        (("tiny_9", "--dataset", "tiny", "--annotators", "Ada", "gold"), "tiny_9"),
    ],
)
def test_what_is_not_there_is_said(command, words: tuple[str, ...], said: str) -> None:
    printed = command("analyse", "agreement", *words)
    assert printed.code == 1
    assert said in printed.err


def test_two_annotators_are_needed(command) -> None:
    assert command("analyse", "agreement", "1").code == 2
    assert command("analyse", "agreement", "1", "--annotators", "Ada").code == 2
