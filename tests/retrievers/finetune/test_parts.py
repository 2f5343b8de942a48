"""What needs no model."""

from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.data.model import Aspect, EvidenceSet, Instance
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.finetune import (
    check_target,
    encoder_scores,
    triplets_of,
)
from evidencebench_core.tasks import task_named


def _instance(sentences: tuple[str, ...], aspects: dict[str, tuple[tuple[int, ...], bool]]) -> Instance:
    n, made = len(sentences), tuple(Aspect(name, *values, name) for name, values in aspects.items())
    return Instance(
        "i", "h", "p", sentences, ("normal_paragraph",) * n, ("",) * n, EvidenceSet(n, made, 1, 1), {}
    )


PAPER = _instance(("a", "b", "c", "d", "a", " "), {"x": ((0,), True), "y": ((0, 1), False)})


def test_positives_cover_and_negatives_do_not() -> None:
    drawn = list(triplets_of([PAPER], [200], "all", "random", np.random.default_rng(0)))
    assert len(drawn) == 200
    assert {triplet.anchor for triplet in drawn} == {"h"}
    assert {triplet.positive for triplet in drawn} == {"a", "b"}
    # The fifth sentence has the words of the first, which covers; the last has none at all.
    assert {triplet.negative for triplet in drawn} == {"c", "d"}
    # "a" comes from x always and from y every other time: 3 in 4
    assert 0.65 < sum(triplet.positive == "a" for triplet in drawn) / 200 < 0.85
    # The focus says what covers.
    drawn = list(triplets_of([PAPER], [50], "results", "random", np.random.default_rng(0)))
    assert {triplet.positive for triplet in drawn} == {"a"}
    assert {triplet.negative for triplet in drawn} == {"b", "c", "d"}


def test_hard_negatives_are_the_highest_ranked() -> None:
    # bm25 ranks those that share the word "h" first; 20 are kept
    sentences = ("covers", *(f"nothing {n}" for n in range(60)), *(f"h {n} x y" for n in range(20)))
    paper = _instance(sentences, {"x": ((0,), True)})
    drawn = list(triplets_of([paper], [300], "all", "bm25", np.random.default_rng(0)))
    assert all(triplet.negative.startswith("h ") for triplet in drawn)
    # Nothing to learn from.
    all_cover = _instance(("a", "b"), {"x": ((0, 1), True)})
    none_covers = _instance(("a", "b"), {"x": ((), False)})
    rng = np.random.default_rng(0)
    assert list(triplets_of([all_cover, none_covers], [5, 5], "all", "random", rng)) == []


def test_a_folder_that_is_taken(tmp_path: Path) -> None:
    check_target(tmp_path / "new")
    (tmp_path / "file").write_text("", encoding="utf-8")
    for taken in (tmp_path, tmp_path / "file"):
        with pytest.raises(SettingError, match="exists already"):
            check_target(taken)
    with pytest.raises(SettingError, match="is not a folder"):
        check_target(tmp_path / "no" / "new")


def test_scores_of_an_encoder_in_hand() -> None:
    # The hypothesis looks like sentence 2 most, then like 0: ER@1 has nothing, ER@2 both aspects.
    directions = {"h": 0.0, "a": 0.2, "b": 2.0, "c": 0.1, "d": 3.0, " ": 3.0}

    def encode(texts: tuple[str, ...]) -> np.ndarray:
        return np.array([[np.cos(directions[t]), np.sin(directions[t])] for t in texts], dtype=np.float32)

    found = encoder_scores(encode, [PAPER], [task_named("er@1"), task_named("er@2")])  # type: ignore[arg-type]
    assert [found[task].aspect_recall for task in ("er@1", "er@2")] == [0.0, 1.0]
