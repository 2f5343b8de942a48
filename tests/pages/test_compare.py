"""Compare: runs, imported systems, two of them closely."""

from __future__ import annotations

import json

import pytest

from evidencebench_core.data import Store
from tests.pages.conftest import OpenPage, address, finished_runs, texts


@pytest.fixture
def runs(sample_store: Store) -> dict[str, str]:
    """Ids of four runs over the sample papers."""
    return finished_runs(sample_store, "bm25", "lead", "oracle", "random")


def imported(store: Store) -> None:
    rows = [("GPT", [1.0, 0.5, 0.3]), ("BM<b>25", [0.5, 0.25, 0.3])]
    with store.write() as db:
        db.executemany(
            "INSERT INTO imported_scores (collection, system, strategy, task, recalls, source, imported_at)"
            " VALUES ('c', ?, '', 'er@optimal', ?, 'f', '')",
            [(name, json.dumps(values)) for name, values in rows],
        )


def said(app: object) -> str:
    return texts(app).replace("\\", "")  # type: ignore[arg-type]


@pytest.mark.usefixtures("sample_store")
def test_without_a_run_it_says_what_it_would_show(open_page: OpenPage) -> None:
    assert "differences with intervals, corrected p-values" in said(open_page("compare"))


def test_all_runs_with_the_best_two_that_saw_no_gold(open_page: OpenPage, runs: dict[str, str]) -> None:
    app = open_page("compare", task="er@10")
    assert set(app.multiselect[0].value) == set(runs.values())
    words = said(app)
    assert "Holm's correction for all 6 pairs" in words
    assert "n = 6 instances" in words
    assert runs["oracle"] not in (app.selectbox[2].value, app.selectbox[3].value)
    assert "could detect a true difference of" in words
    assert "papers drawn whole" in words


def test_a_pair_from_the_address(open_page: OpenPage, runs: dict[str, str]) -> None:
    chosen = [runs["lead"], runs["bm25"], runs["random"]]
    app = open_page("compare", runs=",".join(chosen), a=runs["random"], b=runs["lead"], outcome="both")
    assert "Holm's correction for all 3 pairs" in said(app)
    assert "both: " in said(app)
    app.selectbox[2].set_value(runs["lead"]).run()
    assert not app.exception
    assert address(app)["a"] == runs["lead"]
    assert app.selectbox[3].value != runs["lead"]


def test_slices_by_design_where_the_data_names_it(open_page: OpenPage, runs: dict[str, str]) -> None:
    app = open_page("compare", family="design", slice="cohort study")
    assert "design" in app.selectbox[4].options
    assert "n = 1 instances. A click opens one" in said(app)


def test_runs_that_are_gone_or_alone_are_said(open_page: OpenPage, runs: dict[str, str]) -> None:
    assert "Choose a second one" in said(open_page("compare", runs=runs["lead"]))
    app = open_page("compare", runs=f"{runs['lead']},ffffffffffff,{runs['bm25']}")
    assert "ffffffffffff has no answers" in said(app)
    assert "all 1 pairs" in said(app)


@pytest.mark.usefixtures("sample_store")
def test_nothing_imported_says_how(open_page: OpenPage) -> None:
    assert "evidencebench import-scores" in said(open_page("compare", source="imported"))


def test_imported_systems_stand_alone(open_page: OpenPage, empty_store: Store) -> None:
    imported(empty_store)
    app = open_page("compare", source="imported")
    words = said(app)
    assert "never with runs" in words
    assert "+25.0 points" in words
    assert app.multiselect[0].options == ["GPT", "BM<b>25"]
    assert "n = 3 instances" in words
    assert "neither picks nor papers" in words
    assert "there are scores for er@optimal" in said(open_page("compare", source="imported", task="er@10"))
