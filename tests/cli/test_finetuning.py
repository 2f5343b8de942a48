"""Triplets, a training of a tiny model, and its record."""

from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.cli import finetuning
from evidencebench_core.cli.finetuning import finetune_encoder, triplets_of
from evidencebench_core.data import instance_from
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.encoding import Encoder, TrainedOn
from tests.factories import raw_instance
from tests.retrievers.conftest import tiny_bert

LINES = ["T", "> one", "> two", "# R", "three", "two", "four"]
PAPER = instance_from("i", raw_instance(LINES, {"a": [1, 2], "b": [4]}, results=["a"], hypothesis="H"))
TRAINED_ON = TrainedOn("tiny", 1, ("0" * 64,))


def test_triplets_are_a_covering_and_another_sentence() -> None:
    triplets = triplets_of([PAPER], 400)
    assert triplets["anchor"] == ["H"] * 400
    assert set(triplets["positive"]) == {"one", "two", "three"}
    assert set(triplets["negative"]) == {"T", "R", "four"}  # the same words elsewhere are none
    # aspects weigh the same, however many sentences they have
    share = np.mean([positive == "three" for positive in triplets["positive"]])
    assert share == pytest.approx(0.5, abs=0.1)
    assert triplets_of([PAPER], 5, 1) == triplets_of([PAPER], 5, 1) != triplets_of([PAPER], 5, 2)
    with pytest.raises(SettingError):
        triplets_of([], 5)


@pytest.mark.model
@pytest.mark.slow
def test_a_model_learns_and_tells_what_it_has_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_encoder, new = str(tiny_bert(tmp_path / "tiny")), tmp_path / "new"
    monkeypatch.setattr(finetuning, "TRAINING", {"num_train_epochs": 20, "learning_rate": 0.01})
    finetune_encoder(triplets_of([PAPER], 200), tiny_encoder, 0, TRAINED_ON, new)
    assert TrainedOn.read(str(new)) == (TRAINED_ON,)
    (new / "trained_on.json").write_text('{"dataset": 1}')
    assert TrainedOn.read(str(new)) == ()

    def margin(model: str) -> float:
        vectors = Encoder(model).vectors("H", ["one", "three", "four", "T"])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit[1:] @ unit[0]
        return float(cosines[:2].mean() - cosines[2:].mean())

    assert margin(str(new)) > margin(tiny_encoder)
    with pytest.raises(SettingError):  # nothing is overwritten
        finetune_encoder(triplets_of([PAPER], 1), tiny_encoder, 0, TRAINED_ON, new)
