"""With a model of a few thousand weights, so that training takes a second."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencebench_core.errors import RetrieverError, SettingError
from evidencebench_core.retrievers import make_retriever
from evidencebench_core.retrievers.encoding import minilm_folder
from evidencebench_core.retrievers.finetune import (
    FinetuneSettings,
    Triplet,
    base_encoder,
    fit_encoder,
    fitting,
    save_model,
)
from evidencebench_core.retrievers.trained_on import TrainedOn, read_trained_on
from tests.retrievers.queries import make_query

pytestmark = [pytest.mark.slow, pytest.mark.model]

TRIPLETS = [Triplet(f"does {n} help", f"patients given {n} got better", f"we thank {n}") for n in "abcdefgh"]
TRAINED_ON = TrainedOn("ab" * 32, ("i1", "i2"), ("p1",))


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged model's files with a network of two narrow layers."""
    from transformers import BertConfig, BertModel, set_seed

    folder = tmp_path_factory.mktemp("small") / "model"
    shutil.copytree(minilm_folder(), folder, ignore=shutil.ignore_patterns("*.safetensors", "README.md"))
    set_seed(0)
    config = BertConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
    BertModel(config).save_pretrained(folder)
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling), encoding="utf-8")
    return folder


def _settings(model: Path, **rest: Any) -> FinetuneSettings:
    return FinetuneSettings(model=str(model), batch_size=4, **rest)


def _similarities(model: Any) -> tuple[float, float]:
    """Of the hypotheses to what belongs to them, and to what does not; means."""
    anchors, positives, negatives = (
        model.encode([getattr(triplet, name) for triplet in TRIPLETS], show_progress_bar=False)
        for name in ("anchor", "positive", "negative")
    )
    return float((anchors * positives).sum(axis=1).mean()), float((anchors * negatives).sum(axis=1).mean())


@pytest.mark.parametrize("loss", fitting.LOSSES)
def test_every_loss_pulls_the_two_apart(
    small_model: Path, loss: fitting.LossName, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = _settings(small_model, loss=loss, margin=0.5, learning_rate=5e-3, epochs=4)
    model = base_encoder(settings)
    before, steps = np.subtract(*_similarities(model)), []
    fit_encoder(model, TRIPLETS, settings, lambda done, total: steps.append((done, total)))
    assert np.subtract(*_similarities(model)) > before
    # eight triplets (sixteen pairs for contrastive) by fours, four times
    assert steps[-1] == ((16, 16) if loss == "contrastive" else (8, 8))
    assert model.max_seq_length == 256
    assert capsys.readouterr().out == ""  # stdout is for data


def test_the_same_seed_learns_the_same(small_model: Path) -> None:
    settings = _settings(small_model)
    models = [fit_encoder(base_encoder(settings), TRIPLETS, settings) for _ in range(2)]
    assert np.array_equal(*(model.encode(["one text"], show_progress_bar=False) for model in models))


class Broken:
    def save(self, folder: str, **_: object) -> None:
        Path(folder, "half").write_text("", encoding="utf-8")
        raise OSError("disk full")


def test_a_folder_that_dense_takes_with_its_card(small_model: Path, tmp_path: Path) -> None:
    settings = _settings(small_model)
    with pytest.raises(OSError, match="disk full"):
        save_model(Broken(), tmp_path / "mine", settings, TRAINED_ON, {})
    assert list(tmp_path.iterdir()) == []
    means = {"n": 9, "mean_a": 0.5, "mean_b": 0.4, "mean_difference": 0.1}
    row = {**means, "ci95": [0.05, 0.15], "p_value": 0.01}
    target = tmp_path / "mine"
    save_model(base_encoder(settings), target, settings, TRAINED_ON, {"er@10": row})
    assert read_trained_on(target) == TRAINED_ON
    card = (target / "README.md").read_text(encoding="utf-8")
    assert "| er@10 | 9 | 40.0 | 50.0 | 10.0 (5.0 to 15.0) | 0.010 |" in card
    assert TRAINED_ON.dataset_sha256 in card
    assert json.loads((target / "finetune.json").read_text())["settings"]["margin"] == 0.05
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    retrieval = make_retriever("dense", {"model": str(target)}).retrieve(make_query(["one", "two"]))
    assert sorted(retrieval.ranking) == [0, 1]
    with pytest.raises(SettingError, match="exists already"):
        save_model(None, target, settings, TRAINED_ON, {})


def test_training_that_fails_is_an_error_of_one_line(
    small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Trainer:
        def train(self) -> None:
            raise RuntimeError("out of memory\nlots of lines")

    settings = _settings(small_model)
    monkeypatch.setattr(fitting, "_trainer", lambda *_: Trainer())
    said = r"training failed \(RuntimeError: out of memory lots of lines\)"
    with pytest.raises(RetrieverError, match=said):
        fit_encoder(base_encoder(settings), TRIPLETS, settings)
    with pytest.raises(SettingError, match="there are none to learn from"):
        fit_encoder(None, [], settings)
