"""Leaderboard: runs, their comparison, and starting one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from components.app import page, resources
from evidencebench_core.annotation.provenance import GoldMakers
from evidencebench_core.data import Store, ingest
from evidencebench_core.metrics import ceiling_range
from evidencebench_core.runs import RunStore
from tests.factories import steiner_instance, steiner_triples, written
from tests.pages.app import App, OpenPage, drawn, finished_runs, run_dialog


@pytest.mark.usefixtures("sample_store")
def test_without_a_run_its_button_opens_the_dialog(open_page: OpenPage) -> None:
    app = open_page("leaderboard")
    assert "Start one above" in app.words
    assert any("other instances" in label for label in app.labels("expander"))  # published figures
    app.press("Start or resume a run")
    assert app.selectbox(key="run.retriever").value == "bm25"
    folds = open_page("leaderboard", task="er@7").labels("expander")
    assert not any("other instances" in label for label in folds)  # the paper has no figures for it


def test_a_run_is_started_from_the_dialog_and_finishes(open_page: OpenPage, sample_store: Store) -> None:
    app = drawn(run_dialog, "sample_data")
    app.selectbox(key="run.retriever").set_value("abstract-tail").run()
    app.ask("Start")
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.retriever, run.tasks["er@10"], run.tasks["result-er@5"]) == ("abstract-tail", 6, 5)
    assert "Done after" in open_page("leaderboard").words


def test_two_runs_are_compared_with_interval_and_p_value(open_page: OpenPage, sample_store: Store) -> None:
    ids = finished_runs(sample_store, "bm25", "lead")
    words = open_page("leaderboard", task="er@10", compare=f"{ids['bm25']},{ids['lead']}").words
    assert "bm25 against lead, ER@10" in words
    assert "95% interval" in words
    assert "over the 6 instances scored in both" in words
    words = open_page("leaderboard", task="result-er@5", compare="ffffffffffff").words
    assert "against" not in words
    assert "not here (any more): run ffffffffffff" in words
    assert "sample_exposure" in words  # skipped instances are named


@pytest.mark.usefixtures("sample_store")
def test_a_run_by_another_engine_is_chosen_in_the_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    app = drawn(run_dialog, "sample_data")
    assert app.radio[0].options == ["This machine", "A Ray cluster"]
    monkeypatch.setattr("components.leaderboard.start.find_spec", lambda _: None)
    app.radio[0].set_value("ray").run()
    assert "Ray is not installed here" in app.problems
    assert app.named("button", "Start").disabled
    app.selectbox[0].set_value("llm").run()
    assert "The server's batch endpoint" in app.radio[0].options


def test_a_hard_cover_has_a_range_for_its_ceiling(
    open_page: OpenPage, empty_store: Store, tmp_path: Path
) -> None:
    ingest(empty_store, written({"steiner": steiner_instance()}, tmp_path / "hard.json"))
    finished_runs(empty_store, "oracle", dataset="hard")
    low, high = ceiling_range(steiner_triples(45), 10) or (1.0, 1.0)
    text = f"at least {100 * low:.1f}%, at most {100 * high:.1f}%"
    app = open_page("leaderboard", task="er@10")
    assert tables(app).count(text) == 2  # the run's, and the dataset's
    app.go("browse", instance="steiner", r="oracle", task="er@10")
    assert tables(app).count(text) == 1
    assert "is the best that was found" in app.words


def tables(app: App) -> str:
    return " ".join(one.proto.json for one in app.get("bidi_component") if "table" in one.proto.json)


def test_a_run_is_renamed_and_deleted_with_what_depends_on_it(
    open_page: OpenPage, sample_store: Store
) -> None:
    ids = finished_runs(sample_store, "bm25", "lead")
    app = open_page("leaderboard")
    app.selectbox(key="keeping.run").set_value(ids["lead"]).run()
    app.fill("Name", "My first").press("Rename")
    assert {run.label for run in RunStore(sample_store).runs()} == {"bm25", "My first"}
    app.named("checkbox", "Delete My first, with 22 answers").check()
    app.run().press("Delete")
    assert "Deleted My first, with 22 answers." in app.words
    assert [run.id for run in RunStore(sample_store).runs()] == [ids["bm25"]]


def test_a_model_akin_to_those_of_the_gold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Construction rule 48."""
    monkeypatch.setattr(resources, "gold_makers", lambda _: GoldMakers(("GPT-4",), 0))
    said: list[str] = []
    monkeypatch.setattr(page.st, "caption", said.append)

    def run(retriever: str, model: str) -> Any:
        return SimpleNamespace(retriever=retriever, settings={"model": model})

    dataset: Any = SimpleNamespace(gold_notes=())
    page.tell_of_gold(dataset, [run("llm", "claude-3"), run("dense", "gpt-embed")])
    assert said == []
    page.tell_of_gold(dataset, [run("llm", "gpt-4o")])
    assert "made with GPT" in said[0]
