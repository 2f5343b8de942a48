"""``finetune-encoder``, with an encoder that counts letters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.retrievers import finetune
from evidencebench_core.retrievers.trained_on import read_trained_on

pytestmark = pytest.mark.slow

FINETUNE = ("finetune-encoder", "--dataset", "sample")


class Letters:
    """An encoder whose training changes which letters it counts."""

    trained = False

    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        letters = "etaoin" if self.trained else "shrdlu"
        return np.array([[text.count(letter) + 0.1 for letter in letters] for text in texts], np.float32)

    def save(self, folder: str, **_: object) -> None:
        Path(folder, "modules.json").write_text("[]", encoding="utf-8")


@pytest.fixture
def n_triplets(sample: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of triplets of each training, which takes no time here."""
    seen: list[int] = []

    def train(model: Letters, triplets: list[object], *_: object) -> Letters:
        seen.append(len(triplets))
        model.trained = True
        return model

    monkeypatch.setattr(finetune, "base_encoder", lambda _: Letters())
    monkeypatch.setattr(finetune, "fit_encoder", train)
    return seen


def test_it_evaluates_then_trains_on_everything(command, n_triplets: list[int], tmp_path: Path) -> None:
    target = tmp_path / "mine"
    printed = command(*FINETUNE, "--folds", "5", "--triplets", "40", "--out", target, "--json")
    trained_on = read_trained_on(target)
    assert trained_on is not None
    # with five folds every instance is held out once, in each task that asks for something of it
    assert printed.document["held_out"]["er@10"]["n"] == len(trained_on.instance_ids)
    assert printed.document["settings"]["loss"] == "triplet"
    assert printed.document["dataset_sha256"] == trained_on.dataset_sha256
    assert n_triplets == [40] * 6
    assert "its scores on that dataset are no evidence" in printed.err


def test_without_a_folder_it_only_evaluates(command, n_triplets: list[int]) -> None:
    assert "before and after" in command(*FINETUNE, "--triplets", "10").out
    assert n_triplets == [10]


@pytest.mark.parametrize("folds", ["0", "6", "-1"])
def test_folds_that_are_none(command, sample: str, folds: str) -> None:
    assert "Give 1 to 5" in command.failure(*FINETUNE, "--folds", folds)
