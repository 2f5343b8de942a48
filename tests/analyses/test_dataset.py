"""What a dataset is made of."""

from pathlib import Path

import pytest

from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.data import Store, ingest, open_store
from tests.factories import raw_instance, written

PAPER = [
    "# Title",  # other
    "> We asked two things.",  # abstract
    "# Methods",
    "We measured.",
    "# Results",
    "It fell.",
    "It rose a lot.",
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    raw = {
        "a": raw_instance(PAPER, {"x": [1, 5], "y": [5, 6], "z": [3]}, ["x", "y"], paper_id="p1"),
        "b": raw_instance(PAPER, {"x": [1]}, paper_id="p1"),
    }
    store = open_store(tmp_path / "store.sqlite")
    ingest(store, written(raw, tmp_path / "tiny.json"), name="tiny")
    return store


def test_the_overview_by_hand(store: Store) -> None:
    overview = dataset_report(store, "tiny").tables["overview"].set_index("quantity")
    columns = ["n", "min", "mean", "median", "max"]
    # Tokens: 1 + 4 + 1 + 2 + 1 + 2 + 4 = 15, twice the same paper.
    assert overview.loc["tokens", columns].tolist() == [2, 15, 15, 15, 15]
    assert overview.loc["sentences", columns].tolist() == [2, 7, 7, 7, 7]
    assert overview.loc["aspects", columns].tolist() == [2, 1, 2, 2, 3]
    assert overview.loc["result aspects", columns].tolist() == [1, 2, 2, 2, 2]  # b has none
    assert overview.loc["optimal K", columns].tolist() == [2, 1, 1.5, 1.5, 2]
    assert overview.loc["result optimal K", columns].tolist() == [1, 1, 1, 1, 1]
    assert overview.loc["sentences that cover an aspect", columns].tolist() == [2, 1, 2.5, 2.5, 4]
    # x 2, y 2, z 1 and x 1; sentence 5 covers two aspects, 1, 3, 6 and 1 cover one.
    assert overview.loc["sentences per aspect", columns].tolist() == [4, 1, 1.5, 1.5, 2]
    assert overview.loc["aspects per covering sentence", columns].tolist() == [5, 1, 1.2, 1, 2]


def test_places_by_hand(store: Store) -> None:
    report = dataset_report(store, "tiny")
    sections = report.tables["sections"].set_index("where")
    # Results hold sentences 4, 5, 6, twice; 5 and 6 cover x and y of a; y stands nowhere else.
    assert sections.loc["results"].to_dict() == {
        "n_sentences": 6,
        "n_covering": 2,
        "share_covering": pytest.approx(1 / 3),
        "n_aspects": 2,
        "share_aspects": 0.5,
        "n_only": 1,
        "share_only": 0.25,
    }
    assert sections.loc["abstract", ["n_sentences", "n_covering", "n_aspects", "n_only"]].tolist() == [
        2,
        2,
        2,
        1,
    ]
    assert sections["n_sentences"].sum() == 14
    assert sections.loc["discussion", "n_sentences"] == 0
    assert sections["share_covering"].isna()["discussion"]
    types = report.tables["types"].set_index("where")
    assert types["n_sentences"].to_dict() == {"headings": 6, "abstract": 2, "body": 6}
    assert types["n_only"].to_dict() == {"headings": 0, "abstract": 1, "body": 2}
    assert any("2 of 4 aspects stand on one sentence alone" in note for note in report.notes)
    assert any("without result aspects: 1" in note for note in report.notes)


def test_of_large_datasets_some_papers_are_read_and_it_says_so(store: Store) -> None:
    report = dataset_report(store, "tiny", read=1)
    overview = report.tables["overview"].set_index("quantity")
    assert overview.loc["tokens", "n"] == 1
    assert overview.loc["sentences", "n"] == 2
    assert report.tables["sections"].set_index("where").loc["results", "share_aspects"] == pytest.approx(
        2 / 3
    )
    assert any("stand on 1 instances" in note for note in report.notes)


@pytest.mark.realdata
def test_train(tmp_path: Path, train_path: Path) -> None:
    store = open_store(tmp_path / "train.sqlite")
    ingest(store, train_path, name="train")
    report = dataset_report(store, "train")
    overview = report.tables["overview"].set_index("quantity")
    assert overview.loc["sentences", ["n", "min", "max"]].tolist() == [96, 52, 440]
    assert overview.loc["aspects", "mean"] == pytest.approx(747 / 96)
    assert overview.loc["result aspects", "n"] == 95
    types = report.tables["types"].set_index("where")
    assert types.loc["headings", "n_covering"] == 34
    assert types["n_sentences"].sum() == overview.loc["sentences", "mean"] * 96
