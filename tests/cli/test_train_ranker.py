"""``train-ranker``, and the warnings on scores of what a model was trained on."""

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
from evidencebench_core.retrievers import encoding
from evidencebench_core.retrievers.ranker import training
from evidencebench_core.retrievers.ranker.model_file import read_model
from evidencebench_core.runs import RunStore, execute, plan, trained_on_ids
from tests.cli.conftest import SAMPLE
from tests.factories import written

pytestmark = pytest.mark.slow

TASKS = {"er@optimal", "er@10", "result-er@optimal", "result-er@5"}
TRAIN = ("train-ranker", "--dataset", "sample")
RUN = ("run", "--task", "er@10", "--json", "--retriever")


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model of its own, few trees, and an encoder that hashes texts."""
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(tmp_path / "ranker.json"))

    def fake(_: str, texts: list[str]) -> NDArray[np.float32]:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        return np.array([[byte - 127.5 for byte in digest] for digest in digests], dtype=np.float32)

    monkeypatch.setattr(encoding, "encode", fake)
    monkeypatch.setattr(training, "Training", partial(training.Training, n_trees=10))


@pytest.mark.usefixtures("sample")
def test_it_validates_trains_and_keeps(command, tmp_path: Path) -> None:
    printed = command(*TRAIN, "--folds", "3", "--json")
    document = printed.document
    assert document["n_trained_on"] == document["n_instances"] == 6
    names = {"evidence-ranker", "structure", "abstract-tail", "hybrid", "bm25", "dense"}
    assert {(one["retriever"], one["task"]) for one in document["cross_validated"]} == {
        (name, task) for name in names for task in TASKS
    }
    assert len(document["comparisons"]) == 20
    assert "Use it: evidencebench run" in printed.err
    model, digest = read_model(tmp_path / "ranker.json")
    assert digest == document["weights"]
    assert model.notes["folds"] == 3
    assert set(model.notes["cross_validated"]) == TASKS
    # the answers of the cross-validation are a run whose score is the one in the table
    scored = command("score", document["run"], "--json")
    assert "WARNING" not in scored.err
    table = {one["task"]: one for one in document["cross_validated"] if one["retriever"] == "evidence-ranker"}
    for one in scored.document:
        assert one["aspect_recall"] == table[one["task"]]["aspect_recall"]
        assert one["n_trained_on"] == 0
    store = open_store()
    run = RunStore(store).run(document["run"])
    assert run.label == "evidence-ranker cross-validated"
    with pytest.raises(RetrieverError, match="had not seen its paper"):
        execute(plan(store, "sample", run.retriever, run.settings))


@pytest.mark.usefixtures("sample")
def test_scores_on_the_training_data_are_warned_of(command) -> None:
    assert command(*TRAIN, "--no-cv").code == 0
    ran, other = (command(*RUN, name, "--dataset", "sample") for name in ("evidence-ranker", "bm25"))
    assert "6 of 6 scored instances were in the training data of this model" in ran.err
    run_id = ran.document["run"]
    scored = command("score", run_id, "--json")
    assert ran.document["n_trained_on"] == scored.document[0]["n_trained_on"] == 6
    assert other.document["n_trained_on"] == 0
    compared = command("compare", run_id, other.document["run"], "--task", "er@10")
    assert [one.err.count("WARNING") for one in (ran, scored, compared, other)] == [1, 1, 1, 0]
    assert "training data" in command("runs").out
    store = open_store()
    runs = RunStore(store).runs("sample")
    assert {one.retriever: one.n_trained_on for one in runs if one.tasks.get("er@10")} == {
        "bm25": 0,
        "evidence-ranker": 6,
    }
    assert len(trained_on_ids(store, RunStore(store).run(run_id))) == 6


@pytest.mark.usefixtures("sample")
def test_the_same_paper_counts_in_another_dataset(command, tmp_path: Path) -> None:
    assert command(*TRAIN, "--no-cv").code == 0
    raw = json.loads(SAMPLE.read_text(encoding="utf-8"))
    first, second = list(raw)[:2]
    known = json.loads(json.dumps(raw[first]).replace(f"{first}_aspect", "known_aspect"))
    unknown = {**raw[second], "paper_id": "another", "hypothesis": "Something else."}
    command("ingest", written({"known": known, second: unknown}, tmp_path / "other.json"))
    ran = command(*RUN, "evidence-ranker", "--dataset", "other")
    store = open_store()
    # of the other's id a dataset of another content says nothing
    assert trained_on_ids(store, RunStore(store).run(ran.document["run"])) == {"known"}
    assert "1 of 2 scored instances" in ran.err


@pytest.mark.usefixtures("sample")
def test_an_encoder_that_was_trained_on_them_is_told(command, tmp_path: Path) -> None:
    store = open_store()
    rows = store.rows("sample", store.ids("sample"))
    folder = tmp_path / "encoder"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_text("{}")
    trained_on = {"dataset_sha256": "", "instance_ids": [], "paper_ids": [rows[0].paper_id]}
    written(trained_on, folder / "trained_on.json")
    met = sum(row.paper_id == rows[0].paper_id for row in rows)
    run = command(*RUN, "dense", "--dataset", "sample", "--set", f"model={folder}")
    assert run.document["n_trained_on"] == met
    assert f"{met} of 6 scored instance" in run.err
    printed = command(*TRAIN, "--folds", "2", "--encoder", folder, "--json")
    assert "the cross-validated scores are too good" in printed.err
    assert command.json("score", printed.document["run"])[0]["n_trained_on"] == met


@pytest.mark.usefixtures("sample")
def test_ctrl_c_leaves_nothing(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evidencebench_core.retrievers.ranker.training.fit_ranker", interrupted)
    assert command(*TRAIN, "--no-cv").code == 130
    assert not (tmp_path / "ranker.json").exists()
    assert RunStore(open_store()).runs("sample") == ()


@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("--folds 7", "papers"),
        ("--folds 1", "at least 2"),
        ("--seed -1", "seed"),
        ("--no-cv --ablation", "ablation"),
    ],
)
def test_what_cannot_be_asked(command, line: str, reason: str) -> None:
    printed = command(*TRAIN, *line.split())
    assert printed.code == 1
    assert reason in printed.err


@pytest.mark.usefixtures("sample")
def test_the_ablation_takes_one_part_at_a_time(command, monkeypatch: pytest.MonkeyPatch) -> None:
    few = tuple(one for one in training.ABLATIONS if one.name in ("without place", "without selection step"))
    monkeypatch.setattr(training, "ABLATIONS", few)
    printed = command(*TRAIN, "--folds", "2", "--ablation", "--json")
    assert "min at the pace of this one" in printed.err
    assert {(one["other"], one["task"]) for one in printed.document["ablation"]} == {
        (one.name, task) for one in few for task in TASKS
    }
    out = command(*TRAIN, "--folds", "2").out
    assert all(text in out for text in ("cross-validated by paper in 2 folds", "p (Holm)", "abstract-tail"))
