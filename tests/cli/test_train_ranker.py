from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencebench_core.data import open_store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers.encoding import Model, encoder
from evidencebench_core.retrievers.ranker import training
from evidencebench_core.retrievers.ranker.model_file import read_model
from evidencebench_core.runs import RunStore, execute, leaderboard, plan, trained_on_ids
from tests.cli.conftest import Command

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "sample_data.json"
TASKS = {"er@optimal", "er@10", "result-er@optimal", "result-er@5"}


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model of its own, few trees, and an encoder that hashes texts."""
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(tmp_path / "ranker.json"))

    def fake(_: Model, texts: list[str]) -> NDArray[np.float32]:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        return np.array([[byte - 127.5 for byte in digest] for digest in digests], dtype=np.float32)

    monkeypatch.setattr(encoder, "_encode", fake)
    monkeypatch.setattr(training, "Training", partial(training.Training, n_trees=10))


@pytest.fixture
def sample(command: Command) -> str:
    assert command("ingest", SAMPLE, "--name", "sample").code == 0
    return "sample"


def test_it_validates_trains_and_keeps(command: Command, sample: str, tmp_path: Path) -> None:
    printed = command("train-ranker", "--dataset", sample, "--folds", "3", "--json")
    assert printed.code == 0, printed.err
    found = printed.document
    assert found["n_trained_on"] == found["n_instances"] == 6
    names = {"evidence-ranker", "structure", "abstract-tail", "hybrid", "bm25", "dense"}
    assert {(one["retriever"], one["task"]) for one in found["cross_validated"]} == {
        (name, task) for name in names for task in TASKS
    }
    assert len(found["comparisons"]) == 20
    assert "Use it: evidencebench run" in printed.err
    model, digest = read_model(tmp_path / "ranker.json")
    assert digest == found["weights"]
    assert model.notes["folds"] == 3
    told = model.notes["cross_validated"]
    assert isinstance(told, dict)
    assert set(told) == TASKS
    # the answers of the cross-validation are a run whose score is the one in the table
    scored = command("score", found["run"], "--json")
    assert "WARNING" not in scored.err
    table = {one["task"]: one for one in found["cross_validated"] if one["retriever"] == "evidence-ranker"}
    for one in scored.document:
        assert one["aspect_recall"] == table[one["task"]]["aspect_recall"]
        assert one["n_trained_on"] == 0
    store = open_store()
    run = RunStore(store).run(found["run"])
    assert run.label == "evidence-ranker cross-validated"
    with pytest.raises(RetrieverError, match="had not seen its paper"):
        execute(plan(store, sample, run.retriever, run.settings))


def test_scores_on_the_training_data_are_warned_of(command: Command, sample: str) -> None:
    assert command("train-ranker", "--dataset", sample, "--no-cv").code == 0
    task = ("--task", "er@10")
    ran = command("run", "--dataset", sample, "--retriever", "evidence-ranker", *task, "--json")
    assert "WARNING" in ran.err
    assert "6 of 6 scored instances were in the training data of this model" in ran.err
    run_id = ran.document["run"]
    assert ran.document["n_trained_on"] == 6
    scored = command("score", run_id, "--json")
    assert scored.document[0]["n_trained_on"] == 6
    assert "WARNING" in scored.err
    other = command("run", "--dataset", sample, "--retriever", "bm25", *task, "--json")
    assert "WARNING" not in other.err
    assert other.document["n_trained_on"] == 0
    compared = command("compare", run_id, other.document["run"], *task)
    assert compared.err.count("WARNING") == 1
    assert "training data" in command("runs").out
    store = open_store()
    assert {row.run.retriever: row.run.n_trained_on for row in leaderboard(store, sample, "er@10")} == {
        "bm25": 0,
        "evidence-ranker": 6,
    }
    assert len(trained_on_ids(store, RunStore(store).run(run_id))) == 6


def test_the_same_paper_counts_in_another_dataset(command: Command, sample: str, tmp_path: Path) -> None:
    assert command("train-ranker", "--dataset", sample, "--no-cv").code == 0
    raw = json.loads(SAMPLE.read_text(encoding="utf-8"))
    first, second = list(raw)[:2]
    other = {
        "known": raw[first],
        second: {**raw[second], "paper_id": "another", "hypothesis": "Something else."},
    }
    text = json.dumps(other).replace(f"{first}_aspect", "known_aspect")
    (tmp_path / "other.json").write_text(text, encoding="utf-8")
    assert command("ingest", tmp_path / "other.json", "--name", "other").code == 0
    ran = command("run", "--dataset", "other", "--retriever", "evidence-ranker", "--task", "er@10", "--json")
    store = open_store()
    run = RunStore(store).run(ran.document["run"])
    assert trained_on_ids(store, run) == {
        "known"
    }  # of the other's id a dataset of another content says nothing
    assert "1 of 2 scored instances" in ran.err


def test_an_encoder_that_was_trained_on_them_is_told(
    command: Command, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    rows = store.rows(sample, store.ids(sample))
    folder = tmp_path / "encoder"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_text("{}")
    trained_on = {"dataset_sha256": "", "instance_ids": [], "paper_ids": [rows[0].paper_id]}
    (folder / "trained_on.json").write_text(json.dumps(trained_on))
    met = sum(row.paper_id == rows[0].paper_id for row in rows)
    run = command(
        "run",
        "--dataset",
        sample,
        "--retriever",
        "dense",
        "--set",
        f"model={folder}",
        "--task",
        "er@10",
        "--json",
    )
    assert run.document["n_trained_on"] == met
    assert f"{met} of 6 scored instance" in run.err
    printed = command("train-ranker", "--dataset", sample, "--folds", "2", "--encoder", folder, "--json")
    assert "the cross-validated scores are too good" in printed.err
    assert command("score", printed.document["run"], "--json").document[0]["n_trained_on"] == met


def test_ctrl_c_leaves_nothing(
    command: Command, sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evidencebench_core.retrievers.ranker.training.fit_ranker", interrupted)
    assert command("train-ranker", "--dataset", sample, "--no-cv").code == 130
    assert not (tmp_path / "ranker.json").exists()
    assert RunStore(open_store()).runs(sample) == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--folds", "7"), "papers"),
        (("--folds", "1"), "at least 2"),
        (("--seed", "-1"), "seed"),
        (("--no-cv", "--ablation"), "ablation"),
        (("--other-encoder", "minilm"), "--ablation"),
    ],
)
def test_what_cannot_be_asked(command: Command, sample: str, words: tuple[str, ...], said: str) -> None:
    printed = command("train-ranker", "--dataset", sample, *words)
    assert printed.code == 1
    assert said in printed.err


def test_the_ablation_takes_one_part_at_a_time(
    command: Command, sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(one for one in training.ABLATIONS if one.name in ("without place", "without selection step"))
    monkeypatch.setattr(training, "ABLATIONS", few)
    printed = command("train-ranker", "--dataset", sample, "--folds", "2", "--ablation", "--json")
    assert printed.code == 0, printed.err
    assert "min at the pace of this one" in printed.err
    assert {(one["other"], one["task"]) for one in printed.document["ablation"]} == {
        (one.name, task) for one in few for task in TASKS
    }


def test_the_tables_are_printed(command: Command, sample: str) -> None:
    printed = command("train-ranker", "--dataset", sample, "--folds", "2")
    assert "cross-validated by paper in 2 folds" in printed.out
    assert "p (Holm)" in printed.out
    assert "abstract-tail" in printed.out
