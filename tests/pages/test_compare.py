"""Compare: runs, two of them closely."""

from __future__ import annotations

import pytest

from evidencebench_core.data import Store
from evidencebench_core.runs import store
from tests.pages.app import OpenPage, finished_runs


@pytest.fixture
def runs(sample_store: Store) -> dict[str, str]:
    """Ids of four runs over the sample papers."""
    return finished_runs(sample_store, "bm25", "lead", "oracle", "random")


def test_all_runs_with_the_best_two_that_saw_no_gold(open_page: OpenPage, runs: dict[str, str]) -> None:
    app = open_page("compare", task="er@10", family="design", slice="cohort study")
    assert set(app.multiselect[0].value) == set(runs.values())
    assert runs["oracle"] not in (app.selectbox[2].value, app.selectbox[3].value)
    for text in ("all 6 pairs", "n = 6 instances", "could detect a true difference of", "papers drawn whole"):
        assert text in app.words
    assert "design" in app.selectbox[4].options
    assert "n = 1 instances. A click opens one" in app.words  # there is one cohort study


def test_instances_by_divergence_and_two_rankings_in_columns(
    open_page: OpenPage, runs: dict[str, str]
) -> None:
    pair = {"a": runs["bm25"], "b": runs["lead"], "task": "er@10"}
    app = open_page("compare", **pair)
    assert "Divergence is 1 − rank-biased overlap" in app.words
    assert "Numbers are ranks" not in app.words
    app = open_page("compare", **pair, instance="sample_trial", order="rank", sort="overlap", desc="")
    assert "of them by one only" in app.words
    assert app.address["order"] == "rank"
    assert "instance" in open_page("compare", **pair, instance="<b>gone").problems


def test_every_pair_is_in_the_map_which_speaks_of_trained_runs_only_where_there_are(
    open_page: OpenPage, runs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("compare")
    assert "blue is ahead, orange behind" in app.words
    assert "has learnt from instances" not in app.words
    counts = {runs["lead"]: 6}
    monkeypatch.setattr(store, "n_trained_on", lambda db, run_id, *_: counts.get(run_id, 0))
    app = open_page("compare", runs=",".join(runs.values()))
    assert "has learnt from instances" in app.words


def test_a_pair_from_the_address(open_page: OpenPage, runs: dict[str, str]) -> None:
    chosen = [runs["lead"], runs["bm25"], runs["random"]]
    app = open_page("compare", runs=",".join(chosen), a=runs["random"], b=runs["lead"], outcome="both")
    assert "Holm's correction for all 3 pairs" in app.words
    assert "both: " in app.words
    app.selectbox[2].set_value(runs["lead"])
    assert app.run().address["a"] == runs["lead"]
    assert app.selectbox[3].value != runs["lead"]


def test_runs_that_are_gone_or_alone_are_said(open_page: OpenPage, runs: dict[str, str]) -> None:
    assert "Choose a second one" in open_page("compare", runs=runs["lead"]).words
    app = open_page("compare", runs=f"{runs['lead']},ffffffffffff,{runs['bm25']}")
    assert "ffffffffffff has no answers" in app.words
    assert "all 1 pairs" in app.words


@pytest.mark.usefixtures("sample_store")
def test_without_a_run_it_says_what_it_would_show(open_page: OpenPage) -> None:
    assert "differences with intervals, corrected p-values" in open_page("compare").words


def test_a_run_over_a_few_instances_narrows_no_comparison_unasked(
    open_page: OpenPage, sample_store: Store, runs: dict[str, str]
) -> None:
    few = finished_runs(sample_store, "abstract-tail", limit=2)["abstract-tail"]
    assert open_page("compare").multiselect[0].value == list(runs.values())
    assert "n = 2 instances" in open_page("compare", runs=f"{few},{runs['lead']}").words
