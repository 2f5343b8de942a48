"""Leaderboard: runs, their comparison, and starting one."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from evidencebench_core.data import Store
from evidencebench_core.runs import RunStore
from tests.pages.asking import click, run_dialog
from tests.pages.conftest import OpenPage, finished_runs, texts
from tests.pages.waiting import jobs_ended


@pytest.fixture
def two_runs(sample_store: Store) -> str:
    """Ids of a bm25 and a lead run over the sample papers."""
    ids = finished_runs(sample_store, "bm25", "lead")
    return f"{ids['bm25']},{ids['lead']}"


@pytest.mark.usefixtures("sample_store")
def test_without_a_run_it_says_how_to_get_one(open_page: OpenPage) -> None:
    assert "Start one above" in texts(open_page("leaderboard"))


@pytest.mark.usefixtures("sample_store")
def test_the_button_opens_the_dialog(open_page: OpenPage) -> None:
    app = open_page("leaderboard")
    click(app, "Start or resume a run")
    assert app.selectbox(key="run.retriever").value == "bm25"


def test_a_run_is_started_from_the_dialog_and_finishes(open_page: OpenPage, sample_store: Store) -> None:
    app = AppTest.from_function(run_dialog, args=("sample_data",), default_timeout=60).run()
    app.selectbox(key="run.retriever").set_value("abstract-tail").run()
    app.button(key="run.start").click().run()
    assert not app.exception
    jobs_ended()
    (run,) = RunStore(sample_store).runs("sample_data")
    assert (run.retriever, run.tasks["er@10"], run.tasks["result-er@5"]) == ("abstract-tail", 6, 5)
    assert "Done after" in texts(open_page("leaderboard"))


def test_two_runs_are_compared_with_interval_and_p_value(open_page: OpenPage, two_runs: str) -> None:
    said = texts(open_page("leaderboard", task="er@10", compare=two_runs)).replace("\\", "")
    assert "bm25 against lead, ER@10" in said
    assert "95% interval" in said
    assert "by paired randomisation" in said
    assert "over the 6 instances scored in both" in said
    said = texts(open_page("leaderboard", task="result-er@5", compare="ffffffffffff")).replace("\\", "")
    assert "against" not in said  # a run that is gone
    assert "sample_exposure" in said  # skipped instances are named


@pytest.mark.usefixtures("sample_store")
def test_published_figures_are_labelled_as_other_instances(open_page: OpenPage) -> None:
    app = open_page("leaderboard")
    assert any("other instances" in fold.label for fold in app.expander)
    app = open_page("leaderboard", task="er@7")  # the paper has no figures for it
    assert not any("other instances" in fold.label for fold in app.expander)


def test_a_run_by_another_engine_is_chosen_in_the_dialog(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = AppTest.from_function(run_dialog, args=("sample_data",), default_timeout=60).run()
    assert [radio.options for radio in app.radio] == [["This machine", "A Ray cluster"]]
    monkeypatch.setattr("components.leaderboard.start.find_spec", lambda _: None)
    app.radio[0].set_value("ray").run()
    assert "Ray is not installed here" in app.warning[0].value
    assert next(button for button in app.button if button.label == "Start").disabled
    app.selectbox[0].set_value("llm").run()
    assert "The server's batch endpoint" in app.radio[0].options
