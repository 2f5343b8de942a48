"""A dataset whose gold is sufficient, not complete: every page that shows a recall on it says so."""

import json
from pathlib import Path

import pytest

from evidencebench_core.data import Store, ingest
from tests.factories import written
from tests.pages.app import SAMPLE, OpenPage, finished_runs

MARK = "sufficient, not complete"


@pytest.fixture
def partial_store(empty_store: Store, tmp_path: Path) -> Store:
    raws = json.loads(SAMPLE.read_text(encoding="utf-8"))
    for raw in raws.values():
        review = {"title": "<b>Trials</b>"}
        raw["construction"] = {"gold": "sufficient spans", "review": review, "aspects": ["model"]}
    ingest(empty_store, written(raws, tmp_path / "partial.json"))
    return empty_store


@pytest.mark.parametrize(
    ("page", "params"),
    [
        ("leaderboard", {}),
        ("compare", {}),
        ("missed", {}),
        ("missed", {"dataset": "partial", "instance": "sample_cohort"}),
        ("middle", {}),
        ("wording", {"part": "effect"}),
        ("dataset", {}),
        ("browse", {}),
        ("browse", {"instance": "sample_cohort"}),
    ],
)
def test_the_mark_stands_on_every_page(
    open_page: OpenPage, partial_store: Store, page: str, params: dict[str, str]
) -> None:
    finished_runs(partial_store, "bm25", "lead", dataset="partial")
    words = open_page(page, **params).words
    assert MARK in words
    assert "no expert's judgement" in words or params.get("instance")
    if page == "browse" and params:
        assert "Made from <b>Trials</b>; aspects proposed by a model." in words


@pytest.mark.usefixtures("sample_store")
def test_no_other_dataset_has_it(open_page: OpenPage) -> None:
    assert MARK not in open_page("leaderboard").words
    assert MARK not in open_page("browse", instance="sample_cohort").words
