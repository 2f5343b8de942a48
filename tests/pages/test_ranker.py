"""The rankers in the app: reasons, the first use without a model, training, what was learnt, runs on seen papers."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.app.choices import Choice
from components.app.reading import Reading
from evidencebench_core.data import Store, ingest
from evidencebench_core.retrievers.ranker.model_file import default_model_path, default_retriever, write_model
from evidencebench_core.runs import RunStore, execute, keep_trained, plan
from evidencebench_core.tasks import task_named
from tests.factories import raw_dataset, written
from tests.pages.asking import run_dialog, said
from tests.pages.conftest import OpenPage
from tests.pages.waiting import jobs_ended
from tests.retrievers.ranker.made_up import small_model


@pytest.fixture
def tiny_store(sample_store: Store, tmp_path: Path) -> Store:
    """The sample papers, and six other instances that count as real."""
    ingest(sample_store, written(raw_dataset(6), tmp_path / "tiny.json"), "tiny")
    return sample_store


def seen_by_small_model(store: Store) -> None:
    """Write a model that was trained on two of the tiny instances."""
    info = store.dataset("tiny")
    notes = {
        "cross_validated": {"er@10": {"aspect_recall": 0.5, "ci95": [0.4, 0.6], "n_scored": 6}, "er@5": "?"},
        "folds": 5,
    }
    model = small_model(dataset="tiny", sha256=info.sha256, ids=("tiny_0", "tiny_1"), notes=notes)
    keep_trained(store, write_model(model, default_model_path()), model.trained_on)


# -- without a model ---------------------------------------------------------------------------------


def test_choosing_it_without_a_model_says_how_to_come_by_one(open_page: OpenPage, tiny_store: Store) -> None:
    (first, *_) = tiny_store.ids("tiny")
    app = open_page("browse", dataset="tiny", instance=first, r="evidence-ranker~structure")
    words = said(app)
    assert "needs a trained model, and there is none yet" in words
    assert "**structure** works at once" in words
    assert "CC BY-NC-SA 4.0" in words
    labels = [button.label for button in app.button]
    assert "Train on tiny" in labels
    assert "Accept the licence, download and train" in labels
    assert not app.error
    assert "Why each was picked" in words  # of structure, which answered


def test_a_fusion_with_it_is_told_the_same(open_page: OpenPage, tiny_store: Store) -> None:
    (first, *_) = tiny_store.ids("tiny")
    app = open_page(
        "browse", dataset="tiny", instance=first, r="hybrid;of=bm25,evidence-ranker~evidence-ranker"
    )
    assert "hybrid and evidence-ranker need a trained model" in said(app)
    assert not app.error


def test_the_sample_papers_are_not_learnt_from(open_page: OpenPage, sample_store: Store) -> None:
    (first, *_) = sample_store.ids("sample_data")
    app = open_page("browse", dataset="sample_data", instance=first, r="evidence-ranker")
    assert "nothing true of others can be learnt" in said(app)
    assert not [button for button in app.button if button.label.startswith("Train on")]


@pytest.mark.usefixtures("tiny_store")
def test_a_run_of_it_cannot_be_started_without_a_model() -> None:
    app = AppTest.from_function(run_dialog, args=("tiny",), default_timeout=60).run()
    app.selectbox(key="run.retriever").set_value("evidence-ranker").run()
    assert not app.exception
    assert "needs a trained model" in said(app)
    assert app.button(key="run.start").disabled
    app.selectbox(key="run.retriever").set_value("structure").run()
    assert not app.button(key="run.start").disabled


def test_a_file_that_is_no_model_is_told_and_trained_over(open_alone: OpenPage, sample_store: Store) -> None:
    assert sample_store.datasets()
    default_model_path().write_text("{}")
    words = said(open_alone("models", part="ranker"))
    assert "is no trained ranker" in words
    assert "No model is trained yet" in words


def test_one_click_trains(open_alone: OpenPage, tiny_store: Store) -> None:
    app = open_alone("models", part="ranker")
    assert "No model is trained yet" in said(app)
    app.button(key="train").click().run()
    assert not app.exception
    jobs_ended(180)
    assert default_retriever() == "evidence-ranker"
    words = said(open_alone("models", part="ranker"))
    assert "Trained on 6 instances. Cross-validated: ER@Optimal" in words
    assert "**Trained on** tiny: 6 instances of 6 papers" in words
    (run,) = RunStore(tiny_store).runs("tiny")
    assert run.label == "evidence-ranker cross-validated"
    assert run.n_trained_on == 0


# -- with a model ------------------------------------------------------------------------------------


def test_what_was_learnt_is_shown_and_measured(open_alone: OpenPage, tiny_store: Store) -> None:
    seen_by_small_model(tiny_store)
    app = open_alone("models", part="ranker")
    words = said(app)
    assert "**Trained on** tiny: 2 instances of 2 papers" in words
    assert "Cross-validated by paper in 5 folds" in words
    assert "it ranks as for all aspects" in words  # the small model knows no results
    app.button(key="weigh").click().run()
    jobs_ended()
    app.run()
    assert not app.exception
    assert "6 papers, 72 sentences" in said(app)  # 12 sentences each


def test_retraining_changes_the_answers(open_page: OpenPage, tiny_store: Store) -> None:
    from components.app import resources

    dataset = tiny_store.dataset("tiny")
    instance = resources.instance(dataset, "tiny_0")
    task = task_named("er@optimal")
    reading = Reading(instance, "Tea lowers blood pressure.", task, dataset.sha256, dataset)
    write_model(small_model("place in paper"), default_model_path())
    last = resources.retrieval(reading, Choice("evidence-ranker")).ranking[0]
    write_model(small_model("from section's end"), default_model_path())
    assert last == 11
    assert resources.retrieval(reading, Choice("evidence-ranker")).ranking[0] != last


# -- runs on what a model has seen -------------------------------------------------------------------


def test_runs_on_seen_instances_are_marked_in_words(open_page: OpenPage, tiny_store: Store) -> None:
    seen_by_small_model(tiny_store)
    for retriever in ("evidence-ranker", "lead"):
        for _ in execute(plan(tiny_store, "tiny", retriever)):
            pass
    marked = {run.retriever: run.n_trained_on for run in RunStore(tiny_store).runs("tiny")}
    assert marked == {"evidence-ranker": 2, "lead": 0}
    for page in ("leaderboard", "compare"):
        warnings = [warning.value.replace("\\", "") for warning in open_page(page, dataset="tiny").warning]
        assert len(warnings) == 1
        assert "Trained on what it is scored on: **evidence-ranker**" in warnings[0]
        assert "2 of 6 instances" in warnings[0]


def test_a_paper_that_the_model_has_seen_is_said_where_it_is_read(
    open_page: OpenPage, tiny_store: Store
) -> None:
    seen_by_small_model(tiny_store)
    for instance, retriever, told in (
        ("tiny_0", "evidence-ranker", 1),
        ("tiny_0", "hybrid;of=bm25,evidence-ranker", 1),
        ("tiny_0", "bm25", 0),
        ("tiny_5", "evidence-ranker", 0),
    ):
        app = open_page("browse", dataset="tiny", instance=instance, r=retriever)
        assert sum("was trained on this paper" in one.value for one in app.warning) == told, (
            instance,
            retriever,
        )
