"""The rankers in the app: the first use without a model, and what a model has seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from tests.factories import raw_dataset, written
from tests.pages.app import OpenPage, drawn, run_dialog
from tests.retrievers.ranker.made_up import small_model

TINY = {"dataset": "tiny", "instance": "tiny_0"}
pytestmark = pytest.mark.usefixtures("hashing_encoder")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A file of six instances that count as real."""
    return written(raw_dataset(6), tmp_path / "tiny.json")


def test_choosing_it_without_a_model_says_how_to_come_by_one(
    open_page: OpenPage, sample_store: Store, tiny: Path
) -> None:
    app = open_page("browse", instance="sample_trial", r="evidence-ranker")
    assert not [label for label in app.labels() if label.startswith("Train on")]  # of invented papers
    ingest(sample_store, tiny, "tiny")
    app = open_page("browse", **TINY, r="evidence-ranker~structure")
    assert "needs a trained model, and there is none yet" in app.words
    assert "Train on tiny" in app.labels()
    assert not app.error
    assert "What each pick of structure adds" in app.words  # it answered
    app.run(r="hybrid;of=bm25,evidence-ranker~evidence-ranker")
    assert "hybrid and evidence-ranker need a trained model" in app.words
    app = drawn(run_dialog, "start", "tiny")
    for retriever, is_missing in (("evidence-ranker", True), ("structure", False)):
        app.selectbox(key="run.retriever").set_value(retriever).run()
        assert ("needs a trained model" in app.words) == is_missing
        assert app.button(key="run.Start").disabled == is_missing


def test_a_paper_that_the_model_has_seen_is_said_where_it_is_read(
    open_page: OpenPage, empty_store: Store, tiny: Path
) -> None:
    digest = ingest(empty_store, tiny, "tiny").dataset.sha256
    write_model(small_model(dataset="tiny", sha256=digest, ids=("tiny_0", "tiny_1")), default_model_path())
    for instance, retriever, n_warnings in (
        ("tiny_0", "evidence-ranker", 1),
        ("tiny_0", "hybrid;of=bm25,evidence-ranker", 1),
        ("tiny_5", "evidence-ranker", 0),
    ):
        app = open_page("browse", dataset="tiny", instance=instance, r=retriever)
        assert app.problems.count("was trained on this paper") == n_warnings
