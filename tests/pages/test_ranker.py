"""The rankers in the app: the first use without a model, training, what was learnt, runs on seen papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.app import resources
from components.app.choices import Choice
from components.app.reading import Reading, retrieval
from evidencebench_core.data import Store, ingest
from evidencebench_core.retrievers.ranker.model_file import default_model_path, write_model
from evidencebench_core.tasks import task_named
from tests.factories import raw_dataset, written
from tests.pages.app import OpenPage, drawn, start_run
from tests.retrievers.ranker.made_up import small_model

TINY = {"dataset": "tiny", "instance": "tiny_0"}


@pytest.fixture
def tiny_store(sample_store: Store, tmp_path: Path) -> Store:
    """The sample papers, and six other instances that count as real."""
    ingest(sample_store, written(raw_dataset(6), tmp_path / "tiny.json"), "tiny")
    return sample_store


@pytest.fixture
def seen_store(tiny_store: Store) -> Store:
    """The same with a model that was trained on two of the tiny instances."""
    model = small_model(
        dataset="tiny",
        sha256=tiny_store.dataset("tiny").sha256,
        ids=("tiny_0", "tiny_1"),
    )
    write_model(model, default_model_path())
    return tiny_store


# -- without a model ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("tiny_store")
def test_choosing_it_without_a_model_says_how_to_come_by_one(open_page: OpenPage) -> None:
    app = open_page("browse", **TINY, r="evidence-ranker~structure")
    assert "needs a trained model, and there is none yet" in app.words
    assert "**structure** works at once" in app.words
    assert "Train on tiny" in app.labels()
    assert not app.error
    assert "What each pick of structure adds" in app.words  # it answered
    app = open_page("browse", **TINY, r="hybrid;of=bm25,evidence-ranker~evidence-ranker")
    assert "hybrid and evidence-ranker need a trained model" in app.words


@pytest.mark.usefixtures("sample_store")
def test_the_sample_papers_are_not_learnt_from(open_page: OpenPage) -> None:
    app = open_page("browse", instance="sample_trial", r="evidence-ranker")
    assert "nothing true of others can be learnt" in app.words
    assert not [label for label in app.labels() if label.startswith("Train on")]


@pytest.mark.usefixtures("tiny_store")
def test_a_run_of_it_cannot_be_started_without_a_model() -> None:
    app = drawn(start_run, "tiny")
    for retriever, told in (("evidence-ranker", True), ("structure", False)):
        app.selectbox(key="run.retriever").set_value(retriever).run()
        assert ("needs a trained model" in app.words) == told
        assert app.button(key="run.Start").disabled == told


# -- with a model ------------------------------------------------------------------------------------


def test_retraining_changes_the_answers(tiny_store: Store) -> None:
    dataset = tiny_store.dataset("tiny")
    instance = resources.instance(dataset, "tiny_0")
    reading = Reading(dataset, instance, "Tea is hot.", task_named("er@optimal"))
    first = []
    for feature in ("place in paper", "from section's end"):
        write_model(small_model(feature), default_model_path())
        first.append(retrieval(reading, Choice("evidence-ranker")).ranking[0])
    assert first[0] == 11 != first[1]


# -- runs on what a model has seen -------------------------------------------------------------------


@pytest.mark.usefixtures("seen_store")
@pytest.mark.parametrize(
    ("instance", "retriever", "n_warnings"),
    [
        ("tiny_0", "evidence-ranker", 1),
        ("tiny_0", "hybrid;of=bm25,evidence-ranker", 1),
        ("tiny_0", "bm25", 0),
        ("tiny_5", "evidence-ranker", 0),
    ],
)
def test_a_paper_that_the_model_has_seen_is_said_where_it_is_read(
    open_page: OpenPage, instance: str, retriever: str, n_warnings: int
) -> None:
    app = open_page("browse", dataset="tiny", instance=instance, r=retriever)
    assert app.problems.count("was trained on this paper") == n_warnings
