from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.cli import main
from evidencebench_core.retrievers import finetune
from evidencebench_core.retrievers.trained_on import read_trained_on

ROOT = Path(__file__).resolve().parents[2]


class Letters:
    """An encoder that counts letters, and its training, which changes what it counts."""

    def __init__(self) -> None:
        self.trained = False

    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        letters = "etaoin" if self.trained else "shrdlu"
        return np.array([[text.count(letter) + 0.1 for letter in letters] for text in texts], np.float32)

    def save(self, folder: str, **_: object) -> None:
        Path(folder, "modules.json").write_text("[]", encoding="utf-8")


@pytest.fixture
def n_triplets(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of triplets of each training, which takes no time here."""
    seen: list[int] = []

    def trained(model: Letters, triplets: list[object], *_: object) -> Letters:
        seen.append(len(triplets))
        model.trained = True
        return model

    monkeypatch.setattr(finetune, "base_encoder", lambda _: Letters())
    monkeypatch.setattr(finetune, "fit_encoder", trained)
    assert main(["ingest", str(ROOT / "sample_data/sample_data.json"), "--name", "sample"]) == 0
    return seen


def test_it_evaluates_then_trains_on_everything(
    n_triplets: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine"
    words = ["finetune-encoder", "--dataset", "sample", "--folds", "5", "--triplets", "40"]
    capsys.readouterr()
    assert main([*words, "--out", str(target), "--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    # with five folds every instance is held out once, in each task that asks for something of it
    assert document["held_out"]["er@10"]["n"] == len(read_trained_on(target).instance_ids)  # type: ignore[union-attr]
    assert document["settings"]["loss"] == "triplet"
    assert document["dataset_sha256"] == read_trained_on(target).dataset_sha256  # type: ignore[union-attr]
    assert n_triplets == [40] * 6
    assert "its scores on that dataset are no evidence" in printed.err


def test_without_a_folder_it_only_evaluates(
    n_triplets: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["finetune-encoder", "--dataset", "sample", "--triplets", "10"]) == 0
    assert "before and after" in capsys.readouterr().out
    assert n_triplets == [10]


@pytest.mark.parametrize("folds", ["0", "6", "-1"])
def test_folds_that_are_none(folds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["finetune-encoder", "--dataset", "sample", "--folds", folds]) == 1
    assert "Give 1 to 5" in capsys.readouterr().err
