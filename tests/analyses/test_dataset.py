"""What a dataset is made of."""

import pytest

from evidencebench_core.analyses import dataset
from evidencebench_core.analyses.dataset import dataset_report
from evidencebench_core.data import Store
from tests.factories import raw_instance

PAPER = ["# Title", "> We asked.", "# Methods", "We measured.", "# Results", "It fell.", "It rose a lot."]
DATASET = {
    "a": raw_instance(PAPER, {"x": [1, 5], "y": [5, 6], "z": [3]}, ["x", "y"], paper_id="p1"),
    "b": raw_instance(PAPER, {"x": [1]}, paper_id="p1"),
}


def test_the_overview_by_hand(store: Store) -> None:
    overview = dataset_report(store, "tiny").tables["overview"].set_index("quantity")
    assert overview[["n", "min", "mean", "median", "max"]].T.to_dict("list") == {
        "tokens": [2, 13, 13, 13, 13],  # 1 + 2 + 1 + 2 + 1 + 2 + 4, twice the same paper
        "sentences": [2, 7, 7, 7, 7],
        "aspects": [2, 1, 2, 2, 3],
        "result aspects": [1, 2, 2, 2, 2],  # b has none
        "optimal K": [2, 1, 1.5, 1.5, 2],
        "result optimal K": [1, 1, 1, 1, 1],
        "sentences that cover an aspect": [2, 1, 2.5, 2.5, 4],
        "sentences per aspect": [4, 1, 1.5, 1.5, 2],  # x 2, y 2, z 1 and x 1
        "aspects per covering sentence": [5, 1, 1.2, 1, 2],  # sentence 5 covers two, 1, 3, 6 and 1 cover one
    }


def test_places_by_hand(store: Store) -> None:
    report = dataset_report(store, "tiny")
    sections = report.tables["sections"].set_index("where")
    # Results hold sentences 4, 5, 6, twice; 5 and 6 cover x and y of a; y stands nowhere else.
    columns = "n_sentences n_covering share_covering n_aspects share_aspects n_only share_only"
    assert list(sections) == columns.split()
    assert sections.loc["results"].tolist() == pytest.approx([6, 2, 1 / 3, 2, 0.5, 1, 0.25])
    assert sections.loc["abstract"].tolist() == [2, 2, 1, 2, 0.5, 1, 0.25]
    assert sections["share_covering"].isna()["discussion"]
    types = report.tables["types"].set_index("where")
    assert types["n_only"].to_dict() == {"headings": 0, "abstract": 1, "body": 2}
    assert any("2 of 4 aspects stand on one sentence alone" in note for note in report.notes)
    assert any("without result aspects: 1" in note for note in report.notes)


def test_of_large_datasets_some_papers_are_read_and_it_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "READ", 1)
    report = dataset_report(store, "tiny")
    overview = report.tables["overview"].set_index("quantity")
    assert overview.loc[["tokens", "sentences"], "n"].tolist() == [1, 2]
    assert any("stand on 1 instances" in note for note in report.notes)
