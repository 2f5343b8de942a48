"""Triplets, a training of a tiny model, and its record."""

from pathlib import Path

import numpy as np
import pytest

from evidencebench_core.cli.finetuning import FinetuneSettings, finetune_encoder, triplets_of
from evidencebench_core.data import instance_from
from evidencebench_core.errors import SettingError
from evidencebench_core.retrievers.encoding import Encoder, TrainedOn
from tests.factories import raw_instance
from tests.retrievers.conftest import tiny_bert

LINES = ["T", "> one", "> two", "# R", "three", "two", "four"]
PAPER = instance_from("i", raw_instance(LINES, {"a": [1, 2], "b": [4]}, results=["a"], hypothesis="H"))
TRAINED_ON = TrainedOn("tiny", 1, ("0" * 64,))


def test_the_record_of_a_training_is_read_back_and_nothing_else(tmp_path: Path) -> None:
    assert TrainedOn.read(str(tmp_path)) == ()
    TRAINED_ON.write(tmp_path)
    assert TrainedOn.read(str(tmp_path)) == (TRAINED_ON,)
    for content in ("not json", "[]", '{"dataset": 1}'):
        (tmp_path / "trained_on.json").write_text(content, encoding="utf-8")
        assert TrainedOn.read(str(tmp_path)) == ()


def test_triplets_are_a_covering_and_another_sentence() -> None:
    triplets = triplets_of([PAPER], 400)
    assert len(triplets) == 400
    assert {triplet.anchor for triplet in triplets} == {"H"}
    assert {triplet.positive for triplet in triplets} == {"one", "two", "three"}
    # the same words elsewhere are no negative
    assert {triplet.negative for triplet in triplets} == {"T", "R", "four"}
    # aspects weigh the same, however many sentences they have
    share = np.mean([triplet.positive == "three" for triplet in triplets])
    assert share == pytest.approx(0.5, abs=0.1)
    first, again, other = (triplets_of([PAPER], 5, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert triplets_of([], 5) == []


@pytest.mark.model
@pytest.mark.slow
def test_a_model_learns_and_tells_what_it_has_seen(tmp_path: Path) -> None:
    tiny_encoder = tiny_bert(tmp_path / "tiny")
    settings = FinetuneSettings(model=str(tiny_encoder), batch_size=32, epochs=3, learning_rate=0.01)
    finetune_encoder(triplets_of([PAPER], 200), settings, TRAINED_ON, tmp_path / "new")
    assert TrainedOn.read(str(tmp_path / "new")) == (TRAINED_ON,)

    def margin(model: Path) -> float:
        vectors = Encoder(str(model)).vectors("H", ["one", "three", "four", "T"])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit[1:] @ unit[0]
        return float(cosines[:2].mean() - cosines[2:].mean())

    assert margin(tmp_path / "new") > margin(tiny_encoder)
    with pytest.raises(SettingError):  # nothing is overwritten
        finetune_encoder(triplets_of([PAPER], 1), settings, TRAINED_ON, tmp_path / "new")
    with pytest.raises(SettingError):  # nor can nothing be learnt from
        finetune_encoder([], settings, TRAINED_ON, tmp_path / "other")
