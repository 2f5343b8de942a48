"""``train-ranker``, and the warnings on scores of what a model was trained on."""

from pathlib import Path

import pytest

from evidencebench_core.data import open_store
from evidencebench_core.errors import RetrieverError
from evidencebench_core.retrievers import encoding
from evidencebench_core.retrievers.encoding import TrainedOn
from evidencebench_core.retrievers.ranker import training
from evidencebench_core.retrievers.ranker.model_file import read_model
from evidencebench_core.runs import RunStore, execute, plan
from tests.conftest import ROOT
from tests.retrievers.conftest import hashed_vectors

pytestmark = pytest.mark.slow

TRAIN = ("train-ranker", "--dataset", "sample")
RUN = ("run", "--task", "er@10", "--json", "--retriever")


def test_it_checks_trains_keeps_and_warns(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVIDENCEBENCH_RANKER", str(tmp_path / "ranker"))
    monkeypatch.setattr(encoding, "encode", hashed_vectors)
    monkeypatch.setattr(training, "N_EPOCHS", 1)
    command("ingest", ROOT / "sample_data" / "sample_data.json", "--name", "sample")
    document = command.json(*TRAIN, "--folds", "3")
    assert (document["n_trained_on"], len(document["scores"])) == (6, 4)
    assert read_model(tmp_path / "ranker")[1] == document["weights"]
    # the answers of the cross-validation are a run whose score is the one in the table
    (of_folds,) = document["runs"]
    scored = command("score", of_folds["run"], "--json")
    assert scored.document == document["scores"]
    assert [score["n_trained_on"] for score in scored.document] == [0] * 4
    run = RunStore(open_store()).run(of_folds["run"])
    assert run.label == "evidence-ranker cross-validated [3 folds, seed 0]"
    with pytest.raises(RetrieverError, match="was cross-validated here"):
        execute(plan(open_store(), "sample", run.retriever, run.settings))
    ran, other = (command(*RUN, name, "--dataset", "sample") for name in ("evidence-ranker", "bm25"))
    assert "6 instances were in its model's training data" in ran.err
    again = command("score", ran.document["runs"][0]["run"], "--json")
    assert ran.document["scores"][0]["n_trained_on"] == again.document[0]["n_trained_on"] == 6
    assert other.document["scores"][0]["n_trained_on"] == 0
    assert [call.err.count("WARNING") for call in (scored, ran, again, other)] == [0, 1, 1, 0]
    # an encoder that was trained on one of the papers is told, too
    store, folder = open_store(), tmp_path / "encoder"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_text("{}")
    (first, *_) = store.ids("sample")
    TrainedOn("sample", 1, (store.paper_keys("sample")[first],)).write(folder)
    seen = command(*RUN, "dense", "--dataset", "sample", "--set", f"model={folder}")
    n_seen = seen.document["scores"][0]["n_trained_on"]
    assert f"{n_seen} instances" in seen.err
    printed = command(*TRAIN, "--folds", "2", "--encoder", folder, "--json")
    assert "the cross-validated scores are too good" in printed.err
    # A line a phase, and no bar in a file.
    assert "Cross-validating by paper in 2 folds\nTraining on" in printed.err
    (score, *_) = command.json("score", printed.document["runs"][0]["run"])
    assert score["n_trained_on"] == n_seen > 0
